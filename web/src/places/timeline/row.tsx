import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Activity, Brain, Copy, Crosshair, RotateCcw } from "lucide-react";
import { memo } from "react";
import { Link } from "wouter";
import { clock, day, duration, exact, money, t, tn } from "../../i18n";
import { call } from "../../api/client";
import { Button, Failure } from "../../parts/basics";
import { Markdown } from "../../parts/markdown";
import { Files } from "../../parts/media";
import { SpanIcon, kindOf, wentWrong } from "../../parts/spans";
import type { PlacedEvent } from "../../api/schema";
import type { Row } from "./rows";

type Acts = { onFocus: (trace: string) => void; onFilter: (name: string, value: string) => void };

export const TimelineRow = memo(function TimelineRow({ row, chosen, dimmed, ...acts }: { row: Row; chosen: boolean; dimmed: boolean } & Acts) {
  if (row.type === "day") {
    return (
      <article aria-label={day(row.at)}>
        <h2 className="py-3 text-center text-xs font-semibold text-muted">{day(row.at)}</h2>
      </article>
    );
  }
  return (
    <article
      aria-label={`${kindOf(row.event.span_type).word()} ${row.event.name}`}
      className={`transition-opacity duration-150 ${dimmed ? "opacity-25" : ""} ${chosen ? "rounded-md outline-2 outline-accent" : ""}`}
    >
      {row.type === "line" ? <Line event={row.event} /> : <Message event={row.event} mine={row.type === "inbound"} {...acts} />}
    </article>
  );
}, (one, other) => one.row === other.row && one.chosen === other.chosen && one.dimmed === other.dimmed);

function Message({ event, mine, onFocus, onFilter }: { event: PlacedEvent; mine: boolean } & Acts) {
  const tainted = event.trust === "untrusted";
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
            <span className="font-medium text-text">{mine ? t("somebody") : "Hob"}</span>
          )}
          {event.session && (
            <button type="button" className="truncate hover:text-text hover:underline" onClick={() => onFilter("session", event.session!)}>
              {event.session}
            </button>
          )}
          {tainted && <span className="text-warn">{t("untrusted: {origin}", { origin: event.origin ?? "" })}</span>}
          {!event.authorized && <span className="text-bad">{t("not let in")}</span>}
          <time className="ms-auto whitespace-nowrap" title={exact(event.at)}>{clock(event.at)}</time>
        </div>
        <div className={event.files.length > 1 ? "" : "max-h-72 overflow-hidden"}>
          <Files files={event.files} />
          {event.text ? (
            mine ? <p dir="auto" className="whitespace-pre-wrap break-words">{event.text}</p> : <Markdown text={event.text} />
          ) : (
            !event.files.length && <p className="text-muted italic">{t("erased, or without text")}</p>
          )}
        </div>
        <div className="mt-1.5 flex gap-4 text-xs text-muted">
          <Link href={`/trace/${event.trace_id}`} className="inline-flex items-center gap-1 hover:text-text">
            <Activity size={12} aria-hidden /> {t("Trace")}
          </Link>
          <button type="button" onClick={() => onFocus(event.trace_id)} className="inline-flex items-center gap-1 hover:text-text">
            <Crosshair size={12} aria-hidden /> {t("Focus")}
          </button>
          {event.text && (
            <button type="button" onClick={() => void navigator.clipboard.writeText(event.text)} className="inline-flex items-center gap-1 hover:text-text">
              <Copy size={12} aria-hidden /> {t("Copy")}
            </button>
          )}
          {mine && event.text && event.session && (
            <Link href={`/chat?session=${encodeURIComponent(event.session)}&say=${encodeURIComponent(event.text)}`} className="inline-flex items-center gap-1 hover:text-text">
              <RotateCcw size={12} aria-hidden /> {t("Again")}
            </Link>
          )}
        </div>
      </div>
    </div>
  );
}

/** What was remembered of the turn, with the way back. */
function Remembered({ event }: { event: PlacedEvent }) {
  const client = useQueryClient();
  const undo = useMutation({
    mutationFn: () => call("POST /api/v1/memory/facts", { body: { id: event.classification, action: "undo" } }),
    onSuccess: () => void client.invalidateQueries({ queryKey: ["memory"] }),
  });
  return (
    <div className="flex min-h-9 items-center gap-2.5 rounded-md px-3 text-sm text-muted">
      <Brain size={14} color="var(--event)" aria-hidden className="shrink-0" />
      <span className="shrink-0">{t("remembered")}</span>
      <span dir="auto" className="truncate text-text">{event.text || t("erased, or without text")}</span>
      {undo.isError && <Failure error={undo.error} />}
      {undo.isSuccess ? (
        <span className="ms-auto shrink-0">{t("taken back")}</span>
      ) : (
        event.text && <Button look="quiet" data-act="undo" disabled={undo.isPending} onClick={() => undo.mutate()} className="ms-auto shrink-0">{t("Undo")}</Button>
      )}
      <time className="shrink-0 text-xs whitespace-nowrap" title={exact(event.at)}>{clock(event.at)}</time>
    </div>
  );
}

function Line({ event }: { event: PlacedEvent }) {
  if (event.kind === "memory") return <Remembered event={event} />;
  const bad = wentWrong(event);
  const usage = event.usage;
  return (
    <Link href={`/trace/${event.trace_id}`} className="flex min-h-9 items-center gap-2.5 rounded-md px-3 text-sm text-muted hover:bg-sunken">
      <SpanIcon type={event.span_type} />
      <span className="shrink-0">{kindOf(event.span_type).word()}</span>
      <span className="truncate font-mono text-text">{event.name || event.kind}</span>
      {event.kind === "system" && <span dir="auto" className="truncate">{event.text.split("\n")[0]}</span>}
      {event.kind === "turn" && <span className={event.classification === "failed" ? "text-bad" : ""}>{t(event.classification)}</span>}
      {event.status !== "ok" && <span className={`truncate ${bad ? "text-bad" : ""}`}>{t(event.status)}</span>}
      <span className="ms-auto flex shrink-0 gap-4 text-xs">
        {usage && <span className="hidden sm:inline">{tn("{count} token", "{count} tokens", usage.input_tokens + usage.output_tokens)}</span>}
        {usage?.cost_usd ? <span className="hidden sm:inline">{money(usage.cost_usd)}</span> : null}
        {event.seconds !== null && <span>{duration(event.seconds)}</span>}
        <time className="whitespace-nowrap" title={exact(event.at)}>{clock(event.at)}</time>
      </span>
    </Link>
  );
}
