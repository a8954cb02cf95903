// The page opens without a network too: its own files are kept, nothing of the owner's is.
const KEPT = "hob-page";
const FILES = ["/", "/theme.js", "/icon.svg", "/manifest.webmanifest", "/app/activity.js", "/app/approval.js", "/app/arrow-right.js", "/app/arrow-up.js", "/app/basics.js", "/app/brain.js", "/app/canvas.js", "/app/chat.js", "/app/chevron-down.js", "/app/chevron-right.js", "/app/circle-stop.js", "/app/commands.js", "/app/connect.js", "/app/costs.js", "/app/de-places.js", "/app/de.js", "/app/diff.js", "/app/file-text.js", "/app/files.js", "/app/folder-git-2.js", "/app/index.js", "/app/info.js", "/app/jsx-runtime.js", "/app/led.js", "/app/media.js", "/app/memory.js", "/app/message-square.js", "/app/next.js", "/app/notify.js", "/app/palette.js", "/app/pencil.js", "/app/places.js", "/app/play.js", "/app/plug.js", "/app/presentation.js", "/app/purify.es.js", "/app/question.js", "/app/react-dom.js", "/app/recalled.js", "/app/rich.js", "/app/rotate-ccw.js", "/app/score.js", "/app/search.js", "/app/settings.js", "/app/shield-exclamation-point.js", "/app/spans.js", "/app/src.js", "/app/style.css", "/app/timeline.js", "/app/trace.js", "/app/trash.js", "/app/trust.js", "/app/unanswered.js", "/app/undo-2.js", "/app/users.js", "/app/view.js", "/app/words.js", "/app/work.js", "/app/wrench.js"];

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
