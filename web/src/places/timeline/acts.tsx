import { CircleStop } from "lucide-react";
import { live } from "../../api/live";
import { useTasks, useTrace } from "../../api/queries";
import type { PlacedEvent } from "../../api/schema";
import { t } from "../../i18n";
import { Button, Dialog, Skeleton } from "../../parts/basics";
import { Changed } from "../../parts/changed";

export type Act = "undo" | "stop";

/** Confirms stopping the turn of this event, or undoing its changes. */
export function TurnAct({ act, event, onClose }: { act: Act; event: PlacedEvent; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title={act === "undo" ? t("Undo this turn's changes?") : t("Stop this turn?")} wide>
      {act === "undo" ? <Undo trace={event.trace_id} onDone={onClose} /> : <Stop trace={event.trace_id} onDone={onClose} />}
    </Dialog>
  );
}

function Undo({ trace, onDone }: { trace: string; onDone: () => void }) {
  const turn = useTrace(trace);
  if (turn.isPending) return <Skeleton rows={2} />;
  const last = turn.data?.turns.at(-1);
  return last ? <Changed turn={last} onDone={onDone} /> : <p className="text-muted">{t("This turn changed no files that can be restored.")}</p>;
}

function Stop({ trace, onDone }: { trace: string; onDone: () => void }) {
  const task = (useTasks().data?.tasks ?? []).find((each) => each.trace_id === trace && ["pending", "running", "waiting"].includes(each.state));
  if (!task) return <p className="text-muted">{t("This turn is no longer running.")}</p>;
  return (
    <div className="flex flex-wrap items-center gap-4">
      <p dir="auto" className="min-w-0 flex-1 break-words">{task.title}</p>
      <Button look="danger" icon={CircleStop} data-act="stop" autoFocus onClick={() => { live.ask({ type: "stop", id: task.id }, () => undefined); onDone(); }}>{t("Stop")}</Button>
    </div>
  );
}
