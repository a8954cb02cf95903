import { X } from "lucide-react";
import { createContext } from "react";
import { Link } from "wouter";
import { useTrace } from "../../api/queries";
import { duration, money, t, tn } from "../../i18n";
import { Button, Failure, Skeleton } from "../../parts/basics";
import { Changed } from "../../parts/changed";
import { Recalled, type RecalledMemory } from "../../parts/recalled";
import { SpanIcon, kindOf, wentWrong } from "../../parts/spans";

/** Opens the side panel for a message. */
export const Beside = createContext<(trace: string) => void>(() => undefined);

/** Details of a message: its steps, changed files and recalled memories. */
export function Panel({ trace: id, onClose }: { trace: string; onClose: () => void }) {
  const trace = useTrace(id);
  const spans = trace.data?.spans ?? [];
  const models = spans.filter((each) => each.event.usage);
  const cost = models.reduce((sum, each) => sum + (each.event.usage?.cost_usd ?? 0), 0);
  const whole = spans.length ? Math.max(...spans.map((each) => each.started_at + (each.seconds ?? 0))) - Math.min(...spans.map((each) => each.started_at)) : 0;
  const recalled = models.flatMap((each) => (each.metadata.recalled as RecalledMemory[] | undefined) ?? []);
  const once = [...new Map(recalled.map((each) => [each.id, each])).values()];
  return (
    <aside aria-label={t("Message details")} className="flex w-full shrink-0 flex-col gap-4 overflow-y-auto border-s border-line p-4 lg:w-96">
      <div className="flex items-center gap-2">
        <h2 className="flex-1 font-semibold">{t("Message details")}</h2>
        <Link href={`/trace/${id}`} className="text-sm text-accent hover:underline">{t("Trace")}</Link>
        <Button look="quiet" icon={X} label={t("Close")} className="px-2" onClick={onClose} />
      </div>
      {trace.isError && <Failure error={trace.error} retry={() => void trace.refetch()} />}
      {trace.isPending && <Skeleton rows={5} className="h-8" />}
      {trace.data && (
        <p className="text-sm text-muted">{tn("{count} model call", "{count} model calls", models.length)} · {money(cost)} · {duration(whole)}</p>
      )}
      <ul className="flex flex-col gap-1 text-sm">
        {spans.filter((each) => ["LLM", "TOOL", "APPROVAL", "DELEGATION"].includes(each.type)).map((each) => (
          <li key={each.id} className="flex min-h-8 items-center gap-2">
            <SpanIcon type={each.type} />
            <span className="shrink-0 text-muted">{kindOf(each.type).word()}</span>
            <span className={`min-w-0 flex-1 truncate font-mono ${wentWrong(each.event) ? "text-bad" : ""}`}>{each.title}</span>
            <span className="text-xs text-muted">{duration(each.seconds)}</span>
          </li>
        ))}
      </ul>
      {trace.data?.turns.map((turn) => <Changed key={turn} turn={turn} />)}
      {trace.data?.turns[0] && <Recalled turn={trace.data.turns[0]} memories={once} />}
    </aside>
  );
}
