import { useQuery } from "@tanstack/react-query";
import { CircleStop } from "lucide-react";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { call } from "../api/client";
import { live } from "../api/live";
import { useConnection, useTasks } from "../api/queries";
import type { TaskAnswer } from "../api/schema";
import { duration, money, t } from "../i18n";
import { sessionWord } from "./words";
import { Button, untitled } from "./basics";

/** Running turns behind their count in the header, each with a stop button. */
export function RunningNow() {
  const tasks = useTasks().data?.tasks ?? [];
  const running = tasks.filter((each) => each.state === "running").length;
  const queued = tasks.filter((each) => each.state === "pending").length;
  if (!running && !queued) return null;
  return (
    <>
      <button type="button" popoverTarget="running-now" className="flex min-h-9 items-center gap-1.5 hover:text-text">
        <span className="size-2 animate-pulse rounded-full bg-accent" aria-hidden />
        {[running && t("{count} running", { count: running }), queued && t("{count} queued", { count: queued })].filter(Boolean).join(" · ")}
      </button>
      <div id="running-now" popover="auto" role="dialog" aria-label={t("Running now")}
        className="inset-auto end-3 top-14 w-96 max-w-[calc(100vw-1.5rem)] divide-y divide-line rounded-md border border-line bg-surface text-text shadow-(--shadow)">
        {tasks.map((each) => <Running key={each.id} task={each} />)}
      </div>
    </>
  );
}

/** The current step of a turn in words, and its cost so far. */
function Step({ trace }: { trace: string }) {
  const step = useQuery({ queryKey: ["step", trace], queryFn: () => call("GET /api/v1/timeline", { query: { trace_id: trace, kind: "tool,model,approval", limit: 200 } }) });
  const last = step.data?.events[0];
  if (!last) return null;
  const words = { tool: t("used {name}", { name: last.name }), model: t("asked the model"), approval: t("asked you") }[last.kind];
  const cost = step.data!.events.reduce((sum, each) => sum + (each.usage?.cost_usd ?? 0), 0);
  return <>{words && ` · ${words}`}{cost > 0 && ` · ${money(cost)}`}</>;
}

/** A running, waiting or queued message, with a stop button. */
export function Running({ task }: { task: TaskAnswer }) {
  const connected = useConnection().state === "open";
  const [now, setNow] = useState(Date.now() / 1000);
  const [stopping, setStopping] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => clearInterval(timer);
  }, []);
  const words = { pending: t("queued"), waiting: t("needs you"), running: t("working") }[task.state] ?? task.state;
  return (
    <div data-card className="flex min-h-14 items-center gap-3 px-4 py-2">
      <span aria-hidden className={`size-2 rounded-full ${task.state === "running" ? "animate-pulse bg-accent" : "bg-warn"}`} />
      <Link href={`/trace/${task.trace_id}`} className="min-w-0 flex-1">
        <p dir="auto" className="truncate font-medium">{task.title || untitled()}</p>
        <p className="truncate text-xs text-muted">{words} · {duration(Math.max(0, now - task.created))} · {sessionWord(task.session)}{task.state === "running" && <Step trace={task.trace_id} />}</p>
      </Link>
      <Button
        needs="admin"
        icon={CircleStop}
        data-act="stop"
        disabled={!connected || stopping}
        onClick={() => {
          setStopping(true);
          live.ask({ type: "stop", id: task.id }, () => setStopping(false));
        }}
      >
        {t("Stop")}
      </Button>
    </div>
  );
}
