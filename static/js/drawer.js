// The count of a drawer: the amount of each line, their sum, and the difference from the expected amount; Enter leads from
// row to row; and the button that ends a shift.
"use strict";
{
  const count = document.querySelector("table[data-count]");
  const closing = document.querySelector("[data-expected]");
  const drawer = document.querySelector("#open-drawer [name=drawer]");
  const off = document.querySelector("[data-off]");
  const rupiah = (amount) => (amount < 0 ? "−Rp" : "Rp") + String(Math.abs(amount)).replace(/\B(?=(\d{3})+$)/g, ".");

  // The expected amount of a closing; at an opening, the amount that the last shift left in the chosen drawer. Undefined if
  // the person may not see it.
  const expected = () => closing?.dataset.expected ?? drawer?.selectedOptions[0]?.dataset.left;

  function showLeft() {
    const line = document.querySelector("#count-sums [data-left]");
    line.hidden = expected() === undefined;
    if (!line.hidden) document.querySelector("[data-left-amount]").textContent = rupiah(Number(expected()));
    add();
  }

  function add() {
    let total = 0;
    for (const field of count.querySelectorAll("[data-value]")) {
      const pieces = /^\d+$/.test(field.value.trim()) ? Number(field.value) : 0;
      const made = pieces * Number(field.dataset.value);
      field.closest("tr").querySelector("[data-made]").textContent = made ? rupiah(made) : "";
      total += made;
    }
    document.querySelector("[data-total]").textContent = rupiah(total);
    if (!off) return;
    off.hidden = total === 0 || expected() === undefined;
    if (off.hidden) return;
    const difference = total - Number(expected());
    off.classList.toggle("is-off", difference !== 0);
    off.querySelector("[data-off-amount]").textContent = (difference > 0 ? "+" : "") + rupiah(difference);
  }

  // From the last row to the reason, if one is needed, else to the button: Enter alone sends no count.
  function move(event) {
    const step = { Enter: 1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.matches("[data-value]")) return;
    event.preventDefault();
    if (event.repeat) return;
    const fields = [...count.querySelectorAll("[data-value]")];
    const form = count.closest("form");
    const end = off?.matches(".is-off:not([hidden])") && !form.reason.value ? form.reason : form.querySelector("button[type=submit]");
    const next = fields[fields.indexOf(event.target) + step] ?? (event.key === "Enter" ? end : null);
    next?.focus();
    next?.select?.();
  }

  count?.addEventListener("keydown", move);
  count?.addEventListener("input", add);
  // The sums are written by script here, and Enter in the reason would press this first button.
  document.querySelector("[name=sum]")?.remove();
  if (count) add();
  drawer?.addEventListener("change", showLeft);
  if (drawer && count) showLeft();

  const to = document.querySelector("#close-shift [name=to]");
  const act = document.querySelector("[data-act]");
  const say = () => {
    act.textContent = to.value ? act.dataset.handOver : act.dataset.close;
    document.querySelector("#close-shift [name=secret]").closest(".field").hidden = !to.value;
  };
  to?.addEventListener("change", say);
  if (to) say();
}
