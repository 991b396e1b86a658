// Adds to plain HTML: keyboard, copying, fresh times, toasts. Every page works without it.
"use strict";
document.documentElement.classList.add("js");

const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

// Without a connection its one page says what is safe. Browsers have workers only over TLS or on this machine.
navigator.serviceWorker?.register(document.documentElement.dataset.worker).catch(() => undefined);

/* --- keyboard ---------------------------------------------------------------------------------------------- */

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

/* --- windows and menus ------------------------------------------------------------------------------------- */

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : document.body;
  const opener = target.closest("[data-open]");
  if (opener) document.getElementById(opener.dataset.open)?.showModal();
  if (target.closest("[data-close]")) target.closest("dialog")?.close();
  if (target instanceof HTMLDialogElement) target.close();
  if (target.closest("[data-dismiss]")) target.closest("[data-toast]")?.remove();
  // The layer that dims the page behind an open menu is part of the menu.
  for (const menu of findAll("details[data-menu][open]")) if (!menu.contains(target) || menu === target) menu.open = false;
  const menu = target.closest("[data-downloads]")?.closest("details[data-menu]");
  if (menu) {
    menu.open = false;
    find("summary", menu)?.focus();
  }
  const up = target.closest("[data-place] [name=up]");
  if (up) moveUp(up, event);
  const copier = target.closest("[data-copy], [data-copies]");
  if (copier) copy(copier);
});

// A person puts the columns in order here; the choice is sent once.
function moveUp(button, event) {
  event.preventDefault();
  const row = button.closest("[data-place]");
  if (row.previousElementSibling?.matches("[data-place]")) row.previousElementSibling.before(row);
  button.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of findAll("details[data-menu][open]")) {
    menu.open = false;
    find("summary", menu)?.focus();
  }
});

/* --- copying ----------------------------------------------------------------------------------------------- */

async function copy(button) {
  const text = button.dataset.copy ?? document.getElementById(button.dataset.copies).value;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No clipboard API on plain http in a shop's network: the older way.
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "visually-hidden";
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    button.focus();
    if (!isCopied) return; // the clipboard still has what was copied before, perhaps another customer's
  }
  const label = find("[data-copy-label]", button) ?? button;
  const before = (button.dataset.label ??= label.textContent);
  label.textContent = button.dataset.copied;
  button.classList.add("is-copied");
  announce(button.dataset.copied);
  setTimeout(() => {
    label.textContent = before;
    button.classList.remove("is-copied");
  }, 2000);
}

function announce(text) {
  const note = document.createElement("span");
  note.className = "visually-hidden";
  note.textContent = text;
  find("#toasts")?.append(note);
  setTimeout(() => note.remove(), 3000);
}

/* --- forms: one press, one request ------------------------------------------------------------------------- */

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-once]")) return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  for (const button of findAll("button[type=submit]", form)) button.setAttribute("aria-busy", "true");
});
// The browser's back button may bring the page back as it was left. A page that is still loading stays as it is: its form is sent.
window.addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return;
  for (const form of findAll("form[data-sent]")) delete form.dataset.sent;
  for (const button of findAll("button[aria-busy]")) button.removeAttribute("aria-busy");
});

// A file that is too large is not sent: the server would refuse it.
document.addEventListener("change", (event) => {
  const most = Number(event.target.dataset?.mostBytes);
  if (!most) return;
  const isTooBig = (event.target.files[0]?.size ?? 0) > most;
  find(`[data-too-big="${event.target.id}"]`).hidden = !isTooBig;
  if (isTooBig) event.target.value = "";
}, { capture: true });

/* --- times and toasts -------------------------------------------------------------------------------------- */

const relative = new Intl.RelativeTimeFormat(document.documentElement.lang || "id", { numeric: "always" });
// Seconds and their name: the same steps as the server's text, so that nothing jumps.
const timeSteps = [[31536000, "year"], [2592000, "month"], [604800, "week"], [86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
function refreshTimes() {
  for (const time of findAll("time[data-relative]")) {
    const seconds = Math.round((new Date(time.dateTime) - Date.now()) / 1000);
    const [size, unit] = timeSteps.find(([size]) => Math.abs(seconds) >= 0.99 * size) ?? timeSteps.at(-1);
    const text = relative.format(Math.round(seconds / size), unit);
    if (time.textContent !== text) time.textContent = text;
  }
}
setInterval(refreshTimes, 10000);

// On a phone the pages of a place, tabs and chips scroll sideways: the chosen one stays in sight, also in a row that a request brings.
function showChosen(part) {
  for (const row of part.querySelectorAll(".place-row, .tabs, .chips, .switch")) {
    const chosen = find("[aria-current], .chip:has(:checked)", row)?.getBoundingClientRect();
    const { left, width } = row.getBoundingClientRect();
    if (chosen) row.scrollLeft += chosen.left + chosen.width / 2 - (left + width / 2); // the page itself stays where it is
  }
}
showChosen(document);
document.addEventListener("htmx:load", ({ detail }) => showChosen(detail.elt));

// A browser shows a date field in its own way: beside the field stands the day as people here write it.
const dayInWords = new Intl.DateTimeFormat(document.documentElement.lang || "id", { day: "numeric", month: "short", year: "numeric" });
document.addEventListener("change", (event) => {
  const words = event.target.type === "date" && find(`[data-day][for="${event.target.id}"]`);
  if (words) words.textContent = event.target.value ? dayInWords.format(new Date(`${event.target.value}T12:00`)) : "";
});

// Toasts about a success or a fact go away after 8 s, also the toasts that a request adds.
function fadeToasts() {
  for (const toast of findAll(":is(.toast-success, .toast-info)[data-toast]:not([data-fades])")) {
    toast.dataset.fades = "";
    setTimeout(() => toast.remove(), 8000);
  }
}
fadeToasts();
document.addEventListener("htmx:oobAfterSwap", fadeToasts);

/* --- a person who types is there ------------------------------------------------------------------------------- */

// A page may send nothing for minutes, such as the count of a drawer: its next automatic request says that somebody types there.
// A held key does not count: something may lie on it.
let hasActed = false;
for (const press of ["keydown", "pointerdown"]) document.addEventListener(press, ({ repeat }) => (hasActed ||= !repeat), { capture: true });
document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (hasActed) detail.headers.Acted = "yes";
  hasActed = false;
});

/* --- alerts: the head of a page that stays open keeps itself fresh ----------------------------------------------- */

setInterval(() => {
  const head = find("[data-alerts]");
  // A person who reads in the drawer can go on reading.
  if (head && find("details[open]", head)?.contains(document.activeElement)) return;
  // An answer 204 means nothing new: it changes nothing, so that a screen reader is not interrupted.
  if (head && !document.hidden) htmx.ajax("GET", head.dataset.alerts, { target: head, swap: "outerHTML" });
}, 30000);

// The drawer asks for its lines each time it opens, and not when it closes.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.target.matches("#alert-line:not([open])")) event.preventDefault();
});

// After hiding an alert the focus is on the line again; if no line is left, on the page.
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.requestConfig?.elt.matches(".alert-snooze")) find("#alert-line > summary, #main")?.focus();
});

// While the server or its database is away a live page goes on asking, a little later. Several faults in this time bring one question.
let askingAgain;
for (const fault of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(fault, (event) => {
    if (event.target.id !== "live") return;
    clearTimeout(askingAgain);
    askingAgain = setTimeout(() => htmx.trigger(event.target, "again"), 5000);
  });
}
// Until an answer comes, a bar says that the page may be out of date.
document.addEventListener("htmx:afterRequest", (event) => {
  const offline = event.detail.target?.id === "live" && find("#offline");
  if (offline) offline.hidden = event.detail.successful;
});

/* --- bills: how long one can be paid, what the chosen ones cost -------------------------------------------------- */

// The server says how many seconds are left: the clock of this device may be wrong.
const endOfCountdown = new WeakMap();
function countDown() {
  for (const line of findAll("[data-countdown]")) {
    if (!endOfCountdown.has(line)) endOfCountdown.set(line, Date.now() + Number(line.dataset.countdown) * 1000);
    const seconds = Math.max(0, Math.ceil((endOfCountdown.get(line) - Date.now()) / 1000));
    const left = find("[data-left]", line);
    if (!left) continue;
    left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    line.classList.toggle("is-soon", seconds <= 60);
    if (seconds > 0) continue;
    line.replaceChildren(line.dataset.over);
    line.closest(".panel")?.classList.add("is-over");
    announce(line.dataset.over);
  }
}
setInterval(countDown, 500);
document.addEventListener("htmx:load", countDown);
countDown();

// On the page of an order or a bill the first Tab leads to its next step; an Enter that comes too early presses nothing.
function startAtNextStep() {
  if (document.activeElement === document.body) find("[data-start]")?.focus({ preventScroll: true });
}
document.addEventListener("htmx:afterSettle", startAtNextStep);
startAtNextStep();

const rupiah = new Intl.NumberFormat("id-ID");
function addUpChosen() {
  const sum = find("[data-chosen-sum]");
  if (!sum) return;
  const chosen = findAll("[data-amount]:checked");
  sum.textContent = `Rp${rupiah.format(chosen.reduce((total, box) => total + Number(box.dataset.amount), 0))}`;
  find("button[type=submit]", sum.closest("form")).disabled = chosen.length === 0;
}
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-amount]")) addUpChosen();
});
document.addEventListener("htmx:afterSettle", addUpChosen);

// Amounts get their dots while digits are typed. Text with anything else stays as it is: "1.5jt", "50rb".
const grouped = (text) => text.replaceAll(".", "").replace(/\B(?=(\d{3})+$)/g, ".");
const amountBefore = new WeakMap();
document.addEventListener("beforeinput", ({ target }) => {
  if (target.matches("[data-rupiah]")) amountBefore.set(target, target.value);
});
document.addEventListener("input", ({ target: field, inputType, data, isComposing }) => {
  if (isComposing || !field.matches("[data-rupiah]")) return;
  const before = amountBefore.get(field) ?? "";
  // A dot that a person typed or pasted stays where it is.
  const isEdited = before === grouped(before) && (inputType?.startsWith("delete") || /^\d+$/.test(data ?? ""));
  const { value } = field;
  const text = grouped(value);
  if (text === value || !(isEdited ? /^[\d.]+$/ : /^\d+$/).test(value)) return;
  let behind = value.slice(field.selectionEnd).replaceAll(".", "").length;
  let at = text.length;
  while (behind > 0) if (text[--at] !== ".") behind--;
  // The cursor stands before a dot, so that Backspace deletes the next digit.
  if (text[at - 1] === "." && inputType !== "deleteContentForward") at--;
  field.value = text;
  field.setSelectionRange(at, at);
});

/* --- printing ---------------------------------------------------------------------------------------------------- */

// A roll has no page height: each page becomes as long as its receipt, so that the printer cuts behind it.
function printReceipt() {
  const receipts = findAll(".struk");
  const width = { "struk-58": 58, "struk-80": 80 }[receipts[0].classList[1]];
  if (width) {
    const rules = receipts.map((receipt, at) => {
      const length = Math.ceil((receipt.getBoundingClientRect().height * 25.4) / 96) + 8;
      const size = `${width}mm ${Math.max(length, width + 1)}mm`;
      return `.struk:nth-of-type(${at + 1}) { page: struk-${at}; } @page struk-${at} { size: ${size}; margin: 0; }`;
    });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`@media print { ${rules.join(" ")} }`);
    document.adoptedStyleSheets = [sheet];
  }
  window.print();
}
for (const button of findAll("[data-print-page]")) button.addEventListener("click", () => window.print());

const printButton = find("[data-print]");
if (printButton) {
  printButton.addEventListener("click", printReceipt);
  // A paper for the till's printer opens no print window by itself (printing.js).
  const opens = printButton.dataset.print !== "by-hand";
  if (opens && document.readyState === "complete") printReceipt();
  else if (opens) window.addEventListener("load", printReceipt);
}
