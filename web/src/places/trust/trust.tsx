import { ShieldCheck, Undo2 } from "lucide-react";
import { Link, useSearchParams } from "wouter";
import { call, may } from "../../api/client";
import { useApprovals, useAudit, useChange, useGrants } from "../../api/queries";
import { exact, t } from "../../i18n";
import { ApprovalCard } from "../../parts/approval";
import { Badge, Button, Card, Empty, Failure, Page, Section, Skeleton, Tabs, When, Wide } from "../../parts/basics";
import { auditWord, sessionWord } from "../../parts/words";
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

function Audit() {
  const [search, setSearch] = useSearchParams();
  const kind = search.get("kind") ?? "";
  const audit = useAudit(kind);
  const kinds = [["", t("All")], ["decision", t("Decisions")], ["approval", t("Approvals")], ["authentication", t("Logins")], ["setting", t("Settings")]] as const;
  if (audit.isError) return <Failure error={audit.error} retry={() => void audit.refetch()} />;
  return (
    <>
      <div className="mb-4">
        <Tabs label={t("Kind")} tabs={kinds} chosen={kind as ""} onChoose={(chosen) => setSearch({ tab: "audit", ...(chosen ? { kind: chosen } : {}) }, { replace: true })} />
      </div>
      {audit.isPending ? (
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
              {audit.data.entries.toReversed().map((each) => (
                <tr key={each.seq} className="border-b border-line last:border-b-0">
                  <td className="px-2 py-1.5 whitespace-nowrap text-muted sm:px-4" title={exact(each.at)}><When at={each.at} /></td>
                  <td className="px-2 py-1.5 break-words sm:px-4">
                    <span className="text-muted">{auditWord(each.kind)}</span>{" "}
                    {each.trace_id ? (
                      <Link href={`/trace/${each.trace_id}`} className="font-mono text-accent hover:underline">{each.name}</Link>
                    ) : (
                      <span className="font-mono">{each.name}</span>
                    )}
                  </td>
                  <td className="px-2 py-1.5 sm:px-4 [&>span]:whitespace-normal">
                    <Badge tone={GOOD.has(each.outcome) ? "good" : BAD.has(each.outcome) ? "bad" : each.outcome === "ask" ? "warn" : "plain"}>{auditWord(each.outcome)}</Badge>
                  </td>
                  <td className="hidden px-4 py-1.5 font-mono text-xs sm:table-cell">{each.rule}</td>
                  <td className="hidden px-4 py-1.5 text-muted sm:table-cell">{t(each.sender)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {!audit.data.entries.length && <p className="px-4 py-6 text-center text-muted">{t("No matching entries.")}</p>}
        </Wide>
      )}
    </>
  );
}
