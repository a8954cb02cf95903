import { Bell } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { questionsIn, useApprovals, useTasks } from "../api/queries";
import { t } from "../i18n";
import { Button } from "./basics";
import { headline } from "./headline";
import { questionText } from "./question";
import { sessionWord } from "./words";
import { worker } from "./worker";

const here = () => isSecureContext && "Notification" in window && "serviceWorker" in navigator;

type Note = { id: string; title: string; body: string; data: string };

/** What to notify of: approvals and questions; undefined until both are known. */
function useNotes(): Note[] | undefined {
  const approvals = useApprovals();
  const tasks = useTasks().data?.tasks;
  const asked = approvals.isEnabled ? approvals.data?.approvals : NONE;
  return useMemo(() => asked && tasks && [
    ...asked.map((each) => {
      const { lead, object } = headline(each);
      return { id: each.id, title: `${lead} ${object}`.trim(), body: each.why || each.reason, data: "/trust" };
    }),
    ...questionsIn(tasks).map((each) => ({
      id: `${each.id} ${each.updated}`,
      title: questionText(each) || t("Hob asked a question."),
      body: each.choices?.join(" · ") ?? sessionWord(each.session),
      data: `/chat?session=${encodeURIComponent(each.session)}`,
    })),
  ], [asked, tasks]);
}

const NONE: never[] = [];

/** Notifies of each new approval or question while the page is not visible, if enabled. */
export function useNotifications(count: number) {
  const asked = useNotes();
  const known = useRef<Set<string> | null>(null);
  useEffect(() => void navigator.setAppBadge?.(count).catch(() => undefined), [count]);
  useEffect(() => {
    if (!asked) return;
    const before = known.current;
    known.current = new Set(asked.map((each) => each.id));
    if (!here() || Notification.permission !== "granted") return;
    void worker.then(async (there) => {
      if (!there) return;
      const registration = await navigator.serviceWorker.ready;
      for (const each of await registration.getNotifications()) if (!known.current?.has(each.tag)) each.close();
      if (!before || document.visibilityState === "visible" && document.hasFocus()) return;
      for (const { id, title, ...more } of asked) {
        if (!before.has(id)) await registration.showNotification(title, { ...more, tag: id, icon: "/icon.svg", requireInteraction: true });
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
