import { Bell } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useApprovals } from "../api/queries";
import { t } from "../i18n";
import { Button } from "./basics";
import { headline } from "./headline";
import { worker } from "./worker";

const here = () => isSecureContext && "Notification" in window && "serviceWorker" in navigator;

/** Notifies of each new approval while the page is not visible, if enabled. */
export function useApprovalNotifications() {
  const asked = useApprovals().data?.approvals;
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (!asked) return;
    void navigator.setAppBadge?.(asked.length).catch(() => undefined);
    const before = known.current;
    known.current = new Set(asked.map((each) => each.id));
    if (!here() || Notification.permission !== "granted") return;
    void worker.then(async (there) => {
      if (!there) return;
      const registration = await navigator.serviceWorker.ready;
      for (const each of await registration.getNotifications()) if (!known.current?.has(each.tag)) each.close();
      if (!before || document.visibilityState === "visible" && document.hasFocus()) return;
      for (const each of asked) {
        if (before.has(each.id)) continue;
        const { lead, object } = headline(each);
        await registration.showNotification(`${lead} ${object}`.trim(), { body: each.why || each.reason, tag: each.id, icon: "/icon.svg", requireInteraction: true, data: "/trust" });
      }
    });
  }, [asked]);
}

/** Offers browser notifications; browsers require a button press for that. */
export function NotifyChoice({ quiet }: { quiet?: boolean }) {
  const [state, setState] = useState(() => (here() ? Notification.permission : "denied"));
  if (!here() || state === "granted" || (quiet && state === "denied")) return null;
  return (
    <div className="mt-3 flex flex-wrap items-center gap-3 text-sm text-muted">
      <span>{state === "denied" ? t("Notifications are blocked. Allow them in the browser's settings for this page.") : t("Get a browser notification when something needs you.")}</span>
      {state === "default" && <Button icon={Bell} onClick={() => void Notification.requestPermission().then(setState)}>{t("Enable notifications")}</Button>}
    </div>
  );
}
