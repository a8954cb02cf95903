import { useQuery } from "@tanstack/react-query";
import { BookCheck, Check, Pencil, Undo2, X } from "lucide-react";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { call } from "../../api/client";
import { useChange } from "../../api/queries";
import { day, endOf, t } from "../../i18n";
import { Badge, Button, Card, Empty, Failure, Section, Skeleton, When } from "../../parts/basics";
import { changesSince, sinceYesterday, useFacts, type Change, type Fact } from "../../parts/facts";
import { LongList } from "../../parts/long";
import { AsOf } from "./asof";

type Settle = (body: { id: string; action: string; object?: string }) => void;

/** Facts: news since yesterday, contradictions, validity on a time axis, and the state at an earlier day. */
export function Facts() {
  const [search, setSearch] = useSearchParams();
  const on = search.get("on") ?? "";
  const settle = useChange(["memory"], (body: { id: string; action: string; object?: string }) => call("POST /api/v1/memory/facts", { body }));
  const told = useFacts();
  const then = useThen(on, search.get("known") === "true");
  if (told.isError) return <Failure error={told.error} retry={() => void told.refetch()} />;
  if (!told.data) return <Skeleton rows={4} className="h-14" />;
  if (!told.data.length) {
    return <Empty icon={BookCheck} title={t("No facts yet.")}>{t("Tell Hob where you live or who you work with. Each fact is kept with the time it applies to.")}</Empty>;
  }
  const now = told.data.filter((each) => each.recorded_to === null);
  const shown = on ? (then.data ?? []) : now;
  const set = (values: Record<string, string>) => setSearch({ show: "facts", ...(on ? { on } : {}), ...(search.get("known") ? { known: "true" } : {}), ...values }, { replace: true });
  return (
    <>
      {settle.isError && <Failure error={settle.error} />}
      {!on && <Changes changes={changesSince(told.data, sinceYesterday())} act={settle.mutate} busy={settle.isPending} />}
      <Rivals facts={shown} act={settle.mutate} busy={settle.isPending} past={!!on} />
      {!on && <Asked facts={now.filter((each) => each.state === "asked" && !each.contradicts?.length)} act={settle.mutate} busy={settle.isPending} />}
      <Section
        title={on ? t("True on {day}", { day: day(endOf(on)) }) : t("True now, and earlier")}
        more={
          <div className="flex flex-wrap items-center gap-3 text-sm text-muted">
            <AsOf day={on} onChoose={(date) => setSearch(date ? { show: "facts", on: date } : { show: "facts" }, { replace: true })} />
            {on && (
              <label className="flex items-center gap-2">
                <input type="checkbox" className="size-4 accent-(--accent)" checked={search.get("known") === "true"} onChange={(event) => set(event.target.checked ? { known: "true" } : { known: "" })} />
                {t("as known that day")}
              </label>
            )}
          </div>
        }
      >
        {then.isError ? <Failure error={then.error} /> : on && !then.data ? <Skeleton rows={3} className="h-12" /> : <Axis facts={shown.filter((each) => each.state !== "asked")} mark={on ? endOf(on) : null} />}
      </Section>
    </>
  );
}

function useThen(on: string, known: boolean) {
  const time = on ? Math.min(endOf(on), Date.now() / 1000) : 0;
  return useQuery({
    queryKey: ["memory", "facts", on, known],
    queryFn: async () => (await call("GET /api/v1/memory/facts", { query: { valid_at: time, ...(known ? { known_at: time } : {}) } })).facts as Fact[],
    enabled: !!on,
  });
}

function Sentence({ fact }: { fact: Fact }) {
  if (fact.sentence) return <span dir="auto" className="break-words first-letter:uppercase inline-block">{fact.sentence}</span>;
  return (
    <span dir="auto" className="break-words">
      <span className="font-medium">{fact.subject}</span> {fact.predicate.replaceAll("_", " ")} <span className="font-medium">{fact.object}</span>
    </span>
  );
}

/** Facts added, changed and ended since yesterday, each with its source and undo. */
function Changes({ changes, act, busy }: { changes: Change[]; act: Settle; busy: boolean }) {
  if (!changes.length) return null;
  const words = { added: t("added"), changed: t("changed"), closed: t("ended") };
  const tones = { added: "good", changed: "accent", closed: "plain" } as const;
  return (
    <Section title={t("New since yesterday")}>
      <Card>
        <LongList count={changes.length} size={64} className="divide-y divide-line" rowClass="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2.5" rowKey={(index) => changes[index]!.id} row={(index) => {
          const change = changes[index]!;
          return <>
            <div className="min-w-0 flex-1 basis-64">
              {change.lines.map(({ sign, fact }) => (
                <div key={`${sign}${fact.id}`} className={`-mx-2 rounded-sm px-2 py-0.5 ${sign === "+" ? "bg-(--diff-add)" : "bg-(--diff-del)"}`}>
                  <span className="inline-block w-4 font-mono" aria-label={sign === "+" ? t("now") : t("no longer")}>{sign}</span>
                  <Sentence fact={fact} /> {fact.valid_to !== null && <span className="text-xs text-muted">{t("until {day}", { day: day(fact.valid_to) })}</span>}
                  {fact.quote && <span dir="auto" className="block ps-4 text-xs text-muted">“{fact.quote}”</span>}
                </div>
              ))}
            </div>
            <Badge tone={tones[change.kind]}>{words[change.kind]}</Badge>
            <When at={change.at} className="text-xs text-muted" />
            <Button look="quiet" icon={Undo2} data-act="undo" disabled={busy} onClick={() => act({ id: change.undo, action: "undo" })}>{t("Undo")}</Button>
          </>;
        }} />
      </Card>
    </Section>
  );
}

/** Contradicting facts side by side, to keep one or replace both. */
function Rivals({ facts, act, busy, past }: { facts: Fact[]; act: Settle; busy: boolean; past: boolean }) {
  const known = new Map(facts.map((each) => [each.id, each]));
  const seen = new Set<string>();
  const groups: Fact[][] = [];
  for (const fact of facts) {
    if (seen.has(fact.id) || !fact.contradicts?.length) continue;
    const group = [fact, ...fact.contradicts.flatMap((id) => known.get(id) ?? [])];
    group.forEach((each) => seen.add(each.id));
    if (group.length > 1) groups.push(group);
  }
  if (!groups.length) return null;
  const keep = (fact: Fact, group: Fact[]) => {
    if (fact.state === "asked") act({ id: fact.id, action: "confirm" }); // the earlier fact ends by itself
    else group.filter((each) => each !== fact).forEach((each) => act({ id: each.id, action: "correct" }));
  };
  return (
    <Section title={t("Contradictions")}>
      <LongList count={groups.length} size={140} rowClass="pb-3" rowKey={(index) => groups[index]![0]!.id} row={(index) => {
        const group = groups[index]!;
        return (
          <div role="group" aria-label={t("Contradictions")} className="grid gap-3 sm:grid-cols-2">
            {group.map((fact) => (
              <Card key={fact.id} className="flex flex-col gap-2 border-warn p-4">
                <p><Sentence fact={fact} /> {fact.state === "asked" && <Badge tone="warn">{t("not sure")}</Badge>}</p>
                <p dir="auto" className="flex-1 text-xs text-muted">{span(fact)} · {t("said")} <When at={fact.said_at} />{fact.quote && ` · “${fact.quote}”`}</p>
                {!past && (
                  <div className="flex flex-wrap gap-2">
                    <Button icon={Check} disabled={busy} onClick={() => keep(fact, group)}>{t("Keep this")}</Button>
                    <Replace fact={fact} act={act} busy={busy} />
                  </div>
                )}
              </Card>
            ))}
          </div>
        );
      }} />
    </Section>
  );
}

function Replace({ fact, act, busy }: { fact: Fact; act: Settle; busy: boolean }) {
  const [text, setText] = useState<string | null>(null);
  if (text === null) return <Button look="quiet" icon={Pencil} onClick={() => setText(fact.object)}>{t("Replace…")}</Button>;
  return (
    <form className="flex min-w-0 flex-1 gap-2" onSubmit={(event) => { event.preventDefault(); act({ id: fact.id, action: "correct", object: text.trim() }); }}>
      <input autoFocus dir="auto" aria-label={t("Replacement fact")} value={text} onChange={(event) => setText(event.target.value)} className="h-9 min-w-0 flex-1 rounded-md border border-line bg-bg px-2.5" />
      <Button type="submit" look="main" icon={Check} label={t("Save")} disabled={busy || !text.trim()} />
    </form>
  );
}

function Asked({ facts, act, busy }: { facts: Fact[]; act: Settle; busy: boolean }) {
  if (!facts.length) return null;
  return (
    <Section title={t("Needs confirmation")}>
      <Card>
        <LongList count={facts.length} size={60} className="divide-y divide-line" rowClass="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5" rowKey={(index) => facts[index]!.id} row={(index) => {
          const each = facts[index]!;
          return <>
            <div className="min-w-0 flex-1 basis-64"><Sentence fact={each} /><p dir="auto" className="text-xs text-muted">{span(each)}{each.quote && ` · “${each.quote}”`}</p></div>
            <Button icon={Check} disabled={busy} onClick={() => act({ id: each.id, action: "confirm" })}>{t("True")}</Button>
            <Button look="quiet" icon={X} disabled={busy} onClick={() => act({ id: each.id, action: "correct" })}>{t("Not true")}</Button>
          </>;
        }} />
      </Card>
    </Section>
  );
}

/** Each fact with a bar for its validity, on one axis that ends now; open-ended if unknown. */
function Axis({ facts, mark }: { facts: Fact[]; mark: number | null }) {
  const now = Date.now() / 1000;
  const from = (fact: Fact) => fact.valid_from ?? fact.said_at;
  const first = Math.min(...facts.map(from), mark ?? now, now - 86_400);
  const whole = now - first;
  const place = (time: number) => `${Math.max(0, Math.min(100, (100 * (time - first)) / whole))}%`;
  const rows = facts.toSorted((one, other) => `${one.subject} ${one.predicate}`.localeCompare(`${other.subject} ${other.predicate}`) || from(one) - from(other));
  if (!rows.length) return <p className="text-muted">{t("Hob knew no facts about that day.")}</p>;
  return (
    <Card className="px-4 py-2">
      <LongList count={rows.length} size={53} label={t("Facts and when they apply")} rowClass="grid items-center gap-x-4 gap-y-1 py-1.5 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]"
        rowKey={(index) => rows[index]!.id} row={(index) => {
          const fact = rows[index]!;
          const end = fact.valid_to ?? now;
          return <>
              <div className={fact.valid_to !== null && fact.valid_to < now ? "text-muted" : ""}>
                <Sentence fact={fact} />
                <span dir="auto" className="block text-xs text-muted">{span(fact)}{fact.quote && ` · “${fact.quote}”`}</span>
              </div>
              <span aria-hidden className="relative block h-3 rounded-full bg-sunken" title={span(fact)}>
                <span data-bar className={`absolute inset-y-0 rounded-full ${fact.valid_to === null ? "bg-accent" : "bg-(--event)"} ${fact.valid_from === null ? "hatched" : ""}`}
                  style={{ insetInlineStart: place(from(fact)), width: `max(4px, ${(100 * (end - from(fact))) / whole}%)` }} />
                {mark !== null && <span className="absolute -inset-y-1 w-0.5 bg-text" style={{ insetInlineStart: place(mark) }} />}
              </span>
          </>;
        }} />
      <div aria-hidden className="mt-1 hidden grid-cols-[minmax(0,1fr)_minmax(0,1fr)] gap-x-4 border-t border-line py-1 text-xs text-muted sm:grid">
        <span />
        <span className="flex justify-between"><span>{day(first)}</span><span>{t("now")}</span></span>
      </div>
    </Card>
  );
}

function span(fact: Fact): string {
  const since = fact.valid_from === null ? "" : t("since {day}", { day: day(fact.valid_from) });
  if (fact.valid_to !== null) return [since, t("until {day}", { day: day(fact.valid_to) })].filter(Boolean).join(", ");
  return since || t("always, as far as Hob knows");
}
