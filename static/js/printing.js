// A page that prints directly: once by itself, if the answer says so, and by its buttons. See printer.js.
"use strict";
{
  const job = JSON.parse(find("#print-job").textContent);
  const box = find("#printer-says");
  const CHOOSE = ["unchosen", "ask", "refused"]; // troubles that another choice ends
  let isOpen = Boolean(job.now);

  function say(state, troubleName = "") {
    for (const words of findAll("[data-printer-state]")) words.hidden = words.dataset.printerState !== state;
    find("[data-printer-trouble]", box).hidden = !troubleName;
    for (const words of findAll("[data-trouble]", box)) words.hidden = words.dataset.trouble !== troubleName;
    const needed = find("[data-printer-choose][data-when-needed]");
    if (needed) needed.hidden = !CHOOSE.includes(troubleName);
  }

  // Does a step; if it fails, the page says why.
  async function attempt(work) {
    const buttons = findAll("[data-printer-choose], [data-printer-print]");
    for (const button of buttons) button.disabled = true;
    try {
      await work();
    } catch (error) {
      if (!error.trouble) throw error;
      console.info("printer", error.trouble, error.cause?.message ?? "");
      say("", error.trouble);
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  }

  async function print() {
    say("printing");
    await receiptPrinter.send(job.printer, await receiptPrinter.encode(job));
    isOpen = false;
    say("printed");
  }

  async function showName() {
    const name = find("[data-printer-name]");
    if (!name) return;
    name.textContent = name.dataset.nothing;
    const device = await receiptPrinter.given(job.printer);
    name.textContent = receiptPrinter.nameOf(job.printer, device) || name.dataset.something;
  }

  async function choose() {
    await receiptPrinter.choose(job.printer);
    say("");
    await showName();
    if (isOpen) await print();
  }

  for (const button of findAll("[data-printer-choose]")) button.addEventListener("click", () => attempt(choose));
  for (const button of findAll("[data-printer-print]")) button.addEventListener("click", () => attempt(print));
  if (isOpen) attempt(print);
  else attempt(showName);
}
