// In a review: the way to pay, one key for each, the change for the given cash, and the debt on credit.
// See counter.js.
"use strict";
{
  const given = () => find("#id_cash_given");
  const debtor = () => find("#id_paid_by_customer");
  const total = () => Number(find("#paid-by").dataset.total);
  const coin = () => Number(find("#paid-by").dataset.coin);
  const goOn = () => find("[data-send]:enabled", find("#paid-by").closest("form"))?.focus();

  // "50" is 50.000, unless Rp50 is enough; "50rb" is 50.000, "1,5jt" is 1.500.000. NaN for a text such as "1.5jt", which could
  // mean two amounts: it stays as it is, and the server refuses it (core/forms.py).
  function givenCash() {
    const text = given().value.trim().replace(/^rp\.?\s*|,-$/gi, "");
    const [, whole, part, unit] = /^(\d+|\d{1,3}(?:[. ]\d{3})+)(,\d+)?\s*(rb|ribu|k|jt|juta)$/i.exec(text) ?? [];
    if (unit) return Number(whole.replace(/\D/g, "") + (part ?? "").replace(",", ".")) * (/^j/i.test(unit) ? 1e6 : 1e3);
    const amount = /^(\d+|\d{1,3}(?:[., ]\d{3})+)$/.test(text) ? Number(text.replace(/\D/g, "")) : NaN;
    return amount < 1000 && amount < total() ? amount * 1000 : amount;
  }

  function showChange() {
    const shown = find("#pay-change");
    if (!shown) return;
    const over = givenCash() - total();
    const change = over > 0 ? over - (over % coin()) : over; // a price that coins cannot make is rounded up
    shown.hidden = !given().value || Number.isNaN(over);
    shown.dataset.amount = change;
    shown.classList.toggle("is-short", change < 0);
    find("strong", shown).textContent = `Rp${rupiah.format(Math.abs(change))}`;
  }

  // The named customer's debt, with this sale; nothing while no customer with an account has exactly this name.
  function showDebt() {
    const shown = find("#pay-debt");
    const name = debtor().value.trim().toLowerCase();
    const account = findAll("#paid-by-names option").find((option) => option.value.toLowerCase() === name);
    shown.hidden = !account;
    if (!account) return;
    const [owed, cap] = [Number(account.dataset.owed), Number(account.dataset.cap)];
    const then = owed + total();
    shown.classList.toggle("is-short", then > cap);
    for (const [key, amount] of Object.entries({ owed, then, cap }))
      find(`[data-${key}]`, shown).textContent = `${amount < 0 ? "\u2212" : ""}Rp${rupiah.format(Math.abs(amount))}`;
    const late = find("[data-late]", shown);
    late.textContent = account.dataset.late || "";
    late.hidden = !account.dataset.late;
  }

  function choose(way) {
    find("input", way).checked = true;
    const asked = findAll("#paid-by [data-needed]:not([data-needed=cash]) input");
    const empty = asked.find((input) => input.offsetParent && !input.value);
    if (empty) empty.focus();
    else goOn();
  }

  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || !find("#paid-by")?.closest("[tabindex]").contains(target)) return;
    const way = /^F[2-9]$/.test(key) && find(`[data-pays=${key}]`);
    if (way) {
      event.preventDefault();
      choose(way);
    } else if (/^[1-9]$/.test(key) && !isTyping(target) && given()?.offsetParent) {
      given().value = "";
      given().focus(); // the digit follows
    } else if (/^\d$/.test(key) && !isTyping(target)) find("#paid-by [data-needed=reference] input")?.focus();
  });
  document.addEventListener("input", ({ target }) => {
    if (target === given()) showChange();
    else if (target === debtor()) showDebt();
  });
  document.addEventListener("change", (event) => {
    if (event.target === given() && given().value && !Number.isNaN(givenCash())) given().value = rupiah.format(givenCash());
  });
  document.addEventListener("click", ({ target }) => {
    const { gives, means } = target.closest?.("[data-gives], [data-means]")?.dataset ?? {};
    if (gives) {
      given().value = rupiah.format(gives);
      showChange();
    } else if (means) {
      debtor().value = means;
      showDebt();
    } else return;
    goOn();
  });
  document.addEventListener("htmx:afterSettle", showChange);
  showChange();
}
