import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let timer = 0;

const tick = () => listeners.forEach((each) => each());

/** One timer for all that shows times, only while somebody can see them. */
function run() {
  clearInterval(timer);
  timer = 0;
  if (!listeners.size || document.visibilityState === "hidden") return;
  timer = window.setInterval(tick, 60_000);
  tick();
}

document.addEventListener("visibilitychange", run);

function subscribe(listener: () => void) {
  listeners.add(listener);
  if (!timer) run();
  return () => {
    listeners.delete(listener);
    if (!listeners.size) run();
  };
}

/** Renders again every minute. */
export const useMinute = () => useSyncExternalStore(subscribe, () => Math.floor(Date.now() / 60_000));

/** When today began, in Unix seconds; renders again at midnight. */
export const useMidnight = () => useSyncExternalStore(subscribe, () => new Date().setHours(0, 0, 0, 0) / 1000);
