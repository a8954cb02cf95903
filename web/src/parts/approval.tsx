import { ArrowRight, Check, ChevronDown, X } from "lucide-react";
import { useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { may } from "../api/client";
import { useAnswer, useApprovals, useConnection } from "../api/queries";
import type { ApprovalAnswer } from "../api/schema";
import { moment, t } from "../i18n";
import { argumentWord, endedWord, sessionWord } from "./words";
import { Badge, Button, Card, When, useSettled } from "./basics";
import { Diff } from "./diff";
import { maySee } from "./places";
import { type Said, headline, spoken } from "./headline";

const READ = "this conversation holds text that is not yours: {what}";

/** Untrusted sources that the turn has read, if known. */
function heard(said: Said | undefined): string {
  if (!said || typeof said === "string") return "";
  if (said.message === READ && said.values.what) return spoken(said.values.what);
  return Object.values(said.values ?? {}).map(heard).find(Boolean) ?? "";
}

/** The chain from untrusted content to the request. */
function Chain({ approval }: { approval: ApprovalAnswer }) {
  const what = heard(approval.question?.reason as Said | undefined);
  if (!what) return null;
  return (
    <ol aria-label={t("Where this request may come from")} className="mt-2 flex flex-wrap items-center gap-x-1.5 gap-y-1 text-sm">
      {[what, t("read in this conversation"), t("wants to use {tool}", { tool: approval.tool })].map((each, place) => (
        <li key={each} className="flex items-center gap-1.5">
          {place > 0 && <ArrowRight size={14} aria-hidden className="text-muted" />}
          <span className={`rounded-md px-2 py-0.5 ${place ? "bg-sunken" : "tainted"}`}>{each}</span>
        </li>
      ))}
    </ol>
  );
}

const BAR = "│ ";

/** The diff of a file's change, if it shows the whole change: the last lines of the question, in which nothing is invisible. */
function diffOf(approval: ApprovalAnswer): string {
  const diff = approval.question?.diff;
  if (typeof diff !== "string" || !/^@@ /m.test(diff) || /^\((too long|.* is stored otherwise)/m.test(diff)) return "";
  const count = diff.replace(/\n$/, "").split("\n").length;
  return approval.shown.split("\n").slice(-count).map((line) => line.slice(BAR.length)).join("\n");
}

/** The exact arguments, with the names of common ones in words. Not repeated: what the heading says in full, letter by letter. */
function linesOf(approval: ApprovalAnswer, object: string, name: string): string[] {
  const lines = approval.shown.split("\n").slice(approval.why ? 1 : 0); // the first line repeats the heading
  const at = lines.indexOf(`${name}:`);
  if (object && at >= 0 && lines[at + 1] === BAR + object && !lines[at + 2]?.startsWith(BAR)) lines.splice(at, 2);
  return lines.map((line) => (line.startsWith(BAR) ? line : line.replace(/^\w+(?=( \([^()]*\))?:$)/, argumentWord)));
}

/** An approval: the action, its exact arguments, the reason, and the possible scopes. */
export function ApprovalCard({ approval }: { approval: ApprovalAnswer }) {
  const answer = useAnswer();
  const lost = useConnection().state === "lost";
  const [asking, setAsking] = useState<string | null>(null);
  const { lead, object, name } = headline(approval);
  const why = approval.why ? `${approval.why[0]?.toUpperCase()}${approval.why.slice(1)}.` : approval.reason;
  const diff = diffOf(approval);
  const lines = linesOf(approval, diff ? "" : object, name);
  const drawn = diff ? diff.split("\n") : lines;
  const exact = diff ? lines.slice(0, -drawn.length - 1) : []; // the diff ends the question, below a line of its own
  const [path] = useLocation();
  const [search] = useSearchParams();
  const isHere = path === "/chat" && search.get("session") === approval.session;
  const [whole, setWhole] = useState(drawn.length <= 14);
  const open = approval.state === "open";
  const wider = approval.scopes.filter((scope) => scope !== "once");
  const others = useApprovals().data?.approvals.map((each) => each.id).join(" ");
  const rests = !useSettled(`${others} ${whole} ${asking}`) || answer.isPending;
  const say = (allowed: boolean, scope = "once") => answer.mutate({ id: approval.id, allowed, scope });
  return (
    <Card className="overflow-hidden">
      <article data-approval={approval.id} aria-label={t("Approval for {tool}", { tool: approval.tool })}>
        <div className="border-b border-line px-4 py-3">
          <div className="mb-1 flex flex-wrap items-center gap-2 text-xs text-muted">
            <Badge tone="warn">{open ? t("needs you") : t(approval.state)}</Badge>
            <When at={approval.asked} />
            {!open && <span>{endedWord(approval)}</span>}
            {open && <span>{t("until {time}", { time: moment(approval.expires) })}</span>}
            <span>{sessionWord(approval.session)}</span>
          </div>
          <h3 className="text-lg font-semibold">
            {lead} {object && <span className="font-mono break-words">{object}</span>}
          </h3>
          <p className="text-muted">{why}</p>
          <Chain approval={approval} />
        </div>
        {diff ? (
          <>
            <Diff text={whole ? diff : drawn.slice(0, 12).join("\n")} whole />
            {!whole && <p aria-hidden className="px-4 font-mono text-sm">…</p>}
            <details className="border-t border-line">
              <summary className="px-4 py-2 text-sm text-muted">{t("Exact arguments")}</summary>
              <pre dir="auto" tabIndex={0} className="overflow-x-auto bg-sunken px-4 py-3 font-mono text-sm whitespace-pre-wrap">{exact.join("\n")}</pre>
            </details>
          </>
        ) : lines.length > 0 && (
          <pre dir="auto" tabIndex={0} className="overflow-x-auto bg-sunken px-4 py-3 font-mono text-sm whitespace-pre-wrap">
            {whole ? lines.join("\n") : `${lines.slice(0, 12).join("\n")}\n…`}
          </pre>
        )}
        <div className="flex flex-wrap items-center gap-2 px-4 py-3">
          {!whole && (
            <Button icon={ChevronDown} data-act="allow" local onClick={() => setWhole(true)}>
              {t("Show all {count} lines to decide", { count: drawn.length })}
            </Button>
          )}
          {open && whole && may("approve") && (
            <>
              <Button look="main" icon={Check} data-act="allow" disabled={rests} onClick={() => say(true)}>
                {t("Allow once")}
              </Button>
              <Button icon={X} data-act="deny" disabled={answer.isPending} onClick={() => say(false)}>
                {t("Deny")}
              </Button>
              {wider.map((scope) =>
                asking === scope ? (
                  <Button key={scope} look="danger" disabled={rests} onClick={() => say(true, scope)}>
                    {scope === "session" ? t("Yes, exactly this, for this session") : t("Yes, exactly this, always")}
                  </Button>
                ) : (
                  <Button key={scope} look="quiet" disabled={rests} onClick={() => setAsking(scope)}>
                    {scope === "session" ? t("For this session…") : t("Always…")}
                  </Button>
                ),
              )}
            </>
          )}
          <span className="ms-auto text-xs text-muted">
            {t("rule")} <code title={approval.reason} className="font-mono">{approval.rule}</code>
          </span>
          {approval.message && !isHere && maySee("/chat") && (
            <Link href={`/chat?session=${encodeURIComponent(approval.session)}`} className="text-xs text-accent underline-offset-2 hover:underline">
              {t("open in chat")}
            </Link>
          )}
        </div>
        {lost && open && <p role="status" className="border-t border-line px-4 py-2 text-sm text-warn">{t("Offline. You can decide this when Hob is back.")}</p>}
        {answer.isError && (
          <p role="alert" className="border-t border-line bg-bad-soft px-4 py-2 text-sm text-bad">
            {answer.error.message}
          </p>
        )}
      </article>
    </Card>
  );
}
