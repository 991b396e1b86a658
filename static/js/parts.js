// Puts the parts of the overview in the document into the order of the style sheet (`order`), which differs by width: so Tab
// and screen readers follow the shown order. Once days are chosen, a phone shows their figures first.
"use strict";
{
  const orderOf = (part) => Number(getComputedStyle(part).order);
  // From the end, so that what goes down is moved, and not the link that was clicked, which keeps the focus.
  const arrange = (parent) => {
    const seen = [...parent.children].sort((one, other) => orderOf(one) - orderOf(other));
    for (let at = seen.length - 1; at >= 0; at -= 1)
      if (parent.children[at] !== seen[at]) parent.insertBefore(seen[at], parent.children[at + 1] ?? null);
  };
  const all = () => document.querySelectorAll("[data-parts]").forEach(arrange);
  const topOf = (part) => part.getBoundingClientRect().top;
  const showChosenFirst = () => {
    const grid = document.querySelector("#overview-grid:not([data-chosen])");
    if (!grid || !new URLSearchParams(location.search).has("days")) return;
    const clicked = document.activeElement;
    const top = topOf(clicked);
    grid.dataset.chosen = "";
    all();
    if (grid.contains(clicked)) scrollBy({ top: topOf(clicked) - top, behavior: "instant" });
  };
  all();
  document.addEventListener("htmx:afterSettle", showChosenFirst);
  for (const width of ["(max-width: 40rem)", "(min-width: 68rem)"]) matchMedia(width).addEventListener("change", all);
}
