// A list with a panel beside it: Enter or a click on a row shows it there, j and k lead to the next and the one before,
// a second Enter opens its page, Esc closes the panel. On a narrow window a row is a link, as without this script.
"use strict";
{
  const layout = document.querySelector("[data-beside]");
  const panel = layout.querySelector("[data-beside-panel]");
  const isWide = matchMedia("(min-width: 75rem)");
  let shown = "";

  const mark = () => {
    for (const row of layout.querySelectorAll("tr")) row.classList.toggle("is-shown", Boolean(shown) && row.querySelector("[data-pick]")?.getAttribute("href") === shown);
  };

  const load = () => htmx.ajax("GET", `${shown}panel/`, { target: panel, swap: "innerHTML" });

  function show(link) {
    shown = link.getAttribute("href");
    panel.hidden = false;
    layout.classList.add("is-open");
    mark();
    load();
  }

  function close() {
    shown = "";
    panel.hidden = true;
    panel.replaceChildren();
    layout.classList.remove("is-open");
    mark();
  }

  layout.addEventListener("click", (event) => {
    const link = event.target.closest("#results [data-pick]");
    if (event.target.closest("[data-beside-close]")) close();
    if (!link || !isWide.matches || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (link.getAttribute("href") === shown) return;
    event.preventDefault();
    show(link);
    link.focus();
  });

  // With the panel open it follows the cursor.
  layout.addEventListener("focusin", (event) => {
    if (shown && event.target.matches("#results [data-pick]") && event.target.getAttribute("href") !== shown && event.target.matches(":focus-visible")) show(event.target);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !shown || document.querySelector("dialog[open]")) return;
    const link = layout.querySelector(`#results [data-pick][href="${CSS.escape(shown)}"]`);
    close();
    link?.focus();
    event.stopPropagation();
  }, { capture: true });

  // A row that has changed changes its panel.
  document.addEventListener("htmx:oobAfterSwap", (event) => {
    mark();
    if (shown && event.detail.target.querySelector?.(`[data-pick][href="${CSS.escape(shown)}"]`)) load();
  });
}
