import { useQuery } from "@tanstack/react-query";
import { Check, Target } from "lucide-react";
import { call } from "../../api/client";
import { useChange } from "../../api/queries";
import type { MemoryStatusAnswer } from "../../api/schema";
import { day, percent, t, tn } from "../../i18n";
import { Badge, Button, Card, Empty, Failure, Section, Skeleton, When } from "../../parts/basics";

type Goal = { id: string; text: string; state: string; due: number | null; changed: number; evidence: { text: string; at: number }[] };

const TONES: Record<string, "good" | "warn" | "plain" | "accent"> = { open: "accent", stalled: "warn", done: "good", dropped: "plain" };

/** The owner's goals and their progress. */
export function Goals() {
  const told = useQuery({ queryKey: ["memory", "goals"], queryFn: () => call("GET /api/v1/memory/goals", { query: { closed: true } }) });
  const change = useChange(["memory"], (body: { id: string; state: string }) => call("POST /api/v1/memory/goals", { body }));
  if (told.isError) return <Failure error={told.error} retry={() => void told.refetch()} />;
  if (!told.data) return <Skeleton rows={3} className="h-14" />;
  const goals = told.data.goals as Goal[];
  if (!goals.length) return <Empty icon={Target} title={t("No goals yet.")}>{t("Tell Hob what you want to achieve. It keeps track of your progress.")}</Empty>;
  return (
    <Card className="divide-y divide-line">
      {change.isError && <Failure error={change.error} />}
      {goals.map((each) => (
        <div key={each.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
          <div className="min-w-0 flex-1 basis-64">
            <p dir="auto" className="break-words font-medium">{each.text}</p>
            <p dir="auto" className="text-xs text-muted">{each.due !== null && `${t("until {day}", { day: day(each.due) })} · `}{each.evidence.at(-1)?.text ?? <When at={each.changed} />}</p>
          </div>
          <Badge tone={TONES[each.state] ?? "plain"}>{t(each.state)}</Badge>
          {["open", "stalled"].includes(each.state) && (
            <>
              <Button icon={Check} disabled={change.isPending} onClick={() => change.mutate({ id: each.id, state: "done" })}>{t("Mark as reached")}</Button>
              <Button look="quiet" disabled={change.isPending} onClick={() => change.mutate({ id: each.id, state: "dropped" })}>{t("Abandon")}</Button>
            </>
          )}
        </div>
      ))}
    </Card>
  );
}

/** Memory internals: working notes, observations, expertise, and ER1. */
export function Inside({ status }: { status: MemoryStatusAnswer }) {
  const notes = status.working_memory as { entries: number; preview: string };
  const observer = status.observer as { enabled: boolean; observation_count: number; queue_depth: number; last_observation: number | null };
  const observed = status.observations as { id: string; content: string; priority: string; date: number }[];
  const skills = status.expertise as { skill: string; score: number; trend: string; uses: number }[];
  const er1 = status.er1 as { connected: boolean; synced_count: number; last_sync: number | null; problem: string };
  return (
    <>
      <Section title={t("Working notes")} more={<span className="text-sm text-muted">{tn("{count} note", "{count} notes", notes.entries)}</span>}>
        <Card className="px-4 py-3"><p dir="auto" className="whitespace-pre-wrap break-words">{notes.preview || <span className="text-muted">{t("None right now.")}</span>}</p></Card>
      </Section>
      <Section title={t("Observed")} more={<span className="text-sm text-muted">{observer.enabled ? tn("{count} message queued", "{count} messages queued", observer.queue_depth) : t("off")}</span>}>
        <Card className="divide-y divide-line">
          {observed.length ? observed.map((each) => (
            <div key={each.id} className="flex items-start gap-3 px-4 py-2.5"><p dir="auto" className="min-w-0 flex-1 break-words">{each.content}</p><When at={each.date} className="text-xs text-muted" /></div>
          )) : <p className="px-4 py-3 text-muted">{t("No observations yet.")}</p>}
        </Card>
      </Section>
      <Section title={t("What Hob is good at")}>
        <Card className="divide-y divide-line">
          {skills.length ? skills.map((each) => (
            <div key={each.skill} className="flex items-center gap-4 px-4 py-2">
              <span className="w-32 truncate font-medium">{each.skill}</span>
              <span aria-hidden className="h-2 flex-1 overflow-hidden rounded-full bg-sunken"><span className="block h-full bg-accent" style={{ width: `${Math.round(each.score * 100)}%` }} /></span>
              <span className="w-28 shrink-0 text-end text-sm text-muted">{percent(each.score)} · {tn("{count} use", "{count} uses", each.uses)}</span>
            </div>
          )) : <p className="px-4 py-3 text-muted">{t("No tools used yet.")}</p>}
        </Card>
      </Section>
      <Section title="ER1">
        <Card className="flex flex-wrap items-center gap-3 px-4 py-3">
          <Badge tone={er1.connected ? "good" : er1.problem ? "bad" : "plain"}>{er1.connected ? t("connected") : t("not connected")}</Badge>
          <span className="text-muted">{er1.problem || tn("{count} memory imported", "{count} memories imported", er1.synced_count)}</span>
          {er1.last_sync !== null && <When at={er1.last_sync} className="ms-auto text-xs text-muted" />}
        </Card>
      </Section>
    </>
  );
}
