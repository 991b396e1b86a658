// Sends the form of the page "One moment" again after so many seconds; without this there is its button.
"use strict";

const again = document.querySelector("[data-try-again]");
if (again) setTimeout(() => again.requestSubmit(), Number(again.dataset.tryAgain) * 1000);
