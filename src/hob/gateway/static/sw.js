// The page opens without a network too: its own files are kept, nothing of the owner's is.
const KEPT = "hob-page";
const FILES = ["/", "/theme.js", "/icon.svg", "/manifest.webmanifest", "/app/base.js", "/app/canvas.js", "/app/chat.js", "/app/costs.js", "/app/de-places.js", "/app/de.js", "/app/esm.js", "/app/files.js", "/app/memory.js", "/app/palette.js", "/app/purify.es.js", "/app/rich.js", "/app/rolldown-runtime.js", "/app/settings.js", "/app/shared.js", "/app/style.css", "/app/timeline.js", "/app/trace.js", "/app/trust.js", "/app/view.js", "/app/windowed.js", "/app/work.js"];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || /^\/(api|ws|health|hob-ca\.crt|views)(\/|$)/.test(pathname)) return;
  const name = request.mode === "navigate" ? "/" : request;
  event.respondWith(
    fetch(request)
      .then((response) => {
        if (response.ok) {
          const copy = response.clone();
          event.waitUntil(caches.open(KEPT).then((cache) => cache.put(name, copy)));
        }
        return response;
      })
      .catch(async (error) => {
        const kept = await caches.match(name);
        if (kept) return kept;
        throw error;
      }),
  );
});

// A question for approval: a press leads to it, in a page that is open where there is one.
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const shown = async () => {
    const [page] = await self.clients.matchAll({ type: "window" });
    if (!page) return self.clients.openWindow(event.notification.data);
    page.postMessage({ go: event.notification.data });
    await page.focus();
  };
  event.waitUntil(shown());
});
