/** Whether the service worker is registered; a browser refuses it if it does not trust the certificate. */
export const worker: Promise<boolean> =
  isSecureContext && "serviceWorker" in navigator
    ? navigator.serviceWorker.register("/sw.js").then(() => true, () => false)
    : Promise.resolve(true);
