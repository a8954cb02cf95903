import { ShieldCheck, Undo2 } from "lucide-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { call, may } from "../../api/client";
import { useApprovals, useChange, useGrants } from "../../api/queries";
import type { AuditAnswer } from "../../api/schema";
import { exact, t } from "../../i18n";
import { ApprovalCard } from "../../parts/approval";
import { Badge, Button, Card, Empty, Failure, Page, Section, Skeleton, Tabs, When, Wide } from "../../parts/basics";
import { actionWord, auditWord, detailWord, sessionWord } from "../../parts/words";
import { NotifyChoice } from "../../parts/notify";
import { Explain } from "./explain";
import { People } from "./people";
import { Sandbox, Secrets } from "./reach";
import { Tools } from "./tools";

/** Tabs for the owner only. */
const OWNERS = new Set<string>(["people", "secrets", "sandbox"]);
const GOOD = new Set(["allow", "allowed", "used", "ok", "right", "approved"]);
const BAD = new Set(["deny", "denied", "wrong", "too_often", "turned_away", "block", "broken"]);

/** Approvals, standing approvals, and past decisions. */
export function Trust() {
  const [search, setSearch] = useSearchParams();
  const tab = (["audit", "people", "explain", "tools", "secrets", "sandbox"] as const).find((each) => each === search.get("tab") && (may("admin") || !OWNERS.has(each))) ?? "approvals";
  return (
    <Page
      title={t("Trust")}
      about={t("What Hob may do, what it asks you, and what was decided.")}
    >
      <div className="mb-6">
        <Tabs
          label={t("View")}
          chosen={tab}
          onChoose={(chosen) => setSearch(chosen === "approvals" ? {} : { tab: chosen }, { replace: true })}
          tabs={([["approvals", t("Approvals")], ["people", t("People")], ["tools", t("Tools")], ["secrets", t("Secrets")], ["sandbox", t("Sandbox")], ["explain", t("What if…")], ["audit", t("Audit")]] as const).filter(([name]) => may("admin") || !OWNERS.has(name))}
        />
      </div>
      {tab === "audit" ? <Audit /> : tab === "people" ? <People /> : tab === "tools" ? <Tools /> : tab === "explain" ? <Explain /> : tab === "secrets" ? <Secrets /> : tab === "sandbox" ? <Sandbox /> : <Approvals />}
    </Page>
  );
}

function Approvals() {
  const approvals = useApprovals();
  const grants = useGrants();
  const revoke = useChange(["grants"], (id: string) => call("DELETE /api/v1/grants/{id}", { path: { id } }));
  const asked = approvals.data?.approvals ?? [];
  const given = grants.data?.grants ?? [];
  return (
    <>
      <Section title={t("Waiting for you")}>
        {approvals.isError ? (
          <Failure error={approvals.error} retry={() => void approvals.refetch()} />
        ) : approvals.isPending ? (
          <Skeleton rows={2} className="h-40" />
        ) : asked.length ? (
          <div className="flex flex-col gap-3">{asked.map((each) => <ApprovalCard key={each.id} approval={each} />)}</div>
        ) : (
          <Empty icon={ShieldCheck} title={t("Nothing to approve.")}>
            {t("Hob asks here before it does anything that can't be undone, sends something, or changes its own instructions.")}
          </Empty>
        )}
        <NotifyChoice />
      </Section>
      <Section title={t("Standing approvals")}>
        {given.length ? (
          <Card className="divide-y divide-line">
            {given.map((each) => (
              <div key={each.id} className="flex flex-wrap items-center gap-3 px-4 py-2.5">
                <div className="min-w-0 flex-1">
                  <p className="font-mono font-medium">{each.tool}</p>
                  <p className="text-xs text-muted">
                    {each.session ? t("in {session}", { session: sessionWord(each.session) }) : t("everywhere")}
                    {each.directory && ` · ${each.directory}`} · <When at={each.given} />
                  </p>
                </div>
                <Button needs="approve" look="danger" icon={Undo2} disabled={revoke.isPending} onClick={() => revoke.mutate(each.id)}>
                  {t("Revoke")}
                </Button>
              </div>
            ))}
          </Card>
        ) : (
          <p className="text-muted">{t("None. Hob asks every time.")}</p>
        )}
      </Section>
    </>
  );
}

const PAGE = 100;

/** What happened in the audit log: searched, and older entries on demand. */
function Audit() {
  const [search, setSearch] = useSearchParams();
  const kind = search.get("kind") ?? "";
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.trim());
  const audit = useInfiniteQuery({
    queryKey: ["audit", kind, wanted],
    queryFn: ({ pageParam }) => call("GET /api/v1/audit", { query: { limit: PAGE, kind, text: wanted, before: pageParam || undefined } }),
    initialPageParam: 0,
    getNextPageParam: (page) => (page.entries.length === PAGE ? page.entries[0]!.seq : undefined),
    placeholderData: (before) => before,
    refetchOnWindowFocus: "always", // not each entry has an event
  });
  const kinds = [["", t("All")], ["decision", t("Decisions")], ["approval", t("Approvals")], ["authentication", t("Logins")], ["setting", t("Settings")]] as const;
  const entries = audit.data?.pages.flatMap((page) => page.entries.toReversed()) ?? [];
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <Tabs label={t("Kind")} tabs={kinds} chosen={kind as ""} onChoose={(chosen) => setSearch({ tab: "audit", ...(chosen ? { kind: chosen } : {}) }, { replace: true })} />
        <input type="search" value={text} onChange={(event) => setText(event.target.value)} aria-label={t("Search the audit log")} placeholder={t("Search the audit log")}
          className="h-10 min-w-48 flex-1 rounded-md border border-line bg-surface px-3" />
      </div>
      {audit.isError ? (
        <Failure error={audit.error} retry={() => void audit.refetch()} />
      ) : audit.isPending ? (
        <Skeleton rows={8} className="h-9" />
      ) : (
        <Wide label={t("Audit")}>
          <table className="w-full text-sm sm:min-w-[36rem]">
            <thead className="text-start text-xs text-muted">
              <tr className="border-b border-line">
                {[t("When"), t("What"), t("Outcome"), t("Rule"), t("For")].map((each, place) => (
                  <th key={each} scope="col" className={`px-2 py-2 text-start font-medium sm:px-4 ${place > 2 ? "hidden sm:table-cell" : ""}`}>{each}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {entries.map((each) => <AuditRow key={each.seq} entry={each} />)}
            </tbody>
          </table>
          {!entries.length && <p className="px-4 py-6 text-center text-muted">{t("No matching entries.")}</p>}
        </Wide>
      )}
      {audit.hasNextPage && <Button className="mt-3" disabled={audit.isFetchingNextPage} onClick={() => void audit.fetchNextPage()}>{t("Older entries")}</Button>}
    </>
  );
}

function AuditRow({ entry }: { entry: AuditAnswer }) {
  const detail = detailOf(entry);
  const action = actionWord(entry.kind, entry.name);
  return (
    <tr className="border-b border-line align-top last:border-b-0">
      <td className="px-2 py-1.5 whitespace-nowrap text-muted sm:px-4" title={exact(entry.at)}><When at={entry.at} /></td>
      <td className="px-2 py-1.5 break-words sm:px-4">
        {!action && <span className="text-muted">{auditWord(entry.kind)} </span>}
        {action ? (
          <span title={entry.name}>{action}</span>
        ) : entry.trace_id ? (
          <Link href={`/trace/${entry.trace_id}`} className="font-mono text-accent hover:underline">{entry.name}</Link>
        ) : (
          <span className="font-mono">{entry.name}</span>
        )}
        {detail && <p dir="auto" className="text-xs break-words text-muted">{detail}</p>}
      </td>
      <td className="px-2 py-1.5 sm:px-4 [&>span]:whitespace-normal">
        <Badge tone={GOOD.has(entry.outcome) ? "good" : BAD.has(entry.outcome) ? "bad" : entry.outcome === "ask" ? "warn" : "plain"}>{auditWord(entry.outcome)}</Badge>
      </td>
      <td title={entry.rule} className={`hidden px-4 py-1.5 text-xs sm:table-cell ${entry.sentence ? "" : "font-mono"}`}>{entry.sentence || entry.rule}</td>
      <td className="hidden px-4 py-1.5 text-muted sm:table-cell">{t(entry.sender)}</td>
    </tr>
  );
}

/** The details of an entry in one line, without those for programs. */
function detailOf(entry: AuditAnswer): string {
  if (entry.detail === null) return t("erased");
  let values: Record<string, unknown>;
  try {
    values = JSON.parse(entry.detail || "{}") as Record<string, unknown>;
  } catch {
    return entry.detail;
  }
  return Object.entries(values)
    .filter(([name]) => name !== "call" && name !== "hash")
    .map(([name, value]) => {
      const said = value === null ? t("not set") : typeof value === "object" ? JSON.stringify(value) : name === "note" ? entry.note : t(String(value));
      return UNNAMED.has(name) ? said : `${detailWord(name)} ${said}`;
    })
    .join(", ");
}

/** Details that need no name. */
const UNNAMED = new Set(["id", "reason", "note", "who", "target", "findings"]);
