// The page shows the limits of the chosen role.
"use strict";
{
  const role = find("[name=role]");
  const limits = document.querySelectorAll("#limits-of-roles [data-role]");

  function showLimits() {
    for (const row of limits) row.hidden = row.dataset.role !== role.value;
  }

  role.addEventListener("change", showLimits);
  showLimits();
}
