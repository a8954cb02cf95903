import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { limitsOf, useUsage } from "../../api/queries";
import type { SpendingAnswer, SpentAnswer } from "../../api/schema";
import { dayOf, endOf, money, number, percent, t, tn } from "../../i18n";
import { Button, Card, Failure, Page, Section, Skeleton, Tabs, Wide } from "../../parts/basics";
import { maySee } from "../../parts/places";

const DIVISIONS = ["model", "session", "tool", "sender", "task"] as const;

/** Spending by day and purpose, and the limits. */
export function Costs() {
  const [search, setSearch] = useSearchParams();
  const days = Number(search.get("days") ?? 30);
  const by = DIVISIONS.find((each) => each === search.get("by")) ?? "model";
  const daily = useUsage("day", days);
  const divided = useUsage(by, days);
  const set = (values: Record<string, string>) =>
    setSearch({ days: String(days), by, ...values }, { replace: true });
  return (
    <Page
      title={t("Costs")}
      about={!daily.data ? "" : t("{cost} in {days} days, {calls}", { cost: money(daily.data.total.cost_usd), days, calls: tn("{count} model call", "{count} model calls", daily.data.total.calls) })}
      more={<Tabs label={t("Time range")} chosen={String(days) as "30"} onChoose={(chosen) => set({ days: chosen })} tabs={[["7", t("7 days")], ["30", t("30 days")], ["90", t("90 days")]] as never} />}
    >
      {daily.isError ? (
        <Failure error={daily.error} retry={() => void daily.refetch()} />
      ) : daily.isPending ? (
        <Skeleton rows={1} className="h-56" />
      ) : (
        <>
          <Days usage={daily.data} days={days} />
          <Limits usage={daily.data} />
        </>
      )}
      {!daily.isPending && (
        <Section
          title={t("Spending by")}
          more={<Tabs label={t("Group by")} chosen={by} onChoose={(chosen) => set({ by: chosen })} tabs={[["model", t("Models")], ["session", t("Conversations")], ["tool", t("Tools")], ["sender", t("People")], ["task", t("Tasks")]] as const} />}
        >
          {divided.isPending ? <Skeleton rows={3} className="h-10" /> : divided.data && <Rows rows={divided.data.rows} />}
          {by === "tool" && <p className="mt-2 text-sm text-muted">{t("The cost of a model call is split evenly among the tools whose results it read.")}</p>}
        </Section>
      )}
    </Page>
  );
}

function Days({ usage, days }: { usage: SpendingAnswer; days: number }) {
  const known = new Map(usage.rows.map((row) => [row.key, row]));
  const dates = Array.from({ length: days }, (_, back) => {
    const date = new Date(Date.now() - (days - 1 - back) * 86_400_000);
    return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`;
  });
  const named = (date: string) => dayOf(endOf(date));
  const paid = usage.total.cost_usd > 0;
  const value = (row?: SpentAnswer) => (row ? (paid ? row.cost_usd : row.input_tokens + row.output_tokens) : 0);
  const most = Math.max(...dates.map((date) => value(known.get(date))), paid ? 0.0001 : 1);
  const shown = (row?: SpentAnswer) => (paid ? money(row?.cost_usd ?? 0) : tn("{count} token", "{count} tokens", value(row)));
  return (
    <Section title={paid ? t("Cost by day") : t("Tokens by day")}>
      <Card className="p-4">
        <div className="mb-1 text-xs text-muted">{paid ? money(most) : number(most)}</div>
        <ol className="flex h-40 items-end gap-[2px] border-y border-line" aria-label={paid ? t("Cost by day") : t("Tokens by day")}>
          {dates.map((date) => {
            const row = known.get(date);
            return (
              <li key={date} className="group relative flex h-full min-w-0 flex-1 items-end" title={`${named(date)}: ${shown(row)}`}>
                <span className="sr-only">{named(date)}: {shown(row)}</span>
                <span aria-hidden className="w-full rounded-t-sm bg-accent transition-opacity group-hover:opacity-70" style={{ height: `${(100 * value(row)) / most}%`, minHeight: value(row) ? 2 : 0 }} />
              </li>
            );
          })}
        </ol>
        <div className="mt-1 flex justify-between text-xs text-muted"><span>{named(dates[0]!)}</span><span>{t("Today")}</span></div>
      </Card>
    </Section>
  );
}

function Limits({ usage }: { usage: SpendingAnswer }) {
  const limits = limitsOf(usage);
  return (
    <Section title={t("Limits")}>
      {limits.length ? (
        <Card className="divide-y divide-line">
          {limits.map((limit) => {
            const part = Math.min(1, limit.part);
            return (
              <div key={limit.key} className="px-4 py-3">
                <div className="mb-1.5 flex justify-between gap-3"><Setting name={limit.key} /><span>{limit.spent} / {limit.limit}</span></div>
                <div role="meter" aria-label={limit.key} aria-valuenow={Math.round(part * 100)} aria-valuemin={0} aria-valuemax={100} className="h-2 overflow-hidden rounded-full bg-sunken">
                  <div className={`h-full ${part > 0.8 ? "bg-warn" : "bg-accent"}`} style={{ width: `${part * 100}%` }} />
                </div>
              </div>
            );
          })}
        </Card>
      ) : (
        <p className="text-muted">{t("No limit is set. To set a daily limit:")} <Setting name="spending.daily" /></p>
      )}
    </Section>
  );
}

/** A setting's name, as a link for logins that may open the settings. */
function Setting({ name }: { name: string }) {
  const href = `/settings?find=${encodeURIComponent(name)}`;
  return maySee(href) ? <Link href={href} className="font-mono text-accent underline-offset-4 hover:underline">{name}</Link> : <span className="font-mono">{name}</span>;
}

const FIRST_ROWS = 90;

function Rows({ rows }: { rows: SpentAnswer[] }) {
  const [all, setAll] = useState(false);
  if (!rows.length) return <p className="text-muted">{t("No spending in this period.")}</p>;
  const heads = [t("What"), t("Calls"), t("Input tokens"), t("From cache"), t("Output tokens"), t("Cost")];
  return (
    <>
    <Wide label={t("Costs")}>
      <table className="w-full min-w-[34rem] text-sm">
        <thead className="text-xs text-muted">
          <tr className="border-b border-line">{heads.map((head, index) => <th key={head} scope="col" className={`px-4 py-2 font-medium ${index ? "text-end" : "text-start"}`}>{head}</th>)}</tr>
        </thead>
        <tbody>
          {rows.slice(0, all ? undefined : FIRST_ROWS).map((row) => (
            <tr key={row.key} className="border-b border-line last:border-b-0">
              <td className="max-w-64 truncate px-4 py-2 font-mono">{row.key || <span className="font-sans text-muted">{t("no tool")}</span>}</td>
              <td className="px-4 py-2 text-end">{number(row.calls)}</td>
              <td className="px-4 py-2 text-end">{number(row.input_tokens)}</td>
              <td className="px-4 py-2 text-end">{row.input_tokens ? percent(row.cached_tokens, row.input_tokens) : "–"}</td>
              <td className="px-4 py-2 text-end">{number(row.output_tokens)}</td>
              <td className="px-4 py-2 text-end font-medium">{money(row.cost_usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
    {!all && rows.length > FIRST_ROWS && <Button className="mt-3" local onClick={() => setAll(true)}>{t("Show all")}</Button>}
    </>
  );
}
