import { useQuery } from "@tanstack/react-query";
import { ListChecks, RotateCcw, Users } from "lucide-react";
import { Link, useSearchParams } from "wouter";
import { call } from "../../api/client";
import { useChange, useEndedTasks, useTasks } from "../../api/queries";
import type { TaskAnswer } from "../../api/schema";
import { duration, t } from "../../i18n";
import { Badge, Button, Card, Empty, Failure, Page, Section, Skeleton, Tabs, When, untitled } from "../../parts/basics";
import { Next } from "../../parts/next";
import { Running } from "../../parts/running";
import { StopAll } from "../../parts/stop";
import { sessionWord, wordOf } from "../../parts/words";

const TABS = [["all", "All"], ["done", "done"], ["failed", "failed"], ["cancelled", "stopped"]] as const;
const TONES: Record<string, "good" | "bad" | "warn" | "plain"> = { done: "good", failed: "bad", set_aside: "bad", waiting: "warn" };

/** Running and earlier tasks. */
export function Work() {
  const tasks = useTasks();
  const [search, setSearch] = useSearchParams();
  const state = TABS.find(([name]) => name === search.get("state"))?.[0] ?? "all";
  const open = tasks.data?.tasks ?? [];
  const ended = useEndedTasks(state === "all" ? "" : state);
  const over = ended.data?.pages.flatMap((page) => page.tasks) ?? [];
  return (
    <Page title={t("Work")} about={t("What Hob is working on, what is queued, and what is done.")} more={<StopAll count={open.length} />}>
      {tasks.isError && <Failure error={tasks.error} retry={() => void tasks.refetch()} />}
      <Section title={t("Now")}>
        {tasks.isPending ? (
          <Skeleton rows={1} className="h-16" />
        ) : open.length ? (
          <Card className="divide-y divide-line">{open.map((each) => <Running key={each.id} task={each} />)}</Card>
        ) : (
          <Card className="px-4 py-4 text-muted">{t("Hob is idle.")}</Card>
        )}
      </Section>
      <Next memory />
      <SubAgents />
      <Section
        title={t("Earlier")}
        more={
          <Tabs label={t("Task filter")} chosen={state} onChoose={(chosen) => setSearch(chosen === "all" ? {} : { state: chosen }, { replace: true })}
            tabs={TABS.map(([name, word]) => [name, t(word)] as const)} />
        }
      >
        {ended.isError ? (
          <Failure error={ended.error} retry={() => void ended.refetch()} />
        ) : ended.isPending ? (
          <Skeleton rows={6} className="h-12" />
        ) : over.length ? (
          <>
            <Card className="divide-y divide-line">{over.map((each) => <Row key={each.id} task={each} />)}</Card>
            {ended.hasNextPage && <Button className="mt-3 w-full" disabled={ended.isFetchingNextPage} onClick={() => void ended.fetchNextPage()}>{t("Show older")}</Button>}
          </>
        ) : (
          <Empty icon={ListChecks} title={t("No tasks.")}>{t("Every message you send is a task. Track its progress here.")}</Empty>
        )}
      </Section>
    </Page>
  );
}

/** The latest events of sub-agents. */
function SubAgents() {
  const events = useQuery({ queryKey: ["subagents"], queryFn: () => call("GET /api/v1/timeline", { query: { kind: "subagent", limit: 5 } }) }).data?.events ?? [];
  if (!events.length) return null;
  return (
    <Section title={t("Sub-agents")} more={<Link href="/timeline?kind=subagent" className="text-sm text-accent hover:underline">{t("Timeline")}</Link>}>
      <Card className="divide-y divide-line">
        {events.map((each) => (
          <Link key={each.cursor} href={`/trace/${each.trace_id}`} className="flex min-h-11 items-center gap-3 px-4 py-2 hover:bg-sunken">
            <Users size={16} className="text-muted" aria-hidden />
            <span dir="auto" className="min-w-0 flex-1 truncate">{each.text.split(": ")[0]}</span>
            <span className="text-xs text-muted">{wordOf(each.name)}</span>
            <When at={each.at} className="text-xs text-muted" />
          </Link>
        ))}
      </Card>
    </Section>
  );
}

function Row({ task }: { task: TaskAnswer }) {
  const retry = useChange(["tasks"], () => call("POST /api/v1/retry/{id}", { path: { id: task.id } }));
  const again = ["failed", "set_aside"].includes(task.state);
  return (
    <div className="flex min-h-12 items-center gap-3 px-4 py-1.5">
      <span className="shrink-0 sm:w-20"><Badge tone={TONES[task.state] ?? "plain"}>{wordOf(task.state)}</Badge></span>
      <Link href={`/trace/${task.trace_id}`} className="min-w-0 flex-1 hover:underline">
        <span dir="auto" className="line-clamp-2 sm:line-clamp-1">{task.title || untitled()}</span>
        {task.reason && <span className="block truncate text-xs text-bad">{wordOf(task.reason)}</span>}
      </Link>
      <Link href={`/chat?session=${encodeURIComponent(task.session)}`} className="hidden max-w-40 truncate text-xs text-muted hover:text-text sm:inline">{sessionWord(task.session)}</Link>
      <span className="hidden w-16 text-end text-xs text-muted sm:inline">{duration(Math.max(0, task.updated - task.created))}</span>
      <When at={task.updated} className="shrink-0 text-end text-xs text-muted sm:w-20" />
      {again && <Button needs="admin" look="quiet" icon={RotateCcw} label={t("Retry")} className="px-2" disabled={retry.isPending} onClick={() => retry.mutate()} />}
    </div>
  );
}
