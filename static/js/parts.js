// The parts of the overview stand in the document in the order that the style sheet gives them (`order`), which differs by
// width: so Tab and screen readers follow what is seen.
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
