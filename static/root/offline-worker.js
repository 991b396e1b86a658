// Answers only when an opened page could not be fetched. It keeps no other page, and no sale for later.
"use strict";
const PAGE = "/offline/";

async function keepPage() {
  const answer = await fetch(PAGE, { credentials: "omit", cache: "reload" });
  if (!answer.ok) throw new Error(`${PAGE} answers ${answer.status}`);
  const cache = await caches.open("offline");
  await cache.delete(PAGE, { ignoreVary: true });
  await cache.put(PAGE, answer);
  await self.skipWaiting();
}

async function answerOf(request) {
  try {
    return await fetch(request);
  } catch {
    return (await caches.match(PAGE, { ignoreVary: true })) ?? Response.error();
  }
}

self.addEventListener("install", (event) => event.waitUntil(keepPage()));
self.addEventListener("fetch", (event) => {
  if (event.request.mode === "navigate") event.respondWith(answerOf(event.request));
});
