import { useQuery } from "@tanstack/react-query";
import { Activity, Bot, CircleX, Info, PanelRight, Paperclip, Pencil, RotateCcw, Wrench } from "lucide-react";
import { createContext, useContext, useMemo, useState, type ReactNode } from "react";
import { Link } from "wouter";
import { call, may } from "../../api/client";
import { useConnection } from "../../api/queries";
import type { EntryAnswer, HistoryMessageAnswer } from "../../api/schema";
import { clock, money, t, tn } from "../../i18n";
import { brief } from "../../parts/brief";
import { Badge, Button } from "../../parts/basics";
import { Copy } from "../../parts/copy";
import { Markdown } from "../../parts/markdown";
import { Document, Media } from "../../parts/media";
import { AskedBy } from "../../parts/question";
import { Unanswered } from "../../parts/unanswered";
import { sends } from "./composer";
import type { Attached } from "./drafts";
import { Beside } from "./panel";
import { Sent } from "./sent";

/** Edits an earlier message in a fork of the conversation up to there. */
export const Edit = createContext<(entry: EntryAnswer, text: string, files?: Attached[]) => void>(() => undefined);

/** The report of a background sub-agent; its first line names the sub-agent. */
function Report({ text }: { text: string }) {
  const [head, ...rest] = text.split("\n");
  return (
    <details className="rounded-md border border-line bg-surface px-3 py-1.5 text-sm">
      <summary className="min-h-7 text-muted">
        <Bot size={14} aria-hidden className="me-2 inline" />
        <span dir="auto">{head}</span>
      </summary>
      <div className="border-t border-line py-2"><Markdown text={rest.join("\n")} /></div>
    </details>
  );
}

const FILE = /^\[attachment: (.*), ([^,\s]+\/[^,\s]+?)(?:, (\d+) bytes)?\]$/;

/** Whether an entry is an attachment: a file, or the transcript of one. */
const isWith = (entry: EntryAnswer) => entry.role === "user" && (FILE.test(entry.text) || entry.text.startsWith("[spoken"));

/** Finds the file of an attachment among those sent with this trace. An image's entry has it. */
function useFileOf(trace: string | null | undefined, entries: EntryAnswer[]) {
  const sent = useQuery({
    queryKey: ["trace", trace, "files"],
    queryFn: () => call("GET /api/v1/timeline", { query: { trace_id: trace!, kind: "inbound" } }),
    enabled: !!trace && entries.some((each) => FILE.test(each.text) && !each.images.length),
  });
  return (entry: EntryAnswer): Attached | undefined => {
    const name = FILE.exec(entry.text)?.[1];
    const id = entry.images[0]?.id ?? sent.data?.events.flatMap((each) => each.files).find((each) => each.name === name)?.id;
    return name && id ? { id, name, voice: entry.origin === "owner" } : undefined; // of a file it would be "file"
  };
}

/** An attachment by name and size; a voice note by its transcript. */
function With({ entry }: { entry: EntryAnswer }) {
  const [, name, kind, size] = FILE.exec(entry.text) ?? [];
  const found = useFileOf(entry.trace_id, [entry])(entry);
  const file = entry.images.length ? undefined : found;
  return (
    <>
      <p className="flex items-center gap-2 text-sm text-muted">
        <Paperclip size={14} aria-hidden className="shrink-0" />
        {name ? <span title={kind}>{file ? <Document id={file.id} name={name} /> : <bdi className="break-all text-text">{name}</bdi>}{size && ` · ${tn("{count} byte", "{count} bytes", Number(size))}`}</span> : <span dir="auto">{entry.text}</span>}
      </p>
      {entry.images.map((each) => <Media key={each.id} id={each.id} />)}
    </>
  );
}

const STOPPED = "[The owner stopped this.]";
/** Results of calls that the owner decided about. */
const DENIED: Record<string, string> = { "The owner did not allow this call.": "denied by you", "Nobody allowed this call in time.": "not approved in time" };
const UNANSWERED = /^\[No answer was given to this: (.*)\.\]$/;

/** The failure of the last message, after a reload: the reason with its next step, while it can be retried. */
function Failed({ trace, children }: { trace: string; children: ReactNode }) {
  const failures = useQuery({ queryKey: ["tasks", "failed"], queryFn: () => call("GET /api/v1/tasks", { query: { all: true, state: "failed", limit: 50 } }) });
  const task = failures.data?.tasks.find((each) => each.trace_id === trace);
  const sent = useQuery({ queryKey: ["trace", trace, "outbound"], queryFn: () => call("GET /api/v1/timeline", { query: { trace_id: trace, kind: "outbound", limit: 1 } }), enabled: !!task });
  if (!task) return children;
  return <Unanswered id={task.id} code={task.reason} message={sent.data?.events[0]?.text ?? ""} />;
}

/** A note by Hob between messages. */
function Note({ text }: { text: string }) {
  const reason = UNANSWERED.exec(text)?.[1];
  const told = text === STOPPED ? t("Stopped.") : reason ? t("No answer: {reason}.", { reason: t(reason) }) : text.replace(/^\[([^]*)\]$/, "$1");
  return (
    <p role="note" className="flex items-start justify-center gap-2 text-sm text-muted">
      <Info size={14} aria-hidden className="mt-0.5 shrink-0" /> <span dir="auto" className="min-w-0 break-words whitespace-pre-wrap">{told}</span>
    </p>
  );
}

/** The names of files. */
function Names({ files }: { files: Attached[] }) {
  return files.map((each) => <p key={each.id} className="flex items-center gap-2 text-sm"><Paperclip size={14} aria-hidden className="shrink-0 text-muted" /> <bdi className="break-all">{each.voice ? t("Voice note") : each.name || t("Image")}</bdi></p>);
}

/** The owner's message. `files`: what was sent with one that is not in the history yet. */
export function Mine({ text, entry, more = [], files = [] }: { text: string; entry?: EntryAnswer; more?: EntryAnswer[]; files?: Attached[] }) {
  const say = useContext(Edit);
  const [draft, setDraft] = useState<string | null>(null);
  const lost = useConnection().state === "lost";
  const fileOf = useFileOf(entry?.trace_id, more);
  const again = more.filter((each) => FILE.test(each.text)).map(fileOf);
  const sent = again.filter((each) => !!each);
  const whole = sent.length === again.length;
  const resend = (text: string) => say(entry!, text, sent);
  if (entry && draft !== null) {
    return (
      <form className="flex flex-col gap-2 rounded-xl border border-accent bg-surface p-3" onSubmit={(event) => { event.preventDefault(); resend(draft.trim()); }}>
        <textarea autoFocus dir="auto" rows={Math.min(8, draft.split("\n").length + 1)} value={draft} onChange={(event) => setDraft(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") return setDraft(null);
            if (!sends(event)) return;
            event.preventDefault();
            if (draft.trim()) resend(draft.trim());
          }}
          aria-label={t("Edit message")} className="resize-none bg-transparent outline-none" />
        <Names files={sent} />
        <div className="flex flex-wrap items-center justify-end gap-2">
          <span className="me-auto text-xs text-muted">{t("Continues in a copy. This conversation stays as it is.")} {!whole && t("Some of its files are no longer there.")}</span>
          <Button onClick={() => setDraft(null)}>{t("Cancel")}</Button>
          <Button type="submit" look="main" disabled={!draft.trim()}>{t("Send")}</Button>
        </div>
      </form>
    );
  }
  const parts = entry && isWith(entry) ? [entry, ...more] : more;
  return (
    <div className="flex flex-col items-end gap-1">
      <div dir="auto" className={`max-w-[85%] rounded-2xl rounded-ee-md bg-accent-soft px-4 py-2.5 whitespace-pre-wrap break-words ${entry?.trust === "untrusted" ? "tainted" : ""}`}>
        {!(entry && isWith(entry)) && text}
        {parts.length > 0 && <div className={`flex flex-col gap-1.5 ${parts === more ? "mt-2" : ""}`}>{parts.map((each) => <With key={each.n} entry={each} />)}</div>}
        <Names files={files} />
      </div>
      {entry && !isWith(entry) && entry.images.map((each) => <Media key={each.id} id={each.id} />)}
      {entry && (isWith(entry) || !may("admin")) && <Under entry={entry} />}
      {entry && !isWith(entry) && may("admin") && (
        <Under entry={entry}>
          <button type="button" onClick={() => setDraft(entry.text)} className="inline-flex items-center gap-1 hover:text-text">
            <Pencil size={12} aria-hidden /> {t("Edit")}
          </button>
          <button type="button" disabled={lost} title={lost ? t("Offline. Available again when Hob is back.") : undefined} onClick={() => (whole ? resend(entry.text) : setDraft(entry.text))} className="inline-flex items-center gap-1 hover:text-text disabled:opacity-45">
            <RotateCcw size={12} aria-hidden /> {t("Retry")}
          </button>
        </Under>
      )}
    </div>
  );
}

function Under({ entry, children }: { entry: EntryAnswer; children?: ReactNode }) {
  const open = useContext(Beside);
  return (
    <div className="flex flex-wrap items-center gap-3 text-xs text-muted">
      <span>{clock(entry.at)}</span>
      {entry.trace_id && (
        <Link href={`/trace/${entry.trace_id}`} className="inline-flex items-center gap-1 hover:text-text">
          <Activity size={12} aria-hidden /> {t("Trace")}
        </Link>
      )}
      {entry.trace_id && (
        <button type="button" onClick={() => open(entry.trace_id!)} className="inline-flex items-center gap-1 hover:text-text">
          <PanelRight size={12} aria-hidden /> {t("Details")}
        </button>
      )}
      <Copy text={() => entry.text} word={t("Copy")} />
      {children}
    </div>
  );
}

/** The cost of an answer, shown on hover. */
function Spent({ trace }: { trace: string }) {
  const asked = useQuery({ queryKey: ["step", trace], queryFn: () => call("GET /api/v1/timeline", { query: { trace_id: trace, kind: "tool,model,approval", limit: 200 } }) });
  const used = (asked.data?.events ?? []).flatMap((each) => each.usage ?? []);
  if (!used.length) return null;
  const tokens = used.reduce((sum, each) => sum + each.input_tokens + each.output_tokens, 0);
  return <span className="invisible group-focus-within/answer:visible group-hover/answer:visible">{money(used.reduce((sum, each) => sum + (each.cost_usd ?? 0), 0))} · {tn("{count} token", "{count} tokens", tokens)}</span>;
}

/** The history: messages and answers, tool calls folded into one line each. `latest`: it ends with the last entry. */
export function Entries({ entries, messages, onChoose, latest }: { entries: EntryAnswer[]; messages: HistoryMessageAnswer[]; onChoose: (option: string) => void; latest: boolean }) {
  const results = useMemo(() => resultsOf(entries), [entries]);
  const withs = useMemo(() => withsOf(entries), [entries]);
  const lasts = useMemo(() => new Map(entries.filter((each) => each.role === "assistant").map((each) => [each.turn, each])), [entries]);
  const [seen, setSeen] = useState<string | null>(null);
  return entries.map((entry) => {
    if (entry.role === "tool" || withs.has(entry)) return null;
    return (
      <div key={entry.n} data-n={entry.n}>
        {entry.role === "user" && entry.origin === "hob" ? <HobNote entry={entry} last={latest && entry === entries.at(-1)} />
          : entry.role === "user" && entry.origin === "model" ? <Report text={entry.text} />
          : entry.role === "user" ? <Mine text={entry.text} entry={entry} more={entries.filter((each) => withs.get(each) === entry)} />
          : (
            <div className="flex flex-col gap-5">
              {lasts.get(entry.turn) === entry && messages.filter((each) => each.turn === entry.turn).map((each) => <Sent key={each.id} message={each} onChoose={onChoose} />)}
              <Answer entry={entry} results={results} onSeen={setSeen} spent={seen === entry.trace_id ? seen : null} />
            </div>
          )}
      </div>
    );
  });
}

function HobNote({ entry, last }: { entry: EntryAnswer; last: boolean }) {
  const note = <Note text={entry.text} />;
  return last && entry.trace_id && UNANSWERED.test(entry.text) ? <Failed trace={entry.trace_id}>{note}</Failed> : note;
}

function Answer({ entry, results, spent, onSeen }: { entry: EntryAnswer; results: Map<string, EntryAnswer>; spent: string | null; onSeen: (trace: string | null) => void }) {
  return (
    <div className="group/answer flex flex-col gap-2" onMouseEnter={() => onSeen(entry.trace_id)} onFocus={() => onSeen(entry.trace_id)}>
      {entry.text && <Markdown text={entry.text} />}
      {entry.calls.map((call) => {
        const result = results.get(`${entry.n} ${call.id}`);
        if (call.name === "ask_user" && !result?.is_error) return (
          <div key={call.id} className="flex flex-col gap-5">
            <AskedBy args={call.arguments} />
            {result && <Mine text={result.text} />}
          </div>
        );
        return (
          <div key={call.id} className="flex flex-col gap-2">
            <details className="rounded-md border border-line bg-surface px-3 py-1.5 text-sm">
              <summary className="flex min-h-7 items-center gap-2 text-muted">
                {result?.is_error && !DENIED[result.text] ? <CircleX size={14} aria-hidden className="shrink-0 text-bad" /> : <Wrench size={14} color="var(--tool)" aria-hidden className="shrink-0" />}
                <span className="font-mono text-text">{call.name}</span>
                <span dir="auto" className="min-w-0 flex-1 truncate font-mono">{brief(call.arguments)}</span>
                {result?.is_error && (DENIED[result.text] ? <Badge>{t(DENIED[result.text]!)}</Badge> : <Badge tone="bad">{t("failed")}</Badge>)}
              </summary>
              <pre dir="auto" className="mt-1 overflow-x-auto border-t border-line py-2 font-mono text-xs whitespace-pre-wrap">{call.arguments}</pre>
              {result && <pre dir="auto" className="max-h-80 overflow-auto border-t border-line py-2 font-mono text-xs whitespace-pre-wrap">{result.text}</pre>}
            </details>
            {result?.images.map((each) => <Media key={each.id} id={each.id} />)}
          </div>
        );
      })}
      {entry.text && !entry.calls.length && <Under entry={entry}>{spent && <Spent trace={spent} />}</Under>}
    </div>
  );
}

/** Results by call: call ids are unique only within their answer. */
function resultsOf(entries: EntryAnswer[]): Map<string, EntryAnswer> {
  const found = new Map<string, EntryAnswer>();
  let asked = 0;
  for (const entry of entries) {
    if (entry.role === "assistant") asked = entry.n;
    else if (entry.role === "tool") found.set(`${asked} ${entry.call}`, entry);
  }
  return found;
}

/** Maps each attachment to the first entry of its message. */
function withsOf(entries: EntryAnswer[]): Map<EntryAnswer, EntryAnswer> {
  const found = new Map<EntryAnswer, EntryAnswer>();
  let said: EntryAnswer | null = null;
  for (const entry of entries) {
    if (entry.role !== "user" || entry.origin === "hob") said = null;
    else if (said && said.turn === entry.turn && isWith(entry)) found.set(entry, said);
    else said = entry;
  }
  return found;
}
