import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, fetchFile, may } from "../../api/client";
import type { ApprovalAnswer, DecisionAnswer, SpanAnswer } from "../../api/schema";
import { duration, exact, money, number, t, tn } from "../../i18n";
import { ApprovalCard } from "../../parts/approval";
import { Badge, Button, Erased } from "../../parts/basics";
import { Files, Media } from "../../parts/media";
import { Markdown } from "../../parts/markdown";
import { SpanIcon, kindOf, wentWrong } from "../../parts/spans";
import { Block, Changed } from "../../parts/changed";
import { Recalled, type RecalledMemory } from "../../parts/recalled";
import { effectWord, endWord, turnWord } from "../../parts/words";
import { Code } from "./code";
import { Prompt, type Part } from "./prompt";

type Calls = { name: string; arguments: unknown }[];

/** Details of the chosen span: request, outcome, and the policy decision. */
export function Detail({ span, decisions, approvals, erased, stopped }: {
  span: SpanAnswer; decisions: DecisionAnswer[]; approvals: ApprovalAnswer[]; erased: number | null; stopped: boolean;
}) {
  const data = span.metadata;
  const text = (name: string) => (typeof data[name] === "string" ? data[name] : "");
  const path = (data.arguments as { path?: string } | undefined)?.path;
  const tools = useQuery({ queryKey: ["tools"], queryFn: () => call("GET /api/v1/tools"), retry: false, enabled: span.type === "TOOL" && may("read") });
  const effects = tools.data?.tools.find((each) => each.name === span.title)?.effects ?? [];
  const verdicts = decisions.filter((each) => span.type === "TOOL" && each.call === data.tool_call_id);
  const mine = approvals.filter((each) => span.kind === "turn" || span.type === "APPROVAL" || (span.type === "TOOL" && each.tool === span.title));
  return (
    <section aria-label={t("Details")} tabIndex={0} className="@container flex flex-col gap-4 xl:sticky xl:top-0 xl:max-h-[calc(100dvh-7rem)] xl:overflow-y-auto">
      <div className="flex flex-wrap items-center gap-3">
        <SpanIcon type={span.type} size={18} />
        <h2 className="min-w-0 text-lg font-semibold break-words">{span.kind === "turn" ? t("turn") : kindOf(span.type).word()} <span className={["LLM", "TOOL"].includes(span.type) ? "font-mono font-medium" : "font-medium"}>{span.kind === "turn" ? turnWord(span.title) : t(span.title)}</span></h2>
        {wentWrong(span.event) && <Badge tone={stopped ? "plain" : "bad"}>{endWord(span.status, stopped)}</Badge>}
        {text("trust") === "untrusted" && <Badge tone="warn">{t("untrusted content")}</Badge>}
        <span className="text-sm text-muted">{exact(span.started_at)}{span.seconds !== null && ` · ${duration(span.seconds)}`}</span>
      </div>
      {erased !== null && ["LLM", "TOOL"].includes(span.type) && !("arguments" in data || "model" in data || "fault" in data) && <Erased at={erased} />}
      {span.type === "LLM" && <Prompt turn={span.event.turn ?? ""} step={Number(data.step ?? 0)} sections={(data.sections as Part[] | undefined) ?? []} />}
      {span.type === "LLM" && <Tokens span={span} />}
      {(span.type === "LLM" || span.type === "RECALL") && <Recalled turn={span.event.turn ?? ""} memories={(data.recalled as RecalledMemory[] | undefined) ?? []} />}
      {span.kind === "turn" && span.event.turn && <Changed turn={span.event.turn} />}
      {verdicts.map((each) => (
        <p key={each.time} className="text-sm">
          <Badge tone={each.allowed ? "good" : each.verdict === "ask" ? "warn" : "bad"}>
            {each.allowed ? t("allowed") : each.verdict === "ask" ? t("asked") : t("refused")}
          </Badge>{" "}
          {each.sentence} {each.reason && <span className="text-muted">{each.reason}</span>} <code className="font-mono text-xs text-muted">{each.rule}</code>
        </p>
      ))}
      {span.type === "TOOL" && <Effects effects={effects} />}
      {data.arguments !== undefined && <Block title={t("Arguments")}><Arguments given={data.arguments} /></Block>}
      {text("reasoning") && <Block title={t("Reasoning")} folded><Code>{text("reasoning")}</Code></Block>}
      {text("result") && (
        <Block title={data.error ? t("Error") : t("Result")}>
          <Output text={text("result")} more={Number(data.result_length ?? 0) > text("result").length} rest={text("rest")} span={span} from={text("trust") === "untrusted" ? [t(text("origin")), span.title].join(", ") : ""} name={`${span.title}.txt`} />
        </Block>
      )}
      {span.type === "TOOL" && span.event.status === "ok" && path && effects.includes("writes") && span.event.turn && <Changed turn={span.event.turn} path={path} />}
      {text("response_text") && <Block title={t("Answer")}><div className="px-4 py-3"><Markdown text={text("response_text")} /></div></Block>}
      {Array.isArray(data.tool_calls) && (data.tool_calls as Calls).length > 0 && (
        <Block title={t("Tool calls")}>
          {(data.tool_calls as Calls).map((each, index) => (
            <div key={index} className="border-t border-line px-4 py-2 first:border-t-0">
              <p className="font-mono font-medium">{each.name}</p>
              <pre dir="auto" className="overflow-x-auto font-mono text-xs whitespace-pre-wrap">{pretty(each.arguments)}</pre>
            </div>
          ))}
        </Block>
      )}
      {(span.type === "INBOUND" || span.type === "OUTBOUND") && (
        <Block title={t("Text")}><div className="px-4 py-3"><Files files={span.files} />{span.output ? <Markdown text={span.output} /> : !span.files.length && <Erased at={span.event.erased} />}</div></Block>
      )}
      {mine.map((each) => <ApprovalCard key={each.id} approval={each} />)}
    </section>
  );
}

/** The effects that calls of this tool may have. */
function Effects({ effects }: { effects: readonly string[] }) {
  return effects.length ? <p className="text-sm text-muted">{t("Can {effects}", { effects: effects.map(effectWord).join(", ") })}</p> : null;
}

/** The arguments by name; multi-line values verbatim. */
function Arguments({ given }: { given: unknown }) {
  if (typeof given !== "object" || given === null || Array.isArray(given) || !Object.keys(given).length) return <Code>{pretty(given)}</Code>;
  return (
    <dl className="divide-y divide-line">
      {Object.entries(given).map(([name, value]) => (
        <div key={name} className="gap-4 px-4 py-2 @lg:flex">
          <dt className="w-28 shrink-0 truncate pt-px text-sm text-muted" title={name}>{name}</dt>
          <dd className="min-w-0 flex-1"><pre dir="auto" tabIndex={0} className="max-h-[28rem] overflow-auto font-mono text-xs leading-5 whitespace-pre-wrap break-words">{pretty(value)}</pre></dd>
        </div>
      ))}
    </dl>
  );
}

/** A tool's result; the part that did not fit is fetched on demand. */
function Output({ text, more, rest, span, from, name }: { text: string; more: boolean; rest: string; span: SpanAnswer; from: string; name: string }) {
  const [open, setOpen] = useState(false);
  const whole = useQuery({
    queryKey: ["rest", span.id],
    queryFn: async () => {
      if (rest) return (await fetchFile(rest)).text();
      const trace = await call("GET /api/v1/trace/{id}", { path: { id: span.event.trace_id }, query: { whole: true } });
      return String(trace.spans.find((each) => each.id === span.id)?.metadata.result ?? "");
    },
    enabled: open, retry: false, gcTime: 60_000,
  });
  return (
    <>
      <div className={from ? "p-2" : ""}>
        {from && <p className="px-2 pb-2 text-xs"><Badge tone="warn">{t("untrusted: {origin}", { origin: from })}</Badge></p>}
        <div className={from ? "tainted" : ""}><Code>{whole.data ?? text}</Code></div>
      </div>
      {(rest || more) && (
        <div className="flex flex-wrap items-center gap-3 border-t border-line px-4 py-2 text-sm text-muted">
          {whole.isError ? t("This file is no longer stored.") : whole.data ? (
            <><span>{t("Full output, {size}", { size: tn("{count} character", "{count} characters", whole.data.length) })}</span>{rest && <Media id={rest} name={name} />}</>
          ) : (
            <><span>{t("Output shortened.")}</span><Button disabled={whole.isFetching} onClick={() => setOpen(true)}>{t("Show all")}</Button></>
          )}
        </div>
      )}
    </>
  );
}

function Tokens({ span }: { span: SpanAnswer }) {
  const usage = span.event.usage;
  if (!usage) return null;
  const fresh = usage.input_tokens - usage.cached_tokens;
  const whole = Math.max(1, usage.input_tokens + usage.output_tokens);
  const parts: [string, number, string][] = [
    [t("from cache"), usage.cached_tokens, "waits opacity-70"],
    [t("uncached"), fresh, "bg-(--approval)"],
    [t("answered"), usage.output_tokens, "bg-(--outbound)"],
  ];
  return (
    <div>
      <div className="flex h-3 overflow-hidden rounded-full bg-sunken" aria-hidden>
        {parts.map(([name, count, look]) => <span key={name} className={look} style={{ width: `${(100 * count) / whole}%` }} />)}
      </div>
      <dl className="mt-2 flex flex-wrap gap-x-6 gap-y-1 text-sm text-muted">
        {parts.map(([name, count, look]) => (
          <div key={name} className="flex items-center gap-2">
            <span aria-hidden className={`size-2.5 rounded-sm ${look}`} />
            <dt>{name}</dt>
            <dd className="font-medium text-text">{number(count)}</dd>
          </div>
        ))}
        <div className="flex gap-2"><dt>{t("Cost")}</dt><dd className="font-medium text-text">{money(usage.cost_usd)}</dd></div>
      </dl>
    </div>
  );
}

const pretty = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
