import { useQuery } from "@tanstack/react-query";
import { CalendarClock } from "lucide-react";
import { call, may } from "../api/client";
import { useMemory, useStatus } from "../api/queries";
import { moment, t, tn } from "../i18n";
import { Card, Section } from "./basics";
import { To } from "./places";

export const useGoals = () => useQuery({ queryKey: ["memory", "goals"], queryFn: () => call("GET /api/v1/memory/goals", { query: { closed: true } }), retry: false, enabled: may("admin") });

/** What comes next: the backup and due goals, and what memory still has to read. */
export function Next({ memory = false }: { memory?: boolean }) {
  const status = useStatus().data;
  const told = useGoals().data;
  const unread = Number(useMemory().data?.background.messages_waiting ?? 0);
  const waiting = memory ? unread : 0;
  const backup = (status as { backups?: { next_at: number | null } } | undefined)?.backups?.next_at;
  const goals = (told?.goals ?? []) as { id: string; text: string; state: string; due: number | null }[];
  const rows: [number, string, string][] = [
    ...(backup ? [[backup, t("Backup"), "/settings?tab=doctor"] as [number, string, string]] : []),
    ...goals.flatMap((each) => (each.due !== null && ["open", "stalled"].includes(each.state) ? [[each.due, each.text, "/memory?show=goals"] as [number, string, string]] : [])),
  ];
  if (!rows.length && !waiting) return null;
  return (
    <Section title={t("Up next")}>
      <Card className="divide-y divide-line">
        {waiting > 0 && <Row href="/memory" text={tn("Memory reads {count} message", "Memory reads {count} messages", waiting)} when={t("in the background")} />}
        {rows.sort(([one], [other]) => one - other).slice(0, 5).map(([at, text, href]) => <Row key={`${at}${text}`} href={href} text={text} when={moment(at)} />)}
      </Card>
    </Section>
  );
}

function Row({ href, text, when }: { href: string; text: string; when: string }) {
  return (
    <To href={href} className="flex min-h-11 items-center gap-3 px-4 py-2 hover:bg-sunken">
      <CalendarClock size={16} className="text-muted" aria-hidden />
      <span dir="auto" className="min-w-0 flex-1 truncate">{text}</span>
      <span className="text-xs text-muted">{when}</span>
    </To>
  );
}
