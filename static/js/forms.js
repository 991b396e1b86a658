// Forms: each is sent once, what a person has typed stays, and fields help while they are filled in.
"use strict";

/* --- one press, one request ------------------------------------------------------------------------------------ */

const LONGEST_ANSWER = 60000; // milliseconds
let waiting; // the timer of the form that is on its way
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-once]")) return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = event.defaultPrevented ? "here" : "away"; // here: a script sends it, and frees it again
  for (const button of findAll("button[type=submit]", form)) button.setAttribute("aria-busy", "true");
  if (event.defaultPrevented) return;
  clearTimeout(waiting);
  waiting = setTimeout(freeUnanswered, LONGEST_ANSWER);
});

function free(forms) {
  for (const form of forms) {
    delete form.dataset.sent;
    for (const button of findAll("button[aria-busy]", form)) button.removeAttribute("aria-busy");
  }
}

// What was sent without an answer may have arrived: the page says so. The same form keeps its number, and with that the
// server enters it once.
function freeUnanswered() {
  const unanswered = findAll("form[data-sent=away]");
  free(unanswered);
  if (unanswered.length) typed.sayLost();
}

// The browser's Stop leaves the page as it is. An address that a script changes meanwhile looks the same for a moment, but the
// form is still on its way: then only the time frees it.
let stopped;
window.navigation?.addEventListener("navigateerror", () => (stopped = setTimeout(freeUnanswered, 0)));
window.navigation?.addEventListener("navigate", () => clearTimeout(stopped));

// The browser's back button may bring the page back as it was left. A page that is still loading stays as it is: its form is sent.
window.addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return;
  free(findAll("form[data-sent]"));
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

/* --- what a person has typed ----------------------------------------------------------------------------------- */

// What a person has typed stays on the page: while a live part of it is replaced, and when its form was refused. The tab
// keeps it until the next page only; it keeps no code, no password and no file.
const typed = (() => {
  const KEPT = "typedBefore";
  const FIELDS = "input:not([type=hidden], [type=password], [type=file], [type=submit], [autocomplete=one-time-code]), select, textarea";
  const isBox = (field) => field.matches("[type=checkbox], [type=radio]");
  const valueOf = (field) => (isBox(field) ? field.checked : field.value);
  const nameOf = (field, part) => {
    const form = field.closest("form");
    const address = part.contains(form) ? form.getAttribute("action") ?? location.pathname : "";
    return [address, field.name, field.id, isBox(field) ? field.value : ""].join(" "); // several forms may have one address
  };

  function isChanged(field) {
    if (isBox(field)) return field.checked !== field.defaultChecked;
    if (field.matches("select")) return [...field.options].some((option) => option.selected !== option.defaultSelected);
    return field.value !== field.defaultValue;
  }

  // The fields of a part that a person has changed: the name of each → its value.
  function read(part) {
    const changed = findAll(FIELDS, part).filter((field) => field.name && isChanged(field));
    return Object.fromEntries(changed.map((field) => [nameOf(field, part), valueOf(field)]));
  }

  // Puts the values into the fields of a part; returns these fields.
  function put(part, values) {
    const fields = findAll(FIELDS, part).filter((field) => nameOf(field, part) in values);
    for (const field of fields) {
      const value = values[nameOf(field, part)];
      if (isBox(field)) field.checked = value;
      else if (!field.options || [...field.options].some((option) => option.value === value)) field.value = value;
    }
    return fields;
  }

  // After a refusal: the values are there again, in sight, and the cursor is at the first.
  function putBack(part, values) {
    const fields = put(part, values);
    for (const field of fields) {
      const box = field.closest("details");
      if (box) box.open = true;
    }
    fields.find((field) => field.offsetParent)?.focus();
  }

  // The same unfolding part in what comes: by its own id, or by its place in the nearest part with an id.
  function sameIn(fragment, box) {
    if (box.id) return find(`#${CSS.escape(box.id)}`, fragment);
    const home = box.closest("[id]");
    const place = home && findAll("details", home).indexOf(box);
    return home && find(`#${CSS.escape(home.id)}`, fragment)?.querySelectorAll("details")[place];
  }

  const openIn = (part) => findAll("details[open]:not([data-menu])", part);
  function keep(part, values, boxes) {
    put(part, values);
    for (const box of boxes) sameIn(part, box)?.setAttribute("open", "");
  }

  document.addEventListener("htmx:oobBeforeSwap", ({ detail: { target, fragment } }) => keep(fragment, read(target), openIn(target)));

  // The panel beside a list is read again as a whole when its row changes.
  let before;
  let shown;
  document.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
    if (!target.matches("[data-beside-panel]")) return;
    const row = detail.pathInfo.requestPath;
    before = row === shown ? [read(target), openIn(target)] : [{}, []];
    shown = row;
  });
  document.addEventListener("htmx:afterSwap", ({ target }) => {
    if (target.matches("[data-beside-panel]")) keep(target, ...before);
  });

  // An order's notes come again after each step: what is typed in the other forms stays, and what was sent goes.
  let others = {};
  document.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
    if (target.id !== "order-notes") return;
    others = read(target);
    for (const name of Object.keys(read(detail.requestConfig.elt))) delete others[name];
  });
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target?.id === "order-notes") put(find("#order-notes"), others);
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
    sessionStorage.setItem(KEPT, JSON.stringify(read(form)));
  });
  // So does a form of a part whose page comes again with a refusal. A review of the counter is confirmed again, as it comes.
  document.addEventListener("htmx:beforeOnLoad", ({ detail: { requestConfig, xhr } }) => {
    const form = requestConfig.verb === "post" && xhr.getResponseHeader("HX-Refresh") && requestConfig.elt.closest("form");
    if (form && !find("[data-send]", form)) sessionStorage.setItem(KEPT, JSON.stringify(read(form)));
  });
  const kept = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  if (kept && find("#toasts > .toast-error")) putBack(find("#main"), JSON.parse(kept));

  // A form of a part of the page that gets no answer keeps its text, and the page says so, unless the form has words of its own.
  const sayLost = () => find("#toasts").append(find("#lost-answer").content.cloneNode(true));
  for (const fault of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(fault, ({ target, detail }) => {
      if (detail.requestConfig?.verb === "post" && !find("[data-no-answer]", target)) sayLost();
    });
  }

  return { read, putBack, sayLost };
})();

/* --- fields ---------------------------------------------------------------------------------------------------- */

// A browser shows a date field in its own way: beside the field stands the day as people here write it.
const dayInWords = new Intl.DateTimeFormat(document.documentElement.lang || "id", { day: "numeric", month: "short", year: "numeric" });
document.addEventListener("change", (event) => {
  const words = event.target.type === "date" && find(`[data-day][for="${event.target.id}"]`);
  if (words) words.textContent = event.target.value ? dayInWords.format(new Date(`${event.target.value}T12:00`)) : "";
});

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
