import { ArrowLeft, ChartGantt, Columns2, Eraser, MessageSquare, RotateCcw, Workflow, ZoomIn, ZoomOut } from "lucide-react";
import { useEffect, useMemo, useState, type CSSProperties, type KeyboardEvent as Pressed } from "react";
import { Link } from "wouter";
import { useMutation } from "@tanstack/react-query";
import { call } from "../../api/client";
import { useTrace } from "../../api/queries";
import type { ApprovalAnswer, SpanAnswer, TaskAnswer, TraceAnswer } from "../../api/schema";
import { duration, money, number, percent, t, tn } from "../../i18n";
import { Badge, Button, Failure, Page, Skeleton, When, Wide } from "../../parts/basics";
import { Copy } from "../../parts/copy";
import { useDoing } from "../../parts/doing";
import { OpenedFile } from "../../parts/media";
import { SpanIcon, kindOf, wentWrong } from "../../parts/spans";
import { maySee } from "../../parts/places";
import { underWay } from "../../parts/underway";
import { approvalWord, endWord, endedWord, purposeWord, wordOf } from "../../parts/words";
import { Detail } from "./detail";
import { Graph } from "./graph";
import { Replay } from "./replay";
import { axisOf, critical, labelOf, lengthOf, ordered, type Placed } from "./tree";

/** One message's trace: the waterfall and the chosen span. */
export function Trace({ id }: { id: string }) {
  const trace = useTrace(id);
  const [chosen, setChosen] = useState("");
  const [graph, setGraph] = useState(false);
  const [replay, setReplay] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]") && !(event.target as HTMLElement).matches("input, textarea, select")) history.back();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const spans = useMemo(() => ordered(trace.data ? [...trace.data.spans, ...underWay(trace.data)] : []), [trace.data]);
  if (trace.isPending) return <Page title={t("Trace")} wide><Skeleton rows={8} className="h-9" /></Page>;
  if (trace.isError) return <Page title={t("Trace")} wide><Failure error={trace.error} retry={() => void trace.refetch()} /></Page>;
  const span = spans.find((each) => each.span.id === chosen) ?? spans.find((each) => each.span.type === "LLM") ?? spans[0];
  return (
    <Page title={title(trace.data)} wide="full" focused more={<Acts trace={trace.data} graph={graph} onGraph={() => setGraph(!graph)} replay={replay} onReplay={() => setReplay(!replay)} />}>
      <Facts trace={trace.data} />
      {replay && trace.data.turns.map((turn) => <Replay key={turn} turn={turn} />)}
      <div className="xl:grid xl:grid-cols-[minmax(0,1fr)_minmax(0,28rem)] xl:items-start xl:gap-6">
        <div className="@container">
          {graph ? <Graph spans={spans} chosen={span?.span.id ?? ""} onChoose={setChosen} /> : <Waterfall spans={spans} chosen={span?.span.id ?? ""} onChoose={setChosen} trace={trace.data} />}
        </div>
        {span && <Detail span={span.span} decisions={trace.data.policy_decisions} approvals={trace.data.approvals} erased={trace.data.erased} stopped={wasStopped(trace.data)} />}
      </div>
      {trace.data.task && <Follow task={trace.data.task} id={id} />}
      <OpenedFile />
    </Page>
  );
}

/** Reads anew when a call begins: no event tells of it before its end. */
function Follow({ task, id }: { task: TaskAnswer; id: string }) {
  const doing = useDoing(task);
  const { refetch } = useTrace(id);
  useEffect(() => {
    if (doing) void refetch();
  }, [doing, refetch]);
  return null;
}

function title(trace: TraceAnswer): string {
  const first = trace.spans.find((each) => each.type === "INBOUND");
  return first?.output.split("\n")[0]?.slice(0, 90) || t("Trace {id}", { id: trace.trace_id.slice(0, 8) });
}

function Acts({ trace, graph, onGraph, replay, onReplay }: {
  trace: TraceAnswer; graph: boolean; onGraph: () => void; replay: boolean; onReplay: () => void;
}) {
  const retry = useMutation({ mutationFn: (id: string) => call("POST /api/v1/retry/{id}", { path: { id } }) });
  const session = trace.task?.session ?? trace.spans[0]?.event.session;
  return (
    <div className="flex flex-wrap gap-2">
      <Link href="/timeline" className="inline-flex min-h-9 items-center gap-2 rounded-md px-3 text-muted hover:bg-sunken">
        <ArrowLeft size={16} aria-hidden /> {t("Timeline")}
      </Link>
      {session && maySee("/chat") && (
        <Link href={`/chat?session=${encodeURIComponent(session)}`} className="inline-flex min-h-9 items-center gap-2 rounded-md border border-line bg-surface px-3 font-medium hover:bg-sunken">
          <MessageSquare size={16} aria-hidden /> {t("Open in chat")}
        </Link>
      )}
      {trace.task && ["failed", "set_aside"].includes(trace.task.state) && (
        <Button needs="admin" icon={RotateCcw} disabled={retry.isPending} onClick={() => retry.mutate(trace.task!.id)}>{t("Retry")}</Button>
      )}
      {trace.turns.length > 0 && <Button needs="admin" icon={Columns2} aria-pressed={replay} onClick={onReplay}>{t("Replay")}</Button>}
      <Button icon={graph ? ChartGantt : Workflow} onClick={onGraph}>{graph ? t("Waterfall") : t("Graph")}</Button>
      <span className="inline-flex min-h-9 items-center rounded-md border border-line bg-surface px-3 font-medium">
        <Copy text={() => JSON.stringify(trace, null, 2)} word={t("Copy as JSON")} />
      </span>
    </div>
  );
}

function Facts({ trace }: { trace: TraceAnswer }) {
  const models = trace.spans.filter((each) => each.event.usage);
  const sum = (of: (usage: NonNullable<SpanAnswer["event"]["usage"]>) => number) =>
    models.reduce((total, each) => total + of(each.event.usage!), 0);
  const input = sum((usage) => usage.input_tokens);
  const state = trace.task?.state;
  return (
    <div className="mb-5 flex flex-wrap items-center gap-x-6 gap-y-2 text-sm text-muted">
      {state && <Badge tone={state === "done" ? "good" : state === "failed" ? "bad" : "plain"}>{wordOf(state)}</Badge>}
      {trace.spans[0] && <When at={trace.spans[0].started_at} />}
      <span>{tn("{count} model call", "{count} model calls", models.length)}</span>
      <span>{tn("{count} token", "{count} tokens", input + sum((usage) => usage.output_tokens))}</span>
      {input > 0 && <span>{t("{part} from cache", { part: percent(sum((usage) => usage.cached_tokens), input) })}</span>}
      <span>{money(sum((usage) => usage.cost_usd ?? 0))}</span>
      <code className="font-mono text-xs">{trace.trace_id}</code>
    </div>
  );
}

/** Whether the turn was stopped, which interrupts its running calls. */
const wasStopped = (trace: TraceAnswer) => trace.task?.state === "cancelled";

/** Replaces the text of an erased message or answer. */
function Gone() {
  return <span className="inline-flex items-center gap-1 text-muted italic"><Eraser size={12} aria-hidden /> {t("erased")}</span>;
}

/** The end of the wait: the answer, or now. */
const until = (approval: ApprovalAnswer) => approval.answered ?? (approval.state === "open" ? Date.now() / 1000 : approval.expires);

/** The approval that this span is about. */
const approvalOf = (span: SpanAnswer, approvals: readonly ApprovalAnswer[]) =>
  approvals.filter((each) => each.tool === span.title).sort((one, other) => Math.abs(one.asked - span.started_at) - Math.abs(other.asked - span.started_at))[0];

/** Details behind a span's name: the argument of a call, the size of a prompt. */
function about(span: SpanAnswer): string {
  if (["TOOL", "APPROVAL", "POLICY"].includes(span.type)) return span.event.text.split("\n")[0] ?? "";
  const sections = (span.metadata.sections as { bytes: number }[] | undefined) ?? [];
  if (!sections.length) return "";
  const size = t("{size} kB", { size: number(Math.round(sections.reduce((sum, each) => sum + each.bytes, 0) / 100) / 10) });
  const usage = span.event.usage;
  return usage?.input_tokens ? `${size}, ${t("{part} from cache", { part: percent(usage.cached_tokens, usage.input_tokens) })}` : size;
}

function Waterfall({ spans, chosen, onChoose, trace }: {
  spans: Placed[]; chosen: string; onChoose: (id: string) => void; trace: TraceAnswer;
}) {
  const [zoom, setZoom] = useState<[number, number] | null>(null);
  const slow = useMemo(() => critical(spans), [spans]);
  const all = [
    Math.min(...spans.map((each) => each.span.started_at)),
    Math.max(...spans.map((each) => each.span.started_at + lengthOf(each.span)), ...trace.approvals.map(until)),
  ] as const;
  const [start, end] = zoom ?? all;
  const span = spans.find((each) => each.span.id === chosen)?.span;
  const axis = axisOf(spans, start, Math.max(end, start + 0.001));
  const reach = (from: number, to: number) => `${100 * Math.max(0, axis.place(Math.min(to, end)) - axis.place(Math.max(from, start)))}%`;
  const place = (at: number) => `min(${100 * axis.place(Math.max(at, start))}%, 100% - 3px)`;
  const onKey = (event: Pressed<HTMLElement>) => {
    const at = spans.findIndex((each) => each.span.id === chosen);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: spans.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (!spans[to]) return;
    onChoose(spans[to].span.id);
    event.currentTarget.querySelectorAll<HTMLElement>("[role=option]")[to]?.focus();
  };
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return (
    <>
    <div className="mb-2 flex flex-wrap items-center gap-2 text-sm text-muted">
      <Button local look="quiet" icon={ZoomIn} disabled={!span?.seconds} onClick={() => span && setZoom([span.started_at - (span.seconds ?? 0) * 0.05, span.started_at + (span.seconds ?? 0) * 1.05])}>{t("Zoom to selection")}</Button>
      {zoom && <Button look="quiet" icon={ZoomOut} onClick={() => setZoom(null)}>{t("Show all")}</Button>}
      <span className="ms-auto">{t("Bold: critical path")}{axis.shortened && ` · ${t("Long waits are shortened")}`}</span>
    </div>
    <Wide label={t("Spans")} className="mb-6">
        <div className="grid grid-cols-[minmax(0,1fr)_3rem_3.5rem] @md:grid-cols-[minmax(9rem,3fr)_minmax(4rem,2fr)_4rem] @4xl:grid-cols-[minmax(9rem,26rem)_minmax(4rem,1fr)_4rem_4rem] items-center gap-3 border-b border-line px-3 py-1.5 text-xs text-muted">
          <span>{t("What")}</span>
          <div className="flex justify-between gap-1 whitespace-nowrap">{ticks.map((part) => <span key={part} className={part % 0.5 ? "hidden @5xl:inline" : part === 0.5 ? "hidden @2xl:inline" : ""}>{part ? duration(axis.at(part) - start) : "0"}</span>)}</div>
          <span className="text-end">{t("Duration")}</span>
          <span className="hidden text-end @4xl:block">{t("Cost")}</span>
        </div>
      <div role="listbox" aria-label={t("Spans")} onKeyDown={onKey}>
        {spans.map(({ span, depth }) => {
          const { colour, word } = kindOf(span.type);
          const ended = span.type === "APPROVAL" && span.status !== "asked";
          const asked = span.type === "APPROVAL" && !ended ? approvalOf(span, trace.approvals) : undefined;
          const verdict = span.type === "TOOL" ? trace.policy_decisions.find((each) => each.call === span.metadata.tool_call_id) : undefined;
          return (
            <button
              key={span.id}
              type="button"
              role="option"
              aria-selected={span.id === chosen}
              tabIndex={span.id === chosen ? 0 : -1}
              onClick={() => onChoose(span.id)}
              className={`grid min-h-9 w-full grid-cols-[minmax(0,1fr)_3rem_3.5rem] @md:grid-cols-[minmax(9rem,3fr)_minmax(4rem,2fr)_4rem] @4xl:grid-cols-[minmax(9rem,26rem)_minmax(4rem,1fr)_4rem_4rem] items-center gap-3 px-3 text-start text-sm ${span.id === chosen ? "bg-accent-soft" : "hover:bg-sunken"}`}
            >
              <span className="flex min-w-0 items-center gap-x-2 overflow-hidden ps-[calc(var(--depth)*8px)] @max-md:flex-wrap @max-md:py-1.5 @md:ps-[calc(var(--depth)*16px)]" style={{ "--depth": depth } as CSSProperties}>
                <SpanIcon type={span.type} />
                <span className={`shrink-0 text-muted ${ended ? "sr-only" : ["LLM", "TOOL"].includes(span.type) ? "@max-md:sr-only" : ""}`}>{span.kind === "turn" ? t("turn") : word()}</span>
                <span data-critical={slow.has(span.id) || undefined} className={`@max-md:min-w-0 @max-md:[overflow-wrap:anywhere] ${about(span) ? "@md:shrink-0" : "@md:truncate"} ${["LLM", "TOOL"].includes(span.type) ? "font-mono" : ""} ${slow.has(span.id) ? "font-bold" : ""}`}>
                  {labelOf(span) || <Gone />}
                </span>
                {span.kind === "model" && <span className="min-w-0 truncate">{purposeWord(span.event.classification)}</span>}
                {about(span) && <span dir="auto" className="hidden min-w-0 truncate @md:inline font-mono text-xs text-muted">{about(span)}</span>}
                {ended && <span className="shrink-0 text-muted">{approvalWord(span.status)}</span>}
                {wentWrong(span.event) && <Badge tone={wasStopped(trace) ? "plain" : "bad"}>{endWord(span.status, wasStopped(trace))}</Badge>}
                {asked && <span className="ms-auto hidden shrink-0 text-xs text-muted @md:inline">{t("waited {time}", { time: duration(Math.max(0, until(asked) - asked.asked)) })}{asked.state === "open" ? "" : ` · ${endedWord(asked)}`}</span>}
                {verdict && <span title={`${verdict.sentence} (${verdict.rule})`} className="ms-auto hidden shrink-0 text-xs text-muted @5xl:inline">{t(verdict.allowed ? "allowed" : verdict.verdict === "ask" ? "asked" : "refused")}</span>}
              </span>
              <span className="relative block h-4 overflow-hidden">
                {span.started_at <= end && span.started_at + lengthOf(span) >= start && <span
                  className={`absolute inset-y-0.5 rounded-sm ${span.kind === "turn" ? "opacity-40" : ""}`}
                  style={{
                    insetInlineStart: place(span.started_at),
                    width: `max(3px, ${reach(span.started_at, span.started_at + lengthOf(span))})`,
                    background: span.kind === "turn" ? "var(--event)" : colour,
                  }}
                />}
                {asked && (
                  <span title={t("waited for approval")} className="waits absolute inset-y-0.5 rounded-sm"
                    style={{ insetInlineStart: place(asked.asked), width: reach(asked.asked, until(asked)) }} />
                )}
              </span>
              <span className="text-end text-xs text-muted">{span.metadata.running ? t("running") : duration(span.seconds)}</span>
              <span className="hidden text-end text-xs text-muted @4xl:block">{span.event.usage ? money(span.event.usage.cost_usd) : ""}</span>
            </button>
          );
        })}
      </div>
    </Wide>
    </>
  );
}
