// The cash drawer at the till's printer: each instruction in an answer opens it once. See printer.js.
"use strict";
{
  async function open(instruction) {
    const printer = JSON.parse(instruction.dataset.openDrawer);
    instruction.remove();
    try {
      await receiptPrinter.send(printer, receiptPrinter.pulse(printer));
    } catch (error) {
      if (!error.trouble) throw error;
      console.info("cash drawer", error.trouble, error.cause?.message ?? "");
      find("#toasts").append(find("#drawer-trouble").content.cloneNode(true));
    }
  }

  const look = () => findAll("[data-open-drawer]").forEach(open);
  for (const event of ["htmx:afterSettle", "htmx:oobAfterSwap"]) document.addEventListener(event, look);
  look();
}
