// The cursor stands where the next key is needed: after a fault in its field, after a filter on the first result (with keys), at a
// count in its first field. A part that the page swaps under the cursor gets the cursor back.
"use strict";
{
  const first = (...selectors) => selectors.map((one) => document.querySelector(one)).find(Boolean);
  const isFree = () => document.activeElement === document.body;

  const fault = first("main [aria-invalid=true]:not([type=hidden], [type=radio])");
  const isFiltered = location.search !== "" && first(".filters");
  if (fault) fault.focus();
  else if (isFree() && isFiltered && !matchMedia("(pointer: coarse)").matches) first("#results [data-pick]", ".filters input[name=q]")?.focus({ preventScroll: true });
  else if (isFree()) first("table[data-count] input")?.focus({ preventScroll: true });

  let left = "";
  document.addEventListener("htmx:beforeSwap", () => {
    left = document.activeElement?.closest("main a[href]")?.getAttribute("href") ?? "";
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (left && isFree()) first(`main a[href="${CSS.escape(left)}"]`)?.focus({ preventScroll: true });
  });

  // "As a table" below a drawing stays open when the page asks for its figures again.
  document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
    if (detail.target.querySelector(".chart-table[open]")) detail.fragment.querySelector(".chart-table")?.setAttribute("open", "");
  });

  // A message that closes loses the cursor: the page gets it.
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("[data-dismiss]")) document.querySelector("#main")?.focus();
  });
}
