// "Find anything": the dialog of every page, and its own page. Without this script the page works alone.
"use strict";

const finder = find("[data-find]");
if (finder) {
  const dialog = finder.closest("dialog");
  const field = find("#find-q");
  const kind = find("[name=kind]", finder);
  const results = () => find("#find-results");
  const found = () => findAll("[data-found]", results());
  // The results may still be those of fewer letters: Enter opens none of them.
  const asIfTyped = () => field.value.replace(/\p{Cf}/gu, "").replace(/\p{Pd}/gu, "-"); // core/notation.py
  const isAnswered = () => results().dataset.text === asIfTyped().trim().replace(/\s+/g, " ");
  let opensFirst = false;

  const openFirst = () => {
    if (isAnswered()) found()[0]?.click();
    opensFirst = !isAnswered();
    if (opensFirst) htmx.trigger(finder, "narrow");
  };

  const narrowTo = (name) => {
    kind.value = name;
    field.focus();
    htmx.trigger(finder, "narrow");
  };

  // Tab: the next kind that the text finds, or the kind before it; if there is only one kind, it says so.
  const narrowBy = (step) => {
    const kinds = findAll("[data-kind]", results()).map((link) => link.dataset.kind);
    const only = find("[data-only]", results());
    if (kinds.length) narrowTo(kinds[(kinds.indexOf(kind.value) + step + kinds.length) % kinds.length]);
    else if (only) only.hidden = false;
    return kinds.length > 0 || only !== null;
  };

  // Handles a key in the field or on a result; returns whether it was for us.
  const press = (event) => {
    const links = found();
    const at = links.indexOf(document.activeElement);
    const isInField = document.activeElement === field;
    if (!isInField && at < 0) return false;
    const keyed = find(`[data-found-key="${CSS.escape(event.key.toLowerCase())}"]`, results());
    if (event.key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus();
    else if (event.key === "ArrowUp") (links[at - 1] ?? field).focus();
    else if (event.key === "Tab" && dialog) return narrowBy(event.shiftKey ? -1 : 1);
    else if (event.key === "Enter" && isInField) openFirst();
    // After a number in the field, a letter is not text.
    else if (keyed && (!isInField || (isAnswered() && /^[\d\s+.-]+$/.test(field.value)))) keyed.click();
    else {
      if (event.key.length === 1) field.focus();
      return false;
    }
    return true;
  };

  (dialog ?? find("#main")).addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (!press(event)) return;
    event.preventDefault();
    event.stopPropagation();
  });

  finder.addEventListener("submit", (event) => {
    event.preventDefault();
    openFirst();
  });
  field.addEventListener("input", () => {
    opensFirst = false;
    results().classList.toggle("is-stale", !isAnswered()); // the next results come without it
  });
  // While no answer comes, Enter leads to the page.
  for (const fault of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
    finder.addEventListener(fault, () => opensFirst && finder.submit());
  }
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id === "find-results" && opensFirst && isAnswered()) openFirst();
  });
  (dialog ?? document).addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-kind]");
    if (!link) return;
    event.preventDefault();
    narrowTo(link.dataset.kind);
  });

  const open = () => {
    if (dialog?.open) return;
    dialog?.showModal();
    field.focus();
    field.select();
    if (!("text" in results().dataset)) htmx.trigger(finder, "narrow");
  };
  // A field of the page leads into the dialog, with its typed text.
  const carry = (typed) => {
    const text = typed.value;
    typed.value = "";
    if (text) field.value = text;
    open();
    if (!text) return;
    field.setSelectionRange(text.length, text.length);
    htmx.trigger(finder, "narrow");
  };
  for (const name of ["click", "input"]) {
    document.addEventListener(name, (event) => {
      if (dialog && !event.isComposing && event.target.matches?.("[data-find-field]")) carry(event.target);
    });
  }
  document.addEventListener("find:open", open);
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-find-open]") || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    open();
  });
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    if (!find("dialog[open]")) open();
  });
}
