// Puts the parts of the overview in the document into the order of the style sheet (`order`), which differs by width: so Tab
// and screen readers follow the shown order.
"use strict";
{
  const orderOf = (part) => Number(getComputedStyle(part).order);
  const arrange = (parent) => {
    const parts = [...parent.children];
    const seen = [...parts].sort((one, other) => orderOf(one) - orderOf(other));
    if (seen.some((part, number) => part !== parts[number])) parent.append(...seen);
  };
  const all = () => document.querySelectorAll("[data-parts]").forEach(arrange);
  all();
  for (const width of ["(max-width: 40rem)", "(min-width: 68rem)"]) matchMedia(width).addEventListener("change", all);
}
