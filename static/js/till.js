// The lock screen by keyboard: letters find the name, Enter leads to the PIN, the sixth digit takes over.
"use strict";
{
  const form = document.querySelector("#take-over");
  const who = form?.querySelector("[data-who]");
  const pin = form?.querySelector("[name=pin]");
  const nobody = form?.querySelector("[data-nobody]");
  const tiles = [...(form?.querySelectorAll(".name-tile") ?? [])];
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const chosen = () => form.querySelector("[name=person]:checked");

  function narrow() {
    const typed = plain(who.value.trim());
    for (const tile of tiles) {
      const words = plain(tile.textContent.trim()).split(/\s+/);
      tile.hidden = !(words.some((word) => word.startsWith(typed)) || words.join(" ").startsWith(typed));
    }
    const shown = tiles.filter((tile) => !tile.hidden);
    for (const tile of tiles) tile.firstElementChild.checked = typed !== "" && tile === shown[0];
    nobody.hidden = shown.length > 0;
  }

  // The field was still hidden when the browser looked for the first field.
  if (document.activeElement === document.body) form?.querySelector("[autofocus]")?.focus();

  who?.addEventListener("input", narrow);
  form?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.target === who || event.target.name === "person")) {
      event.preventDefault();
      if (chosen()) pin.focus();
    } else if (event.target.name === "person" && /^\p{L}$/u.test(event.key) && !event.ctrlKey && !event.metaKey) {
      who?.focus();
    }
  });
  for (const tile of tiles) tile.addEventListener("click", (event) => event.detail && setTimeout(() => pin.focus()));
  pin?.addEventListener("input", () => {
    if (/^\d{6}$/.test(pin.value) && chosen()) form.requestSubmit();
  });
}
