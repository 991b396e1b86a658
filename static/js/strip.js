// The strip of running orders at the counter: its keys, and the line about the sale just sent. counter.js hands it the keys.
"use strict";
const strip = (() => {
  const keysAreOn = () => find("[data-single-keys]")?.checked ?? false;

  // The sale just sent, never the customer before: while it runs, nothing of it can be printed. Else the sale that ended last.
  function newest() {
    const sent = find("#counter-said")?.dataset.sent;
    return (sent ? find(`[data-run][data-ref="${sent}"]`) : null) ?? find(".run.is-newest");
  }

  // For the row with the cursor, else for the newest. Money goes back for that row, or for the only row with a refund due.
  function actOf(key) {
    const here = document.activeElement?.closest("[data-run]");
    const owed = findAll("[data-act=g]");
    if (key === "g" && !here) return owed.length === 1 ? owed[0] : null;
    return find(`[data-act=${key}]`, here ?? newest() ?? document);
  }

  // Handles a key outside of the field and the review. `toField`: puts the cursor into the field.
  function press(event, toField) {
    const { key } = event;
    const rows = findAll("[data-run]");
    const at = rows.indexOf(document.activeElement?.closest("[data-run]"));
    const act = /^[rcwabg]$/i.test(key) && !event.repeat && keysAreOn() && actOf(key.toLowerCase());
    if (key.toLowerCase() === "b" && keysAreOn()) {
      event.preventDefault();
      toField();
    } else if (act) {
      event.preventDefault();
      act.click();
    } else if (at >= 0 && key === "ArrowDown") {
      event.preventDefault();
      rows[Math.min(at + 1, rows.length - 1)].focus();
    } else if (at >= 0 && key === "ArrowUp") {
      event.preventDefault();
      if (at) rows[at - 1].focus();
      else toField();
    } else if (key === "Escape" && at >= 0) {
      toField();
    } else if (/^[\d+]$/.test(key)) {
      toField(); // the next customer's number
    } else return;
    event.stopImmediatePropagation();
  }

  // The line about the sale just sent follows its state: the strip brings the newer line.
  document.addEventListener("htmx:oobAfterSwap", () => {
    const said = find("#counter-said");
    const row = said && find(`[data-run][data-ref="${said.dataset.sent}"]`);
    const newer = row && find("template", row).content.firstElementChild;
    if (newer && newer.dataset.state !== said.dataset.state) said.replaceWith(newer.cloneNode(true));
  });

  return { newest, press };
})();
