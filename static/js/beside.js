// A list with a panel beside it: Enter or a click on a row shows it there, j and k lead to the next row and the one before,
// a second Enter opens the row's page, Esc closes the panel. On a narrow window a row is a link, as without this script.
"use strict";
{
  const layout = document.querySelector("[data-beside]");
  const panel = layout.querySelector("[data-beside-panel]");
  // With this part the panel shows the row's own page with its forms; else the answer of the address `…panel/`.
  const pagePart = panel.querySelector("[data-beside-page]");
  const isWide = matchMedia("(min-width: 75rem)");
  let shown = "";

  const rowLink = () => shown && layout.querySelector(`#results [data-pick][href="${CSS.escape(shown)}"]`);

  const mark = () => {
    for (const row of layout.querySelectorAll("#results tr")) row.classList.toggle("is-shown", Boolean(shown) && row.querySelector("[data-pick]")?.getAttribute("href") === shown);
  };

  // The page at an address, and whether it is a success; nothing without a whole answer in time.
  async function read(address, request) {
    try {
      const answer = await fetch(address, { ...request, signal: AbortSignal.timeout(htmx.config.timeout) });
      return { isSuccess: answer.ok, page: new DOMParser().parseFromString(await answer.text(), "text/html") };
    } catch {
      return { isSuccess: false, page: null };
    }
  }

  // Without an answer the panel says so, and offers to try again.
  function showSilence() {
    const part = pagePart ?? panel;
    part.inert = false;
    part.replaceChildren(layout.querySelector("[data-beside-silence]").content.cloneNode(true));
    part.querySelector("[data-silent] a").href = shown;
  }

  // Shows the part of the page that the row's address names, or the whole page. Another page, such as the sign-in, is opened.
  // Returns "refused" if the page says that something was refused, "lost" if a post got no answer.
  async function loadPage(address, request) {
    const asked = shown;
    pagePart.inert = true; // until it shows this row: no key opens a form of another row
    const { isSuccess, page } = await read(address, request);
    const isRefused = page?.querySelector("#toasts > .toast-error");
    for (const toast of page?.querySelectorAll("#toasts > [data-toast]") ?? []) document.querySelector("#toasts").append(toast);
    if (request && !isSuccess && !page?.querySelector(".shell")) return "lost";
    if (asked !== shown) return ""; // another row was chosen, or the list has lost this row meanwhile
    if (!page) {
      showSilence();
      return "";
    }
    if (!page.querySelector(".shell")) {
      location.assign(asked);
      return "";
    }
    const named = asked.split("#")[1];
    const part = (named && page.getElementById(named)) || page.querySelector("#main");
    for (const framed of part.querySelectorAll("#live, noscript")) framed.remove();
    for (const script of part.querySelectorAll("script[type=module]")) import(script.src);
    pagePart.inert = false;
    pagePart.replaceChildren(...(part.id === "main" ? part.children : [part]));
    panel.querySelector("[data-beside-open]").href = asked;
    panel.scrollTop = 0;
    htmx.process(pagePart);
    return isRefused ? "refused" : "shown";
  }

  const load = (headers) => (pagePart ? loadPage(shown) : htmx.ajax("GET", `${shown}panel/`, { target: panel, swap: "innerHTML", headers }));

  // A refusal (403, 404) is shown in the words of its own page. A panel that is read again by itself keeps what it shows.
  for (const fault of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(fault, ({ detail }) => {
      const isForRow = detail.target === panel && detail.pathInfo.requestPath === `${shown}panel/`;
      if (!isForRow || detail.requestConfig.headers["By-Itself"]) return;
      const { status, responseText } = detail.xhr;
      const refusal = [403, 404].includes(status) && new DOMParser().parseFromString(responseText, "text/html").querySelector(".fault");
      if (refusal) panel.replaceChildren(refusal);
      else showSilence();
    });
  }

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
    (pagePart ?? panel).replaceChildren();
    layout.classList.remove("is-open");
    mark();
  }

  layout.addEventListener("click", (event) => {
    const step = event.target.closest("#results [data-step]");
    const link = step ? step.closest("tr").querySelector("[data-pick]") : event.target.closest("#results [data-pick]");
    if (event.target.closest("[data-beside-close]")) {
      const row = rowLink();
      close();
      row?.focus();
    }
    if (event.target.closest("[data-beside-again]")) load();
    if (!link || !isWide.matches || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (link.getAttribute("href") === shown) return;
    event.preventDefault();
    show(link);
    link.focus();
  });

  // A ticked row shows what can be done with several, and how many are ticked; so does the link above the list.
  const bulk = document.querySelector("[data-bulk]");
  const countTicks = () => {
    const count = layout.querySelectorAll("[form=bulk]:checked").length;
    if (bulk) bulk.querySelector("[data-bulk-count]").textContent = count;
    return count;
  };
  layout.addEventListener("change", (event) => {
    if (event.target.form?.id === "bulk") bulk.open = countTicks() > 0;
  });
  document.addEventListener("htmx:afterSettle", countTicks);
  document.querySelector("[data-bulk-open]")?.addEventListener("click", (event) => {
    event.preventDefault();
    bulk.open = !bulk.open;
    if (bulk.open) bulk.querySelector("[name=every]").focus({ preventScroll: true });
  });

  // An open panel follows the cursor.
  layout.addEventListener("focusin", (event) => {
    if (shown && event.target.matches("#results [data-pick]") && event.target.getAttribute("href") !== shown && event.target.matches(":focus-visible")) show(event.target);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !shown || document.querySelector("dialog[open]")) return;
    const link = rowLink();
    close();
    link?.focus();
    event.stopPropagation();
  }, { capture: true });

  // A form of the page is sent from here, to the same address; then the list is read again for what still waits.
  pagePart?.addEventListener("submit", async (event) => {
    const form = event.target;
    // `form.method` could be a field of that name; some forms lead to the page of the next step.
    if (form.getAttribute("method") !== "post" || "leaves" in form.dataset) return;
    event.preventDefault();
    if (form.dataset.sent) return;
    const address = event.submitter?.getAttribute("formaction") || form.getAttribute("action") || shown;
    const [words, sentIn] = [typed.read(form), shown];
    const outcome = await loadPage(address, { method: "POST", body: new FormData(form, event.submitter) });
    if (outcome === "refused") typed.putBack(pagePart, words);
    if (outcome === "lost") typed.sayLost();
    if (outcome === "lost" && sentIn === shown && form.isConnected) {
      pagePart.inert = false; // the form stays, and can be sent again
      delete form.dataset.sent;
      for (const button of form.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy");
      typed.putBack(form, words);
    }
    htmx.trigger("#live", "again");
  });

  // A row that has changed changes its panel. A page with forms stays until its row goes, and then while a person has typed
  // in it: the form says itself whether it still can be sent.
  document.addEventListener("htmx:oobAfterSwap", (event) => {
    mark();
    if (!shown) return;
    if (!pagePart && event.detail.target.querySelector?.(`[data-pick][href="${CSS.escape(shown)}"]`)) load({ "By-Itself": "yes" }); // core/live.py
    if (pagePart && event.detail.target.id === "work" && !rowLink() && !Object.keys(typed.read(pagePart)).length) {
      close();
      layout.querySelector("#results [data-pick]")?.focus();
    }
  });
}
