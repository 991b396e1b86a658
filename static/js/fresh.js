// A page that stays open: its times, its alerts, its live parts and its countdowns keep themselves fresh.
"use strict";

/* --- times ----------------------------------------------------------------------------------------------------- */

// The clock of this device may be wrong: the page and each answer say the server's time, and from then on the device only counts.
const serverTime = { said: 0, at: 0 }; // milliseconds: what the server said, and when by the device's count
const serverNow = () => serverTime.said + performance.now() - serverTime.at;
function setServerTime(said, at) {
  if (said) Object.assign(serverTime, { said, at });
}
setServerTime(Number(find("meta[name=server-time]").content) * 1000, performance.getEntriesByType("navigation")[0]?.responseStart ?? 0);
document.addEventListener("htmx:afterRequest", ({ detail }) => setServerTime(Date.parse(detail.xhr.getResponseHeader("Date")), performance.now()));

const relative = new Intl.RelativeTimeFormat(document.documentElement.lang || "id", { numeric: "always" });
// Seconds and their name: the same steps as the server's text, so that nothing jumps.
const timeSteps = [[31536000, "year"], [2592000, "month"], [604800, "week"], [86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
function refreshTimes() {
  for (const time of findAll("time[data-relative]")) {
    const seconds = Math.round((new Date(time.dateTime) - serverNow()) / 1000);
    const [size, unit] = timeSteps.find(([size]) => Math.abs(seconds) >= 0.99 * size) ?? timeSteps.at(-1);
    const text = relative.format(Math.round(seconds / size), unit);
    if (time.textContent !== text) time.textContent = text;
  }
}
setInterval(refreshTimes, 10000);

/* --- a person who types is there ------------------------------------------------------------------------------- */

// A page may send nothing for minutes, such as the count of a drawer: its next automatic request says that somebody types there.
// A held key does not count: something may lie on it.
let hasActed = false;
for (const press of ["keydown", "pointerdown"]) document.addEventListener(press, ({ repeat }) => (hasActed ||= !repeat), { capture: true });
document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (hasActed) detail.headers.Acted = "yes";
  hasActed = false;
});

/* --- alerts: the head of a page that stays open keeps itself fresh ----------------------------------------------- */

setInterval(() => {
  const head = find("[data-alerts]");
  // A person who reads in the drawer can go on reading.
  if (head && find("details[open]", head)?.contains(document.activeElement)) return;
  // An answer 204 means nothing new: it changes nothing, so that a screen reader is not interrupted.
  if (head && !document.hidden) htmx.ajax("GET", head.dataset.alerts, { target: head, swap: "outerHTML" });
}, 30000);

// The drawer asks for its lines each time it opens, and not when it closes.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.target.matches("#alert-line:not([open])")) event.preventDefault();
});

// After hiding an alert the focus is on the line again; if no line is left, on the page.
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.requestConfig?.elt.matches(".alert-snooze")) find("#alert-line > summary, #main")?.focus();
});

// While the server or its database is away a live page goes on asking, a little later. Several faults in this time bring one question.
let askingAgain;
for (const fault of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(fault, (event) => {
    if (event.target.id !== "live") return;
    clearTimeout(askingAgain);
    askingAgain = setTimeout(() => htmx.trigger(event.target, "again"), 5000);
  });
}
// Until an answer comes, a bar says that the page may be out of date.
document.addEventListener("htmx:afterRequest", (event) => {
  const offline = event.detail.target?.id === "live" && find("#offline");
  if (offline) offline.hidden = event.detail.successful;
});

// "As a table" below a drawing stays open when the page asks for its figures again.
document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  if (detail.target.querySelector(".chart-table[open]")) detail.fragment.querySelector(".chart-table")?.setAttribute("open", "");
});

/* --- bills: how long one can be paid ------------------------------------------------------------------------------ */

// The server says how many seconds are left, and its time counts them.
const endOfCountdown = new WeakMap();
function countDown() {
  for (const line of findAll("[data-countdown]")) {
    if (!endOfCountdown.has(line)) endOfCountdown.set(line, serverNow() + Number(line.dataset.countdown) * 1000);
    const seconds = Math.max(0, Math.ceil((endOfCountdown.get(line) - serverNow()) / 1000));
    const left = find("[data-left]", line);
    if (!left) continue;
    left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    line.classList.toggle("is-soon", seconds <= 60);
    if (seconds > 0) continue;
    line.replaceChildren(line.dataset.over);
    line.closest(".panel")?.classList.add("is-over");
    announce(line.dataset.over);
  }
}
setInterval(countDown, 500);
document.addEventListener("htmx:load", countDown);
countDown();
