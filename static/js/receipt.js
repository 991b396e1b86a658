// Printing a receipt by the browser's window: at once, if the page says so, and by its button.
"use strict";
{
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

  const printButton = find("[data-print]");
  if (printButton) {
    printButton.addEventListener("click", printReceipt);
    // A paper for the till's printer opens no print window by itself (printing.js).
    const opens = printButton.dataset.print !== "by-hand";
    if (opens && document.readyState === "complete") printReceipt();
    else if (opens) window.addEventListener("load", printReceipt);
  }
}
