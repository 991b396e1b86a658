// Draws the shown price list as a picture for a phone, from the words of the page alone.
"use strict";
{
  const WIDTH = 1080, EDGE = 56, GAP = 56, ROW = 40, HEAD = 62;
  const MOST = 12000; // pixels of height that every browser can draw
  const INK = "#17202a", SOFT = "#52606d", ACCENT = "#0b5f6f", LINE = "#dfe3e1";
  const FONT = "system-ui, sans-serif";
  const button = document.getElementById("draw-prices");
  const words = (part, name) => part.querySelector(`[data-draws=${name}]`)?.textContent.trim().replace(/\s+/g, " ") ?? "";

  function read() {
    const sheet = document.getElementById("price-list");
    const sections = [...sheet.querySelectorAll("[data-section]")].map((part) => ({
      brand: words(part, "brand"),
      category: words(part, "category"),
      prices: [...part.querySelectorAll("[data-price]")].map((row) => [...row.children].map((cell) => cell.textContent.trim())),
    }));
    return { shop: words(sheet, "shop"), phone: words(sheet, "phone"), at: words(sheet, "at"), sections };
  }

  // Each section goes to the column that is shorter by then.
  function place(sections, top) {
    const heights = [top, top];
    for (const section of sections) {
      const column = heights[1] < heights[0] ? 1 : 0;
      section.x = EDGE + column * ((WIDTH - 2 * EDGE + GAP) / 2);
      section.y = heights[column];
      heights[column] += HEAD + section.prices.length * ROW + 28;
    }
    return Math.max(...heights) + EDGE - 28;
  }

  function write(pen, text, x, y, { size, weight = 400, colour = INK, align = "left", most }) {
    pen.font = `${weight} ${size}px ${FONT}`;
    pen.fillStyle = colour;
    pen.textAlign = align;
    let shown = text;
    while (most && shown.length > 1 && pen.measureText(shown).width > most) shown = `${shown.slice(0, -2).trimEnd()}…`;
    pen.fillText(shown, x, y);
    return pen.measureText(shown).width;
  }

  function line(pen, x, y, width, colour, height) {
    pen.fillStyle = colour;
    pen.fillRect(x, y, width, height);
  }

  function draw(list, canvas) {
    const column = (WIDTH - 2 * EDGE - GAP) / 2;
    const pen = canvas.getContext("2d");
    line(pen, 0, 0, WIDTH, "#fff", canvas.height);
    write(pen, list.shop, EDGE, 96, { size: 48, weight: 700, most: WIDTH - 2 * EDGE });
    write(pen, [list.phone, list.at].filter(Boolean).join(" · "), EDGE, 140, { size: 26, colour: SOFT, most: WIDTH - 2 * EDGE });
    line(pen, EDGE, 164, WIDTH - 2 * EDGE, ACCENT, 4);
    for (const { brand, category, prices, x, y } of list.sections) {
      const width = write(pen, brand, x, y + 32, { size: 30, weight: 700, colour: ACCENT, most: column * 0.6 });
      write(pen, category, x + width + 12, y + 32, { size: 22, colour: SOFT, most: column - width - 12 });
      line(pen, x, y + 44, column, LINE, 2);
      prices.forEach(([name, price], at) => {
        const base = y + HEAD + at * ROW + 24;
        const taken = write(pen, price, x + column, base, { size: 25, weight: 600, align: "right" });
        write(pen, name, x, base, { size: 25, most: column - taken - 16 });
      });
    }
  }

  button?.addEventListener("click", () => {
    const list = read();
    const canvas = document.createElement("canvas");
    canvas.width = WIDTH;
    canvas.height = place(list.sections, 200);
    document.getElementById(button.dataset.tooLong).hidden = canvas.height <= MOST;
    if (canvas.height > MOST) return;
    draw(list, canvas);
    canvas.toBlob((picture) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(picture);
      link.download = `${button.dataset.file}.png`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    }, "image/png");
  });
}
