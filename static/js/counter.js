// The counter by keyboard: one field, tiles, a review that no key confirms by accident. The strip of running orders: strip.js.
// The server reads the text and decides what it means; this file only ties keys to requests.
"use strict";
{
  // An Enter, a click or a tap within this time after the review appears was meant for what stood there before (milliseconds).
  const MOMENT = 350;
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const field = () => one("#counter-q");
  const work = () => one("#counter-work");
  const review = () => one("#counter-review, #counter-bill, #counter-batch, #counter-approval");
  const tiles = () => all("#counter-tiles [role=option]");
  const picked = () => one("#counter-tiles [aria-selected=true]");
  const isBillerAsked = () => Boolean(one("#counter-bill[role=status]"));

  let isEnterDown = false;
  let readyAt = 0; // the time from which the shown panel may be sent
  let isAsking = false; // for another panel
  let isSending = false;
  let unread = null; // the strip's poll that fell into a sending, and has to be asked again
  let hasMoved = false; // the person has picked a tile since the last letter
  let typedAhead = ""; // while an answer is awaited

  /* --- the field --- */

  function setText(text) {
    const input = field();
    input.value = text;
    input.focus();
    input.setSelectionRange(text.length, text.length);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // A number and nothing behind it, in one piece or in groups: Enter ends it, and digits mean the amount from then on.
  function isNumberAlone(text) {
    if (!/^\+?[\d.\-]+( [\d.\-]+)*$/.test(text) || /^[1-9][\d.]* \+?(62|0)8/.test(text)) return false; // "50 0812…"
    const groups = text.split(" ").map((group) => group.replace(/\D/g, "").length);
    // A number in one piece is complete: digits after "12345678" are an amount or a game's zone.
    if (groups.length > 1 && groups[0] >= 8 && /^[1-9]/.test(text) && !text.startsWith("62")) return false;
    const last = groups.pop();
    const before = groups.reduce((sum, count) => sum + count, 0);
    return before + last >= 8 && before < 10;
  }

  // With a product that was chosen before, no amount follows: a second group of digits is a game's zone.
  function endNumber() {
    const input = field();
    if (one("#counter-form [name=product]") || !isNumberAlone(input.value)) return false;
    setText(`${input.value.replace(/[\s.\-]/g, "")} `);
    return true;
  }

  function ask(address, values = {}) {
    htmx.ajax("GET", address, { source: "#counter-form", target: "#counter-panel", swap: "outerHTML", values });
  }

  function openPanel(address) {
    htmx.ajax("GET", address, { source: "#counter-panel", target: "#counter-panel", swap: "outerHTML" });
  }

  // Keys typed while an answer is awaited are shown, and go to the right field once the answer is there.
  function typeAhead(text) {
    typedAhead = text;
    one("#counter-ahead").textContent = text;
  }

  // The address names what is shown: a refresh or Back shows it again.
  const address = () => location.pathname + location.search;
  let shownAt = address();

  function noteField() {
    const query = new URLSearchParams(new FormData(one("#counter-form")));
    const home = one("#counter-form").getAttribute("hx-get");
    history.replaceState(null, "", query.get("q") || query.has("product") ? `${home}?${query}` : home);
    shownAt = address();
  }

  function noteReview(asked) {
    const of = review().dataset.address ?? asked;
    if (of && of !== address()) history.pushState(null, "", of);
    shownAt = address();
  }

  window.addEventListener("popstate", () => !isSending && shownAt !== address() && openPanel(address()));

  function goOn(tile) {
    if (isAsking || isSending) return;
    if (tile?.dataset.fills) return setText(tile.dataset.fills);
    if (tile && (!tile.dataset.product || !field().value)) return location.assign(tile.href);
    if (field().value.trim()) ask(one("#counter-form").dataset.next, tile ? { pick: tile.dataset.product } : {});
  }

  function pick(tile) {
    if (!tile || tile.getAttribute("aria-disabled")) return;
    for (const other of tiles()) other.setAttribute("aria-selected", String(other === tile));
    field().setAttribute("aria-activedescendant", tile.id);
    tile.scrollIntoView({ block: "nearest" });
    hasMoved = true;
  }

  function move(key) {
    const list = tiles();
    const open = list.filter((tile) => !tile.getAttribute("aria-disabled"));
    if (!open.length) return;
    const at = list.indexOf(picked());
    if (at < 0) return pick(open[0]);
    const columns = list.filter((tile) => tile.offsetTop === list[0].offsetTop).length;
    const by = { ArrowDown: columns, ArrowUp: -columns, ArrowRight: 1, ArrowLeft: -1 }[key];
    for (let next = at + by; next >= 0 && next < list.length; next += by) {
      if (!list[next].getAttribute("aria-disabled")) return pick(list[next]);
    }
  }

  function leaveReview() {
    if (one("#counter-review")) {
      one("#counter-review").remove();
      typeAhead("");
      noteField();
      setCaret();
    } else if (one("#counter-bill")) {
      if (isCash(typedAhead)) typeAhead("");
      openPanel(one("#counter-form").getAttribute("hx-get"));
    } else one("#counter-leave")?.click();
  }

  function setCaret() {
    const input = field();
    input?.focus();
    input?.setSelectionRange(input.value.length, input.value.length);
  }

  document.addEventListener("input", (event) => {
    if (event.target !== field()) return;
    hasMoved = false;
    review()?.remove(); // it belongs to another text, as do the keys typed ahead for it
    one("#counter-said")?.remove();
    noteField();
    typeAhead("");
    if (!isAsking) return;
    for (const asks of ["#counter-form", "#counter-panel"]) htmx.trigger(asks, "htmx:abort");
  });

  function inField(event) {
    const { key } = event;
    if (key === "Enter") {
      event.preventDefault();
      if (!event.repeat && !isEnterDown && !(!hasMoved && endNumber())) goOn(hasMoved ? picked() : null);
    } else if (event.altKey && /^Digit[1-8]$/.test(event.code)) {
      event.preventDefault();
      hasMoved = true;
      pick(one(`#tile-${event.code.slice(-1)}`));
    } else if (key === "ArrowDown" && !field().value) {
      event.preventDefault();
      one("[data-run]")?.focus();
    } else if (key === "ArrowDown" || key === "ArrowUp" || (hasMoved && (key === "ArrowLeft" || key === "ArrowRight"))) {
      if (!tiles().length) return;
      event.preventDefault();
      move(key);
    } else if (key === "PageDown" || key === "PageUp") {
      const link = one(key === "PageDown" ? "#counter-page-on" : "#counter-page-back");
      if (link) event.preventDefault();
      link?.click();
    } else if (key === "Escape") {
      if (review()) leaveReview();
      else if (field().value) setText("");
      else (strip.newest() ?? one("[data-run]"))?.focus();
    } else return;
    event.stopImmediatePropagation();
  }

  /* --- the review --- */

  function isTooSoon() {
    return isSending || performance.now() < readyAt;
  }

  function confirmNext() {
    const box = all("[data-sure]", review()).find((one) => !one.checked);
    if (box) box.checked = true;
    if (!all("[data-sure]", review()).some((one) => !one.checked)) one("[data-send]:enabled", review())?.focus();
  }

  function inReview(event) {
    const { key, target } = event;
    if ((key === "Enter" || key === " ") && (event.repeat || isTooSoon() || (key === "Enter" && isEnterDown))) {
      event.preventDefault();
    } else if (key === "Escape") {
      leaveReview();
    } else if (key.toLowerCase() === "y" && (!isTyping(target) || target.id === "id_cash_given")) {
      event.preventDefault();
      confirmNext();
    } else return; // a way to pay, and the cash given: pay.js
    event.stopImmediatePropagation();
  }

  // The given cash also after a click beside the review; the digit follows.
  function startCash(event) {
    one("#id_cash_given").value = "";
    one("#id_cash_given").focus();
    event.stopImmediatePropagation();
  }

  // In the first moment after a review appears, neither Enter nor a click sends it.
  for (const way of ["submit", "click"]) {
    document.addEventListener(
      way,
      (event) => {
        const form = event.target.closest?.("form");
        const sends = way === "submit" ? one("[data-send]", form) : event.target.closest("[data-send]");
        if (!sends || !isTooSoon()) return;
        event.preventDefault();
        event.stopImmediatePropagation();
      },
      { capture: true },
    );
  }

  // Digits that were typed before the review appeared are the given cash; a number with a first 0 is the next customer's.
  const isCash = (text) => /^[1-9]\d*$/.test(text);
  function enterCash(shown, digits) {
    const cash = one("#id_cash_given", shown);
    if (!cash || !isCash(digits)) return false;
    cash.value = digits;
    cash.dispatchEvent(new Event("change", { bubbles: true })); // "50" becomes 50.000
    return true;
  }

  // An answer moves the cursor to where the next key is needed. `asked`: its address, if a key asked for it.
  function arrive(asked, wasSent) {
    hasMoved = false;
    const shown = review();
    const ahead = typedAhead;
    if (shown && wasSent) return typeAhead(ahead), show(shown); // typed for the next customer: it goes on waiting
    const isAwaited = one("#counter-ask") || isBillerAsked(); // it goes on waiting, for the bill
    typeAhead(isAwaited ? ahead : "");
    if (!isAwaited && !(shown && enterCash(shown, ahead)) && ahead) return setText(field().value + ahead);
    if (shown) return noteReview(asked), show(shown);
    noteField();
    setCaret();
    if (one("#counter-pick") && !one("#counter-who")) pick(tiles().find((tile) => !tile.getAttribute("aria-disabled")));
  }

  function show(shown) {
    readyAt = performance.now() + MOMENT;
    setTimeout(() => shown.setAttribute("data-ready", ""), MOMENT + 10);
    const isPlain = shown.matches("[data-plain]") || one("[data-plain]", shown);
    const sends = isPlain && one("[data-send]:enabled", shown);
    const wrong = all("#paid-by [aria-invalid]", shown).find((input) => input.offsetParent);
    const next = wrong || sends || one("[data-sure]:not(:checked), input[name=reason], [data-next-key]", shown) || shown;
    next.focus({ preventScroll: true });
    shown.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.isComposing || !field() || one("dialog[open]")) return;
      const target = event.target instanceof Element ? event.target : document.body;
      const isBack = event.key === "Backspace" && typedAhead;
      const isHere = target === field() || review()?.contains(target);
      const isLost = [document.body, one("#main")].includes(target) && review() && !isSending; // by a click beside it, or the cursor was on what went away
      // The biller may take long: meanwhile a letter keeps its meaning, and other parts of the page keep their keys.
      const isForBill = isBillerAsked() && (isHere || target === document.body) && (isBack || /^\d$/.test(event.key));
      if ((isForBill || ((isSending || isAsking) && (event.key.length === 1 || isBack))) && !event.altKey) {
        typeAhead(isBack ? typedAhead.slice(0, -1) : typedAhead + event.key);
        event.preventDefault();
        event.stopImmediatePropagation();
      } else if (isSending && isHere && !/^(Tab|Shift|F\d+)$/.test(event.key)) {
        event.preventDefault();
        event.stopImmediatePropagation();
      } else if (target === field()) inField(event);
      else if (review()?.contains(target) || (isLost && event.key === "Escape")) inReview(event);
      else if (isLost && /^[1-9]$/.test(event.key) && one("#id_cash_given")?.offsetParent) startCash(event);
      else if (!event.altKey && (target === document.body || one("#counter-strip").contains(target))) strip.press(event, setCaret);
      if (event.key === "Enter") isEnterDown = true;
    },
    { capture: true },
  );
  document.addEventListener("keyup", (event) => event.key === "Enter" && (isEnterDown = false), { capture: true });
  window.addEventListener("blur", () => (isEnterDown = false));

  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = event.target.closest?.("a");
    if (!link) return;
    if (isSending && link.matches("[data-fills], [data-act=a], #counter-leave, .sell-pages a")) return event.preventDefault();
    if (link.matches("#pill-warnings") && one("#alert-line")) {
      one("#alert-line").open = true; // it lists them
      one("#alert-line > summary").focus();
    } else if (link.matches(".denom")) {
      if (link.getAttribute("aria-disabled")) return;
      pick(link);
      goOn(link);
    } else if (link.matches("[data-fills]")) setText(link.dataset.fills);
    else if (link.matches("#counter-page-on, #counter-page-back")) {
      htmx.ajax("GET", link.href, { target: "#counter-work", swap: "outerHTML" });
    } else if (link.matches("[data-act=a]")) openPanel(link.getAttribute("href"));
    else if (link.matches("#counter-leave") && one("#counter-review")) leaveReview();
    else if (link.matches("[data-act=b]")) setCaret();
    else return;
    event.preventDefault();
  });

  /* --- what comes from the server --- */

  // The head of the page is read again by itself, and the pill says the same.
  document.addEventListener("htmx:afterSwap", () => {
    const count = one("[data-alerts]")?.dataset.count ?? "0";
    one("[data-warnings]").textContent = count;
    one("#pill-warnings").hidden = count === "0";
  });

  // The tiles of the last letter are asked for a little later, unless Enter was faster: its answer has the tiles, too.
  document.addEventListener("htmx:confirm", (event) => {
    const { elt, path } = event.detail;
    if (isAsking && elt.id === "counter-form" && path === elt.getAttribute("hx-get")) event.preventDefault();
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, target } = event.detail;
    if (elt.id === "live" && isSending) {
      event.preventDefault(); // its answer could be older than this sale
      unread = elt;
    }
    if (target.id === "counter-panel") isAsking = true;
    if (!one("[data-send]", elt) || elt.id === "counter-panel") return;
    // Until the answer is there the review stays: if a key, a paste or a phone's keyboard took it away, the sale would look left out.
    isSending = field().readOnly = true;
    one("[data-no-answer]", elt).hidden = true;
    one("[data-send]", elt).setAttribute("aria-busy", "true");
  });
  // If the strip was asked for before something was sent, its answer is older than the page.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { elt } = event.detail.requestConfig;
    if (elt.id !== "live" || (!isSending && elt.isConnected)) return;
    event.detail.shouldSwap = false;
    unread = elt;
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const { requestConfig, successful, target } = event.detail;
    const { elt } = requestConfig;
    if (target?.id === "counter-panel") isAsking = false;
    if (elt.matches("[data-give-back]")) one(`[data-ref="${elt.closest("[data-run]").dataset.ref}"]`)?.focus();
    if (elt.id === "counter-form" && successful) one("[data-no-answer]", elt).hidden = true;
    if (!successful && target?.id === "counter-panel" && !isSending && typedAhead) {
      const ahead = typedAhead;
      typeAhead("");
      setText(field().value + ahead);
    }
    if (!isSending || !one("[data-send]", elt)) return;
    isSending = field().readOnly = false;
    if (unread?.isConnected) htmx.trigger(unread, "again"); // the answer to a sale brings another one
    unread = null;
    if (successful) return;
    one("[data-send]", elt)?.removeAttribute("aria-busy");
    one("[data-send]:enabled", elt)?.focus();
  });
  // Without an answer the strip is read again: it shows the sent sale, or the page says that nothing answers.
  for (const fault of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(fault, (event) => {
      if (["live", "counter-bill"].includes(event.target.id)) return; // they ask again by themselves
      const lost = one("[data-no-answer]", event.target);
      if (lost) lost.hidden = false;
      htmx.trigger("#live", "again");
    });
  }
  document.addEventListener("htmx:afterSettle", (event) => {
    const { target } = event.detail;
    const { verb, elt } = event.detail.requestConfig ?? {};
    if (target.id === "counter-panel") {
      const wasSent = elt.id !== "counter-panel" && Boolean(one("[data-send]", elt));
      arrive(verb === "get" && event.detail.pathInfo.finalRequestPath, wasSent);
    } else if (target.id === "counter-work") field()?.setAttribute("aria-expanded", String(tiles().length > 0));
    else if (elt?.id === "counter-bill") {
      const shown = one("#counter-bill");
      if (shown && shown.dataset.standing !== "asking") {
        enterCash(shown, typedAhead);
        if (isCash(typedAhead)) typeAhead(""); // a number goes on waiting, until the bill is left
      }
      if (shown && document.activeElement !== field()) show(shown);
      else if (shown) readyAt = performance.now() + MOMENT;
    }
    const tile = picked();
    if (tile) field()?.setAttribute("aria-activedescendant", tile.id);
    else field()?.removeAttribute("aria-activedescendant");
  });

  // On a phone a message stands above the field (counter.css): the field keeps below it, and the cursor in sight.
  const messages = one("#toasts");
  new ResizeObserver(() => {
    const end = messages.offsetHeight ? messages.getBoundingClientRect().bottom : 0;
    document.documentElement.style.setProperty("--toasts", `${end}px`);
    if (end && document.activeElement !== document.body) document.activeElement.scrollIntoView({ block: "nearest" });
  }).observe(messages);

  if (review()) show(review());
  else setCaret();
}
