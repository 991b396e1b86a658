// The keyboard: single keys, rows by arrow keys, and where the cursor stands.
"use strict";

/* --- keys ------------------------------------------------------------------------------------------------------ */

const singleKeys = find("[data-single-keys]");
if (singleKeys) {
  singleKeys.checked = localStorage.getItem("singleKeys") !== "off";
  singleKeys.addEventListener("change", () => localStorage.setItem("singleKeys", singleKeys.checked ? "on" : "off"));
}

const isTyping = (target) => target.closest("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]");

function visit(selector) {
  const link = find(selector);
  if (link) link.click();
}

// The places of the navigation give their addresses and their names.
const place = (...names) => visit(names.map((name) => `.nav-main [data-place=${name}]`).join());

const single = {
  "?": () => find("#shortcuts")?.showModal(),
  h: () => place("overview"),
  b: () => askedFirst() || place("counter", "catalogue"),
  o: () => place("orders"),
  s: () => place("balance"),
  p: () => place("customers"),
  t: () => place("bills"),
  c: () => visit("[data-copy]"),
  v: () => place("work"),
  j: () => step(1),
  k: () => step(-1),
  a: () => (find("[data-key=a]") ? visit("[data-key=a]") : openForm("a")),
  r: () => (find("[data-key=r]") ? visit("[data-key=r]") : openForm("r")),
  w: () => (find("[data-key=w]") ? visit("[data-key=w]") : showMessage()),
  m: () => (find("[data-key=m]") ? visit("[data-key=m]") : place("arrived")),
  n: () => visit("[data-next-cashier]"),
  "/": () => document.dispatchEvent(new Event("find:open")),
  f: () => filterList(),
};

// The question that a page asks once before a person leaves it: it opens, and the same key goes on.
function askedFirst() {
  const question = find("[data-asks-first]:not([open])");
  if (!question) return false;
  question.open = true;
  find("a", question).focus();
  return true;
}

// The search field of this page's list, or the counter's field.
function filterList() {
  const search = find("[data-search]");
  search?.focus();
  search?.select();
}

// The text for the customer; the next Enter opens it in WhatsApp.
function showMessage() {
  const message = find("#message");
  if (!message) return;
  message.open = true;
  find("#message-whatsapp", message)?.focus();
}

// In a queue: the next row or the one before it.
function step(by) {
  const rows = findAll("[data-queue] [data-pick]");
  const at = rows.indexOf(document.activeElement);
  rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)]?.focus();
}

// The form of a decision, on this page (also in a panel) or on the page of the chosen row; no key alone sends it.
// The address's fragment is not an id of the page: a browser takes the cursor away when it jumps to an id.
function openForm(key) {
  const form = find(`[data-key-opens=${key}]:not([inert] *)`);
  const row = document.activeElement?.closest("[data-queue] [data-pick]");
  if (row && !form) location.assign(`${row.getAttribute("href")}#key-${key}`);
  if (!form) return;
  form.open = true;
  find("input:not([type=hidden]), button[type=submit]", form)?.focus();
}
if (["#key-a", "#key-r"].includes(location.hash)) openForm(location.hash.slice(-1));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const target = event.target instanceof Element ? event.target : document.body;
  if (moveThroughResults(event, target)) {
    event.preventDefault();
    return;
  }
  // A fast cashier types before the browser has put the cursor into the field: those keys are for the field.
  const waiting = find("[autofocus]");
  if (target === document.body && waiting && !waiting.matches(":focus") && document.readyState !== "complete") {
    waiting.focus();
    return;
  }
  if (isTyping(target) || find("dialog[open]") || !(singleKeys?.checked ?? false)) return;
  // A typed number goes into the field, wherever the cursor is.
  if (/^[\d+]$/.test(event.key) && find("[data-digits]")) {
    find("[data-digits]").focus();
    return;
  }
  const act = single[event.key.toLowerCase()];
  if (act) {
    event.preventDefault();
    act();
  }
});

// Arrow keys walk from the search field through the results and back; Escape returns to the field.
function moveThroughResults(event, target) {
  const search = find("[data-search]");
  const results = findAll("[data-pick]");
  if (!search || find("dialog[open]")) return false;
  const at = results.indexOf(target);
  if (target !== search && at < 0) return false;
  if (event.key === "ArrowDown" && results.length) {
    results[Math.min(at + 1, results.length - 1)].focus();
    return true;
  }
  if (event.key === "ArrowUp" && at >= 0) {
    (at === 0 ? search : results[at - 1]).focus();
    return true;
  }
  if (event.key === "Escape" && at >= 0) {
    search.focus();
    return true;
  }
  return false;
}

// Enter in the search asks at once and puts the cursor on the first result, so that a second Enter opens it. The last letter
// may bring the same results again, before or after: each time the cursor returns there, until the next key or click. Results
// of fewer letters never get the cursor: the second Enter would open something else.
let goToFirst = false;
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-live-search]")) goToFirst = document.activeElement === find("[data-search]");
});
for (const press of ["keydown", "pointerdown"]) document.addEventListener(press, () => (goToFirst = false), { capture: true });
document.addEventListener("htmx:afterSettle", (event) => {
  const search = find("[data-search]");
  if (goToFirst && search && event.detail.requestConfig?.parameters[search.name] === search.value) find("[data-pick]")?.focus();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of findAll("details[data-menu][open]")) {
    menu.open = false;
    find("summary", menu)?.focus();
  }
});

/* --- the cursor ------------------------------------------------------------------------------------------------ */

// On the page of an order or a bill the first Tab leads to its next step; an Enter that comes too early presses nothing.
function startAtNextStep() {
  if (document.activeElement === document.body) find("[data-start]")?.focus({ preventScroll: true });
}
document.addEventListener("htmx:afterSettle", startAtNextStep);
startAtNextStep();

// The cursor stands where the next key is needed: after a fault in its field, after a filter on the first result (with keys), at a
// count in its first field. A part that the page swaps under the cursor gets the cursor back.
{
  const first = (...selectors) => selectors.map((one) => document.querySelector(one)).find(Boolean);
  const isFree = () => document.activeElement === document.body;

  const fault = first("main [aria-invalid=true]:not([type=hidden], [type=radio])");
  const isFiltered = location.search !== "" && first(".filters");
  if (fault) fault.focus();
  else if (isFree() && isFiltered && !matchMedia("(pointer: coarse)").matches) first("#results [data-pick]", ".filters input[name=q]")?.focus({ preventScroll: true });
  else if (isFree()) first("table[data-count] input")?.focus({ preventScroll: true });

  // A link is known by its address; a button, or a step that unfolds, by its words and its form in the nearest part with an id. A
  // button that was pressed for this answer stays without the cursor: a second Enter presses nothing.
  const nameOf = (button) => `${button.textContent} ${button.form?.getAttribute("action")}`;
  let again = () => null;
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const held = document.activeElement?.closest("main :is(a[href], button, summary)");
    const [address, name, home] = [held?.getAttribute("href"), held && nameOf(held), held?.closest("[id]")?.id];
    const isPressed = detail.requestConfig.elt.contains(held);
    again = () => {
      if (address) return first(`main a[href="${CSS.escape(address)}"]`);
      const part = held && !isPressed && document.getElementById(home);
      return part ? findAll(held.localName, part).find((other) => nameOf(other) === name) : null;
    };
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (isFree()) again()?.focus({ preventScroll: true });
  });

  // A message that closes loses the cursor: the page gets it.
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("[data-dismiss]")) document.querySelector("#main")?.focus();
  });
}
