import { useQuery } from "@tanstack/react-query";
import { CircleStop } from "lucide-react";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { call } from "../api/client";
import { live } from "../api/live";
import { useConnection, useTasks } from "../api/queries";
import type { TaskAnswer } from "../api/schema";
import { clock, duration, money, t } from "../i18n";
import { useDoing } from "./doing";
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
      <button type="button" popoverTarget="running-now" className="flex min-h-9 items-center gap-1.5 whitespace-nowrap hover:text-text">
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

/** The cost of a turn so far. */
function Cost({ trace }: { trace: string }) {
  const step = useQuery({ queryKey: ["step", trace], queryFn: () => call("GET /api/v1/timeline", { query: { trace_id: trace, kind: "tool,model,approval", limit: 200 } }) });
  const cost = (step.data?.events ?? []).reduce((sum, each) => sum + (each.usage?.cost_usd ?? 0), 0);
  return <>{cost > 0 && ` · ${money(cost)}`}</>;
}

/** The current step of a task in words. */
function stepWord(task: TaskAnswer, doing: string): string {
  if (task.state === "pending") return t("queued");
  if (task.state === "running") return doing || t("working");
  const since = clock(task.updated);
  if (task.waits_for === "approval") return t("waiting for your approval since {time}", { time: since });
  if (task.waits_for === "answer") return t("waiting for your answer since {time}", { time: since });
  if (task.waits_for === "child") return t("waiting for sub-agents since {time}", { time: since });
  return t("waiting since {time}", { time: since });
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
  const words = stepWord(task, useDoing(task));
  return (
    <div data-card className="flex min-h-14 items-center gap-3 px-4 py-2">
      <span aria-hidden className={`size-2 rounded-full ${task.state === "running" ? "animate-pulse bg-accent" : "bg-warn"}`} />
      <Link href={`/trace/${task.trace_id}`} className="min-w-0 flex-1">
        <p dir="auto" className="truncate font-medium">{task.title || untitled()}</p>
        <p className="truncate text-xs text-muted">{words} · {duration(Math.max(0, now - task.created))} · {sessionWord(task.session)}{task.state !== "pending" && <Cost trace={task.trace_id} />}</p>
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
