import { useQuery } from "@tanstack/react-query";
import { ArrowRight, Brain, CircleAlert, CircleCheck, CircleHelp, Inbox, Sparkles } from "lucide-react";
import { useDeferredValue, useEffect, useState } from "react";
import { Link } from "wouter";
import { call } from "../../api/client";
import { useEndedTasks, useModels, useStatus, useTasks, useUsage } from "../../api/queries";
import type { TaskAnswer } from "../../api/schema";
import { duration, money, number, t, tn } from "../../i18n";
import { ApprovalCard } from "../../parts/approval";
import { Connect } from "../../parts/connect";
import { ChangedIdentity } from "../../parts/identity";
import { changesSince, sinceYesterday, useFacts } from "../../parts/facts";
import { leave, useNeeds } from "../../parts/needs";
import { Next, useGoals } from "../../parts/next";
import { To, maySee } from "../../parts/places";
import { NotifyChoice } from "../../parts/notify";
import { QuestionCard } from "../../parts/question";
import { Running } from "../../parts/running";
import { useMidnight } from "../../parts/time";
import { Told } from "../../parts/told";
import { ToLimits, ToModels, TryAgain } from "../../parts/unanswered";
import { sessionWord, wordOf } from "../../parts/words";
import { worker } from "../../parts/worker";
import { Badge, Button, Card, Empty, Failure, Page, Section, Skeleton, When, untitled } from "../../parts/basics";

/** What needs the owner, what is running, and today's figures. */
export function Home() {
  const status = useStatus();
  const tasks = useTasks();
  const { asked, questions, limits, pairing, failed, unaccepted, count, waits: unknown } = useNeeds();
  const open = tasks.data?.tasks ?? [];
  const waitsForOwner = !maySee("/trust") && open.some((each) => each.waits_for === "approval");
  const recent = useEndedTasks("", 6).data?.pages[0]?.tasks ?? [];
  // shown together, so that late answers do not move the page
  const waits = useDeferredValue([useModels(), useFacts(), useGoals(), useDone()].some((each) => each.isPending && each.isEnabled) || unknown);
  return (
    <Page title={greeting()} about={status.data?.model ? t("Model: {model}", { model: status.data.model }) : status.isPending ? "" : undefined}>
      {waits ? (
        <Skeleton rows={4} className="h-32" />
      ) : (
        <>
          <NoModel />
          {status.isError && <Failure error={status.error} retry={() => void status.refetch()} />}
          <Section title={t("Needs you")}>
            {!count ? (
              <Empty icon={Inbox} title={waitsForOwner ? t("Something waits for the owner's answer.") : t("Nothing needs you.")}>
                {maySee("/chat") && t("Ask Hob something, or see what it did.")}
                <span className="mt-2 flex flex-wrap justify-center gap-x-4 gap-y-1">
                  {([["/chat", t("Start a conversation")], ["/memory", t("See what Hob remembers")], ["/trust?tab=tools", t("Try a tool")]] as const).filter(([href]) => maySee(href)).map(([href, word]) => (
                    <Link key={href} href={href} className="text-accent underline underline-offset-2">{word}</Link>
                  ))}
                </span>
              </Empty>
            ) : (
              <div className="flex flex-col gap-3">
                {waitsForOwner && <Card className="px-4 py-3">{t("Something waits for the owner's answer.")}</Card>}
                {asked.map((each) => <ApprovalCard key={each.id} approval={each} />)}
                {questions.map((each) => <QuestionCard key={`${each.id} ${each.updated}`} task={each} />)}
                {asked.length + questions.length > 0 && <NotifyChoice quiet />}
                {limits.map((limit) => (
                  <Ask key={limit.key} text={t("Limit {key} reached", { key: limit.key })} more={t("{spent} of {limit} spent. Anything that costs more waits.", { spent: limit.spent, limit: limit.limit })}
                    href={`/settings?find=${encodeURIComponent(limit.key)}`} word={t("Change limit")} />
                ))}
                {pairing.map((each) => (
                  <Ask key={each.code} text={each.name || each.address} more={t("wants to connect from {address}", { address: each.address })} href="/trust?tab=people" word={t("Review")} />
                ))}
                {failed.map((each) => <Failed key={each.id} task={each} />)}
                {unaccepted.map((file) => <ChangedIdentity key={file} file={file} />)}
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
          <Next />
          <Section title={t("Recent")} more={<Link href="/timeline" className="text-sm text-accent hover:underline">{t("Timeline")}</Link>}>
            {recent.length ? (
              <Card className="divide-y divide-line">
                {recent.map((each) => (
                  <Link key={each.id} href={`/trace/${each.trace_id}`} className="flex min-h-11 items-center gap-3 px-4 py-2 hover:bg-sunken">
                    <State state={each.state} />
                    <span dir="auto" className="min-w-0 flex-1 truncate">{each.title || untitled()}</span>
                    <span className="hidden max-w-40 truncate text-xs text-muted sm:inline">{sessionWord(each.session)}</span>
                    <When at={each.updated} className="text-xs text-muted" />
                  </Link>
                ))}
              </Card>
            ) : (
              <Empty icon={Sparkles} title={t("No activity yet.")}>{t("What you ask appears here, with the outcome.")}</Empty>
            )}
          </Section>
          <Health />
          <Distrust />
          {!window.isSecureContext && (
            <p className="text-sm text-muted"><Told text={t("Over plain HTTP, the browser disables installing, the microphone and notifications. `hob dashboard --phone` opens this page over HTTPS.")} /></p>
          )}
        </>
      )}
    </Page>
  );
}

function Ask({ text, more, href, word }: { text: string; more: string; href: string; word: string }) {
  return (
    <Card className="flex flex-wrap items-center gap-3 px-4 py-3">
      <CircleHelp size={18} className="text-warn" aria-hidden />
      <div className="min-w-0 flex-1"><p dir="auto" className="truncate font-medium">{text || untitled()}</p><p className="text-sm text-muted">{more}</p></div>
      <Link href={href} className="text-accent hover:underline">{word}</Link>
    </Card>
  );
}

/** Changes in memory since yesterday, in one line. */
function Learned() {
  const facts = useFacts().data;
  const changes = facts ? changesSince(facts, sinceYesterday()) : [];
  if (!changes.length) return null;
  const count = (kind: string) => changes.filter((each) => each.kind === kind).length;
  const words: [number, string][] = [[count("added"), t("added")], [count("changed"), t("changed")], [count("closed"), t("ended")]];
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

/** Hob's health in one line, with a link to doctor. */
function Health() {
  const status = useStatus().data;
  if (status?.uptime_seconds === undefined) return null;
  const wrong = [
    status.store !== "ok" && t("store: {what}", { what: status.store ?? "?" }),
    !!status.stuck?.length && t("{count} undelivered", { count: status.stuck.length }),
    !!status.resting?.length && tn("{count} model paused", "{count} models paused", status.resting.length),
  ].filter(Boolean);
  return (
    <To href="/settings?tab=doctor" className="mb-4 flex items-center gap-2 text-sm text-muted hover:text-text">
      {wrong.length ? <CircleAlert size={14} className="text-warn" aria-hidden /> : <CircleCheck size={14} className="text-good" aria-hidden />}
      {wrong.length ? wrong.join(" · ") : t("All systems healthy. Up for {time}.", { time: duration(status.uptime_seconds) })}
    </To>
  );
}

/** A hint for phones that have not installed Hob's certificate authority. */
function Distrust() {
  const [known, setKnown] = useState(true);
  useEffect(() => void worker.then(setKnown), []);
  if (known) return null;
  return (
    <p className="mb-4 text-sm text-muted">
      {t("This browser doesn't trust Hob's certificate yet, so installing and notifications are off.")}{" "}
      <a href="/hob-ca.crt" download className="text-accent underline">{t("Download and install the certificate.")}</a>
    </p>
  );
}

/** The first visit: connect a model. */
function NoModel() {
  const models = useModels().data?.models;
  const status = useStatus().data;
  const [connected, setConnected] = useState(false);
  if (connected) return (
    <Card className="mb-8 border-accent p-5">
      <h2 className="text-lg font-semibold">{t("The model is connected.")}</h2>
      <p role="status" className="text-muted">{t("Hob can answer now.")}</p>
      <Link href="/chat" className="mt-3 inline-flex min-h-9 items-center gap-2 rounded-md bg-accent px-3 font-medium text-on-accent">{t("Say hello")}<ArrowRight size={16} aria-hidden /></Link>
    </Card>
  );
  if (!models || models.length || !status) return null;
  return (
    <Card className="mb-8 border-accent p-5">
      <h2 className="text-lg font-semibold">{t("Connect a model")}</h2>
      <p className="text-muted">{t("Hob needs a model to answer. Until then, your messages are kept and answered later.")}</p>
      <Connect onDone={() => setConnected(true)} />
      <p className="mt-3 text-sm text-muted"><Told text={t("In a terminal, `hob onboard` does the same and finds models running on your machine.")} /></p>
    </Card>
  );
}

function greeting(): string {
  const hour = new Date().getHours();
  return hour < 5 ? t("Good evening") : hour < 11 ? t("Good morning") : hour < 18 ? t("Good afternoon") : t("Good evening");
}

function State({ state }: { state: string }) {
  if (state === "done") return <Badge tone="good">{t("done")}</Badge>;
  if (state === "failed") return <Badge tone="bad">{t("failed")}</Badge>;
  return <Badge>{wordOf(state)}</Badge>;
}

function Failed({ task }: { task: TaskAnswer }) {
  return (
    <Card className="flex flex-wrap items-center gap-3 px-4 py-3">
      <CircleAlert size={18} className="text-bad" aria-hidden />
      <div className="min-w-0 flex-1">
        <p dir="auto" className="truncate font-medium">{task.title || untitled()}</p>
        <p className="text-sm text-muted">{t("no answer: {why}", { why: wordOf(task.reason || "failed") })} · <When at={task.updated} /></p>
      </div>
      <Link href={`/trace/${task.trace_id}`} className="text-accent hover:underline">{t("Why?")}</Link>
      <ToModels code={task.reason} />
      <ToLimits code={task.reason} />
      {task.reason !== "no_model" && <TryAgain id={task.id} />}
      <Button look="quiet" onClick={() => leave(task)}>{t("Dismiss")}</Button>
    </Card>
  );
}

function Today() {
  const spent = useUsage("day", 1);
  const done = useDone().data;
  const total = spent.data?.total;
  const limit = spent.data?.limits[0];
  const tokens = spent.data?.token_limits[0];
  const cells: [string, string, string][] = [
    [t("Turns"), number(done?.turns ?? 0), "/work"],
    [t("Tool calls"), number(done?.tools ?? 0), "/timeline?kind=tool"],
    [t("Memories added"), number(done?.memories ?? 0), "/memory"],
    [tokens ? t("Tokens of {limit}", { limit: number(tokens.limit) }) : t("Tokens"), number((total?.input_tokens ?? 0) + (total?.output_tokens ?? 0)), "/costs"],
    [limit ? t("Cost of {limit}", { limit: money(limit.limit_usd) }) : t("Cost"), money(total?.cost_usd ?? 0), "/costs"],
  ];
  return (
    <Section title={t("Today")} more={<Link href="/costs" className="flex items-center gap-1 text-sm text-accent hover:underline">{t("Costs")}<ArrowRight size={14} aria-hidden /></Link>}>
      <Card className="grid grid-cols-2 sm:grid-cols-5">
        {cells.map(([name, value, href]) => (
          <To key={name} href={href} className="rounded-md px-4 py-3 hover:bg-sunken">
            <p className="truncate text-xs text-muted">{name}</p>
            <p className="text-xl font-semibold">{value}</p>
          </To>
        ))}
      </Card>
    </Section>
  );
}

function useDone() {
  const midnight = useMidnight();
  return useQuery({ queryKey: ["tasks", "today", midnight], queryFn: () => call("GET /api/v1/today", { query: { since: midnight } }) });
}
