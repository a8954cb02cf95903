import { Activity, Brain, ChevronDown, ChevronUp, Crosshair, RotateCcw } from "lucide-react";
import { memo } from "react";
import { Link } from "wouter";
import { clock, day, duration, exact, money, t, tn } from "../../i18n";
import { call, may } from "../../api/client";
import { useChange } from "../../api/queries";
import { Button, Erased, Failure } from "../../parts/basics";
import { Copy } from "../../parts/copy";
import { Markdown } from "../../parts/markdown";
import { Files } from "../../parts/media";
import { maySee } from "../../parts/places";
import { useMidnight } from "../../parts/time";
import { SpanIcon, eventWord, wentWrong } from "../../parts/spans";
import type { PlacedEvent } from "../../api/schema";
import { WORDS, approvalWord, deliveryWord, endWord, purposeWord, sessionWord, turnWord, wordOf } from "../../parts/words";
import { FOLDED, linesOf, type Row } from "./rows";

type Acts = { onFocus: (trace: string) => void; onFilter: (name: string, value: string) => void; onOpen: (row: string) => void };

export const TimelineRow = memo(function TimelineRow({ row, chosen, dimmed, focused, open, ...acts }: { row: Row; chosen: boolean; dimmed: boolean; focused: boolean; open: boolean } & Acts) {
  if (row.type === "day") return <Day at={row.at} />;
  return (
    <article
      aria-label={`${eventWord(row.event)} ${row.event.name}`}
      className={`transition-opacity duration-150 ${dimmed ? "opacity-25" : ""} ${chosen ? "rounded-md outline-2 outline-accent" : ""}`}
    >
      {row.type === "line" ? <Line event={row.event} stopped={row.stopped} /> : <Message event={row.event} mine={row.type === "inbound"} focused={focused} open={open} {...acts} />}
    </article>
  );
}, (one, other) => one.row === other.row && one.chosen === other.chosen && one.dimmed === other.dimmed && one.focused === other.focused && one.open === other.open);

function Day({ at }: { at: number }) {
  useMidnight();
  return (
    <article aria-label={day(at)}>
      <h2 className="py-3 text-center text-xs font-semibold text-muted first-letter:uppercase">{day(at)}</h2>
    </article>
  );
}

function Message({ event, mine, focused, open, onFocus, onFilter, onOpen }: { event: PlacedEvent; mine: boolean; focused: boolean; open: boolean } & Acts) {
  const tainted = event.trust === "untrusted";
  const folds = linesOf(event.text) > FOLDED;
  return (
    <div className={`group flex py-1.5 ${mine ? "justify-end" : "justify-start"}`}>
      <div className={`max-w-[88%] min-w-52 rounded-xl border border-line bg-surface px-4 py-2.5 sm:max-w-[76%] ${tainted ? "tainted" : ""}`} style={{ borderInlineStart: mine ? undefined : "3px solid var(--outbound)", borderInlineEnd: mine ? "3px solid var(--inbound)" : undefined }}>
        <div className="mb-1 flex items-center gap-2 text-xs text-muted">
          <SpanIcon type={event.span_type} />
          {mine && (event.sender_name || event.sender_id) ? (
            <button type="button" className="truncate font-medium text-text hover:underline" onClick={() => onFilter("sender", event.sender_name || event.sender_id)}>
              {event.sender_name || event.sender_id}
            </button>
          ) : (
            <span className="font-medium text-text">{mine ? t("someone") : "Hob"}</span>
          )}
          {event.session && (
            <button type="button" className="truncate hover:text-text hover:underline" onClick={() => onFilter("session", event.session!)}>
              {sessionWord(event.session)}
            </button>
          )}
          {tainted && <span className="text-warn">{t("untrusted: {origin}", { origin: event.origin ?? "" })}</span>}
          {!event.authorized && <span className="text-bad">{t("not admitted")}</span>}
          <time className="ms-auto whitespace-nowrap" title={exact(event.at)}>{clock(event.at)}</time>
        </div>
        <Files files={event.files} />
        <div className={folds && !open ? "folded" : ""}>
          {event.text ? (
            mine ? <p dir="auto" className="whitespace-pre-wrap break-words">{event.text}</p> : <Markdown text={event.text} />
          ) : (
            !event.files.length && <Erased at={event.erased} />
          )}
        </div>
        <div className="mt-1.5 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
          {folds && (
            <button type="button" aria-expanded={open} onClick={() => onOpen(String(event.cursor))} className="inline-flex items-center gap-1 hover:text-text">
              {open ? <ChevronUp size={12} aria-hidden /> : <ChevronDown size={12} aria-hidden />} {open ? t("Fold") : t("Show all")}
            </button>
          )}
          <Link href={`/trace/${event.trace_id}`} className="inline-flex items-center gap-1 hover:text-text">
            <Activity size={12} aria-hidden /> {t("Trace")}
          </Link>
          <button type="button" aria-pressed={focused} onClick={() => onFocus(event.trace_id)} className={`inline-flex items-center gap-1 ${focused ? "font-medium text-accent" : "hover:text-text"}`}>
            <Crosshair size={12} aria-hidden /> {t("Focus")}
          </button>
          {event.text && (
            <Copy text={() => event.text} word={t("Copy")} />
          )}
          {mine && event.text && event.session && may("chat") && maySee("/chat") && (
            <Link href={`/chat?session=${encodeURIComponent(event.session)}&say=${encodeURIComponent(event.text)}`} className="inline-flex items-center gap-1 hover:text-text">
              <RotateCcw size={12} aria-hidden /> {t("Retry")}
            </Link>
          )}
        </div>
      </div>
    </div>
  );
}

/** A memory made from the turn, with undo. */
function Remembered({ event }: { event: PlacedEvent }) {
  const undo = useChange(["memory"], () => call("POST /api/v1/memory/facts", { body: { id: event.classification, action: "undo" } }));
  return (
    <div className="flex min-h-9 items-center gap-2.5 rounded-md px-3 text-sm text-muted">
      <Brain size={14} color="var(--event)" aria-hidden className="shrink-0" />
      <span className="shrink-0">{t("remembered")}</span>
      <span dir="auto" className="truncate text-text">{event.text || <Erased at={event.erased} />}</span>
      {undo.isError && <Failure error={undo.error} />}
      {undo.isSuccess ? (
        <span className="ms-auto shrink-0">{t("undone")}</span>
      ) : (
        event.text && <Button needs="admin" look="quiet" data-act="undo" disabled={undo.isPending} onClick={() => undo.mutate()} className="ms-auto shrink-0">{t("Undo")}</Button>
      )}
      <time className="shrink-0 text-xs whitespace-nowrap" title={exact(event.at)}>{clock(event.at)}</time>
    </div>
  );
}

/** An action in one line: name, argument, result, duration. */
function Line({ event, stopped }: { event: PlacedEvent; stopped: boolean }) {
  if (event.kind === "memory") return <Remembered event={event} />;
  const bad = wentWrong(event) && !(stopped && event.status === "unknown_outcome");
  const usage = event.usage;
  const status = event.kind === "delivery" ? deliveryWord(event.status) : event.kind === "approval" ? approvalWord(event.status) : endWord(event.status, stopped);
  const [about, told] = ["tool", "approval", "policy"].includes(event.kind) ? event.text.split("\n") : ["", event.text.split("\n")[0]];
  const purpose = event.kind === "model" ? purposeWord(event.classification) : "";
  const failed = event.kind === "turn" && event.classification === "failed";
  const result = told || (failed ? t("No answer: {why}.", { why: status }) : event.kind === "turn" ? turnWord(event.classification) : "");
  return (
    <Link href={`/trace/${event.trace_id}`} className="flex min-h-9 items-center gap-2.5 rounded-md px-3 text-sm text-muted hover:bg-sunken">
      <SpanIcon type={event.span_type} />
      <span className="flex min-w-0 flex-1 flex-col sm:flex-row sm:items-baseline sm:gap-2.5">
        <span className="flex min-w-0 items-baseline gap-2">
          {event.kind !== "tool" && <span className="shrink-0">{eventWord(event)}</span>}
          {!failed && <span className={`font-mono text-text ${WORDS[event.name] ? "min-w-0 truncate" : "shrink-0"}`}>{event.name ? wordOf(event.name) : t(event.kind)}</span>}
          {purpose && <span className="min-w-0 truncate">{purpose}</span>}
          {about && <code dir="auto" title={about} className="min-w-0 truncate font-mono">{about}</code>}
          {event.status !== "ok" && !failed && <span title={status} className={`min-w-0 shrink-[4] truncate ${bad ? "text-bad" : ""}`}>{status}</span>}
        </span>
        {result && (
          <span dir="auto" title={event.trust === "untrusted" ? t("untrusted: {origin}", { origin: event.name }) : result}
            className={`min-w-0 shrink-[3] truncate ${bad || failed ? "text-bad" : ""} ${event.trust === "untrusted" ? "underline decoration-warn decoration-dashed underline-offset-4" : ""}`}>
            {result}
          </span>
        )}
      </span>
      <span className="flex shrink-0 gap-4 text-xs">
        {usage && <span className="hidden sm:inline">{tn("{count} token", "{count} tokens", usage.input_tokens + usage.output_tokens)}</span>}
        {usage?.cost_usd ? <span className="hidden sm:inline">{money(usage.cost_usd)}</span> : null}
        {event.seconds !== null && <span>{duration(event.seconds)}</span>}
        <time className="hidden whitespace-nowrap sm:inline" title={exact(event.at)}>{clock(event.at)}</time>
      </span>
    </Link>
  );
}
