import { useQuery } from "@tanstack/react-query";
import { ArrowRight, Brain, CircleAlert, CircleCheck, CircleHelp, Inbox, Sparkles } from "lucide-react";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { call } from "../../api/client";
import { useApprovals, useModels, useStatus, useTasks, useUsage } from "../../api/queries";
import type { TaskAnswer } from "../../api/schema";
import { duration, money, number, t, tn } from "../../i18n";
import { ApprovalCard } from "../../parts/approval";
import { Connect } from "../../parts/connect";
import { changesSince, sinceYesterday, useFacts } from "../../parts/facts";
import { NotifyChoice } from "../../parts/notify";
import { Running } from "../../parts/running";
import { worker } from "../../parts/worker";
import { Badge, Card, Empty, Failure, Page, Section, Skeleton, When } from "../../parts/basics";

const OPEN = ["pending", "running", "waiting"];

/** What needs me, what is going on, what today was. */
export function Home() {
  const status = useStatus();
  const tasks = useTasks();
  const approvals = useApprovals();
  const open = tasks.data?.tasks.filter((each) => OPEN.includes(each.state)) ?? [];
  const recent = tasks.data?.tasks.filter((each) => !OPEN.includes(each.state)).slice(0, 6) ?? [];
  const failed = recent.filter((each) => ["failed", "set_aside"].includes(each.state)).slice(0, 3);
  const asked = approvals.data?.approvals ?? [];
  const pairing = useQuery({ queryKey: ["pairing"], queryFn: () => call("GET /api/v1/pairing"), retry: false }).data?.requests ?? [];
  const questions = open.filter((each) => each.state === "waiting" && !asked.some((one) => one.session === each.session));
  const nothing = !asked.length && !failed.length && !pairing.length && !questions.length && !status.data?.unaccepted?.length;
  return (
    <Page title={greeting()} about={status.data?.model ? t("Model: {model}", { model: status.data.model }) : undefined}>
      <NoModel />
      {status.isError && <Failure error={status.error} retry={() => void status.refetch()} />}
      <Section title={t("Needs you")}>
        {approvals.isPending && !approvals.isError ? (
          <Skeleton rows={1} className="h-28" />
        ) : nothing ? (
          <Empty icon={Inbox} title={t("Nothing needs you.")}>
            {t("Ask Hob something, or look at what it did.")}{" "}
            <Link href="/chat" className="text-accent underline underline-offset-2">{t("Start a conversation")}</Link>
          </Empty>
        ) : (
          <div className="flex flex-col gap-3">
            {asked.map((each) => <ApprovalCard key={each.id} approval={each} />)}
            {asked.length > 0 && <NotifyChoice quiet />}
            {questions.map((each) => (
              <Ask key={each.id} text={each.title} more={t("Hob asked something in {session}", { session: each.session })} href={`/chat?session=${encodeURIComponent(each.session)}`} word={t("Answer")} />
            ))}
            {pairing.map((each) => (
              <Ask key={each.code} text={each.name || each.address} more={t("asks to be let in, from {address}", { address: each.address })} href="/trust?tab=people" word={t("Look")} />
            ))}
            {failed.map((each) => <Failed key={each.id} task={each} />)}
            {(status.data?.unaccepted ?? []).map((file) => (
              <Card key={file} className="flex items-center gap-3 px-4 py-3">
                <CircleAlert size={18} className="text-warn" aria-hidden />
                <span>{t("{file} was changed and is not obeyed until you accept it: `hob accept`", { file })}</span>
              </Card>
            ))}
          </div>
        )}
      </Section>
      {open.length > 0 && (
        <Section title={t("Running now")}>
          <Card className="divide-y divide-line">{open.map((each) => <Running key={each.id} task={each} />)}</Card>
        </Section>
      )}
      <Today />
      <Learned />
      <Section title={t("Lately")} more={<Link href="/timeline" className="text-sm text-accent hover:underline">{t("Timeline")}</Link>}>
        {tasks.isPending ? (
          <Skeleton rows={3} className="h-11" />
        ) : recent.length ? (
          <Card className="divide-y divide-line">
            {recent.map((each) => (
              <Link key={each.id} href={`/trace/${each.trace_id}`} className="flex min-h-11 items-center gap-3 px-4 py-2 hover:bg-sunken">
                <State state={each.state} />
                <span dir="auto" className="min-w-0 flex-1 truncate">{each.title || t("(no text)")}</span>
                <span className="hidden max-w-40 truncate text-xs text-muted sm:inline">{each.session}</span>
                <When at={each.updated} className="text-xs text-muted" />
              </Link>
            ))}
          </Card>
        ) : (
          <Empty icon={Sparkles} title={t("Hob has done nothing yet.")}>{t("What you ask stands here, with what came of it.")}</Empty>
        )}
      </Section>
      <Health />
      <Distrust />
      {!window.isSecureContext && (
        <p className="text-sm text-muted">{t("Over plain http the browser switches installing, microphone and notifications off; `hob dashboard --phone` opens it over HTTPS.")}</p>
      )}
    </Page>
  );
}

function Ask({ text, more, href, word }: { text: string; more: string; href: string; word: string }) {
  return (
    <Card className="flex flex-wrap items-center gap-3 px-4 py-3">
      <CircleHelp size={18} className="text-warn" aria-hidden />
      <div className="min-w-0 flex-1"><p dir="auto" className="truncate font-medium">{text || t("(no text)")}</p><p className="text-sm text-muted">{more}</p></div>
      <Link href={href} className="text-accent hover:underline">{word}</Link>
    </Card>
  );
}

/** What changed in memory since yesterday, in one line. */
function Learned() {
  const facts = useFacts().data;
  const changes = facts ? changesSince(facts, sinceYesterday()) : [];
  if (!changes.length) return null;
  const count = (kind: string) => changes.filter((each) => each.kind === kind).length;
  const words: [number, string][] = [[count("added"), t("added")], [count("changed"), t("changed")], [count("closed"), t("closed")]];
  return (
    <Section title={t("Learned since yesterday")}>
      <Link href="/memory?show=facts" className="flex items-center gap-3 rounded-md border border-line bg-surface px-4 py-3 hover:bg-sunken">
        <Brain size={18} className="text-accent" aria-hidden />
        <span className="flex-1">{words.filter(([n]) => n).map(([n, word]) => `${number(n)} ${word}`).join(" · ")}</span>
        <ArrowRight size={14} aria-hidden className="text-accent" />
      </Link>
    </Section>
  );
}

/** How Hob itself is, in one line; what is wrong leads to doctor. */
function Health() {
  const status = useStatus().data;
  if (status?.uptime_seconds === undefined) return null;
  const wrong = [
    status.store !== "ok" && t("store: {what}", { what: status.store ?? "?" }),
    !!status.stuck?.length && t("{count} undelivered", { count: status.stuck.length }),
    !!status.resting?.length && tn("{count} model rests", "{count} models rest", status.resting.length),
  ].filter(Boolean);
  return (
    <Link href="/settings?tab=doctor" className="mb-4 flex items-center gap-2 text-sm text-muted hover:text-text">
      {wrong.length ? <CircleAlert size={14} className="text-warn" aria-hidden /> : <CircleCheck size={14} className="text-good" aria-hidden />}
      {wrong.length ? wrong.join(" · ") : t("All is well; up for {time}.", { time: duration(status.uptime_seconds) })}
    </Link>
  );
}

/** A phone that came by Hob's own certificate and has not installed its authority. */
function Distrust() {
  const [known, setKnown] = useState(true);
  useEffect(() => void worker.then(setKnown), []);
  if (known) return null;
  return (
    <p className="mb-4 text-sm text-muted">
      {t("This browser does not know Hob's certificate yet, so installing and notifications are off.")}{" "}
      <a href="/hob-ca.crt" download className="text-accent underline">{t("Load the certificate and install it.")}</a>
    </p>
  );
}

/** The first visit: without a model nothing answers. */
function NoModel() {
  const models = useModels().data?.models;
  const status = useStatus().data;
  if (!models || models.length || !status) return null;
  return (
    <Card className="mb-8 border-accent p-5">
      <h2 className="text-lg font-semibold">{t("Connect a model")}</h2>
      <p className="text-muted">{t("Hob needs one to think with; until then it keeps what you write and answers later.")}</p>
      <Connect />
      <p className="mt-3 text-sm text-muted">{t("In a terminal `hob onboard` does the same, and finds models that run on your machine.")}</p>
    </Card>
  );
}

function greeting(): string {
  const hour = new Date().getHours();
  return hour < 5 ? t("Good night") : hour < 11 ? t("Good morning") : hour < 18 ? t("Good day") : t("Good evening");
}

function State({ state }: { state: string }) {
  if (state === "done") return <Badge tone="good">{t("done")}</Badge>;
  if (state === "failed") return <Badge tone="bad">{t("failed")}</Badge>;
  return <Badge>{t(state)}</Badge>;
}

function Failed({ task }: { task: TaskAnswer }) {
  return (
    <Card className="flex flex-wrap items-center gap-3 px-4 py-3">
      <CircleAlert size={18} className="text-bad" aria-hidden />
      <div className="min-w-0 flex-1">
        <p dir="auto" className="truncate font-medium">{task.title}</p>
        <p className="text-sm text-muted">{t("failed: {reason}", { reason: task.reason || "?" })} · <When at={task.updated} /></p>
      </div>
      <Link href={`/trace/${task.trace_id}`} className="text-accent hover:underline">{t("Why?")}</Link>
    </Card>
  );
}

function Today() {
  const today = useUsage("day", 1);
  const tasks = useTasks().data?.tasks ?? [];
  const midnight = new Date().setHours(0, 0, 0, 0) / 1000;
  const total = today.data?.total;
  const limit = today.data?.limits[0];
  const input = total?.input_tokens ?? 0;
  const cells: [string, string][] = [
    [t("Messages"), number(tasks.filter((each) => each.created >= midnight).length)],
    [t("Model calls"), number(total?.calls ?? 0)],
    [t("Tokens"), number(input + (total?.output_tokens ?? 0))],
    [t("From the cache"), input ? `${Math.round((100 * (total?.cached_tokens ?? 0)) / input)} %` : "–"],
    [limit ? t("Cost of {limit}", { limit: money(limit.limit_usd) }) : t("Cost"), money(total?.cost_usd ?? 0)],
  ];
  return (
    <Section title={t("Today")} more={<Link href="/costs" className="flex items-center gap-1 text-sm text-accent hover:underline">{t("Costs")}<ArrowRight size={14} aria-hidden /></Link>}>
      <Card className="grid grid-cols-2 sm:grid-cols-5">
        {cells.map(([name, value]) => (
          <div key={name} className="px-4 py-3">
            <p className="truncate text-xs text-muted">{name}</p>
            <p className="text-xl font-semibold">{value}</p>
          </div>
        ))}
      </Card>
    </Section>
  );
}
