// The ground of the pages' scripts, and the parts of every page: windows, menus, copying, messages. Plain HTML works without it;
// the other scripts add keys (keys.js), the ways of forms (forms.js), and what stays fresh while a page is open (fresh.js).
"use strict";
document.documentElement.classList.add("js");

const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

// Without a connection its one page says what is safe. Browsers have workers only over TLS or on this machine.
navigator.serviceWorker?.register(document.documentElement.dataset.worker).catch(() => undefined);

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

for (const button of findAll("[data-print-page]")) button.addEventListener("click", () => window.print());

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

/* --- messages -------------------------------------------------------------------------------------------------- */

// Toasts about a success or a fact go away after 8 s, also the toasts that a request adds.
function fadeToasts() {
  for (const toast of findAll(":is(.toast-success, .toast-info)[data-toast]:not([data-fades])")) {
    toast.dataset.fades = "";
    setTimeout(() => toast.remove(), 8000);
  }
}
fadeToasts();
document.addEventListener("htmx:oobAfterSwap", fadeToasts);
