// When one of the person's orders ends: a sound, a desktop notice, both or nothing, as they chose (page "Preferences").
// The page itself shows and announces the end anyway. An order is known by its element: data-own-order, data-ending.
"use strict";
{
  const page = document.documentElement.dataset;
  const wants = (what) => page.endings === what || page.endings === "both";
  const FOLLOWED = "followedOrders";
  const RUNG = "rungOrders";
  const MOST = 50;

  function read(store, name) {
    try {
      return JSON.parse(store.getItem(name)) ?? {};
    } catch {
      return {};
    }
  }

  // Orders that this window has seen in progress, also on the page before: order → its ending, "" while it is in progress.
  const seen = read(sessionStorage, FOLLOWED);

  function look() {
    let changed = false;
    for (const row of document.querySelectorAll("[data-own-order]")) {
      const { ownOrder: order, ending } = row.dataset;
      if (seen[order] === ending) continue;
      if (order in seen && ending) ring(row.dataset);
      // An order that had ended when it was first seen is not news; only followed orders are kept.
      if (order in seen || !ending) {
        seen[order] = ending;
        changed = true;
      }
    }
    if (!changed) return;
    for (const order of Object.keys(seen).slice(0, -MOST)) delete seen[order];
    sessionStorage.setItem(FOLLOWED, JSON.stringify(seen));
  }

  // Several windows may show the order: only one rings.
  function isFirst(order, ending) {
    const rung = read(localStorage, RUNG);
    if (rung[order] === ending) return false;
    rung[order] = ending;
    for (const old of Object.keys(rung).slice(0, -MOST)) delete rung[old];
    localStorage.setItem(RUNG, JSON.stringify(rung));
    return true;
  }

  function ring({ ownOrder, ending, says, about }) {
    if (!isFirst(ownOrder, ending)) return;
    if (wants("sound")) play(ending);
    if (wants("notice")) notify(says, { body: about, tag: ownOrder });
    document.dispatchEvent(new CustomEvent("own-order-ended", { detail: { order: ownOrder, ending } }));
  }

  function play(ending) {
    // Before the first press on a page a browser may refuse the sound; the page's words say the same.
    new Audio(page[ending === "good" ? "soundGood" : "soundBad"]).play().catch(() => {});
  }

  function notify(words, more) {
    if (!("Notification" in window) || Notification.permission !== "granted") return;
    try {
      new Notification(words, more);
    } catch {
      // A phone's browser shows notices only for installed apps.
    }
  }

  document.addEventListener("htmx:afterSettle", look);
  look();

  // The page "Preferences": this browser's permission, and a try.
  const allow = document.querySelector("[data-allow-notices]");
  function sayWhatIsAllowed() {
    const state = "Notification" in window ? Notification.permission : "unavailable";
    for (const words of document.querySelectorAll("[data-notices]")) words.hidden = words.dataset.notices !== state;
    allow.hidden = state !== "default";
  }
  if (allow) {
    allow.addEventListener("click", () => Notification.requestPermission().then(sayWhatIsAllowed));
    sayWhatIsAllowed();
  }
  for (const button of document.querySelectorAll("[data-try-sound]")) {
    button.addEventListener("click", () => play(button.dataset.trySound));
  }
}
