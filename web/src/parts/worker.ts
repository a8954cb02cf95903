/** Whether the page's own worker is there; a browser refuses it where it does not trust the certificate. */
export const worker: Promise<boolean> =
  isSecureContext && "serviceWorker" in navigator
    ? navigator.serviceWorker.register("/sw.js").then(() => true, () => false)
    : Promise.resolve(true);
