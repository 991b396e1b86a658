// A new person's user name follows the typed name, until somebody types another user name; the page shows the limits of
// the chosen role.
"use strict";
{
  const name = find("[name=full_name]");
  const userName = find("[name=username]");
  // A form of address ("Bu", "Pak") is not part of the user name.
  const titles = new Set(["bapak", "pak", "bu", "ibu", "mas", "mbak", "kak", "bang", "hj", "haji"]);

  function proposed() {
    const words = name.value.normalize("NFKD").toLowerCase().match(/[a-z0-9]+/g) ?? [];
    return words.find((word) => !titles.has(word)) ?? "";
  }

  let isOwn = userName.value !== "";
  let isEntered = false;
  userName.addEventListener("input", () => (isOwn = userName.value !== ""));
  // Typed text replaces the proposed user name; a second click places the caret.
  userName.addEventListener("focus", () => (isEntered = !isOwn));
  userName.addEventListener("click", () => {
    if (isEntered) userName.select();
    isEntered = false;
  });
  name.addEventListener("input", () => {
    if (!isOwn) userName.value = proposed();
  });

  const role = find("[name=role]");
  const limits = document.querySelectorAll("#limits-of-roles [data-role]");

  function showLimits() {
    for (const row of limits) row.hidden = row.dataset.role !== role.value;
  }

  role.addEventListener("change", showLimits);
  showLimits();
}
