import { Bot, Clock, Globe, Mail, MessageCircle, MessagesSquare, SquareTerminal, Webhook, type LucideIcon } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import type { SessionAnswer } from "../../api/schema";

const ICONS: Record<string, LucideIcon> = { api: Globe, local: SquareTerminal, terminal: SquareTerminal, openai: Bot, subagent: Bot, webhook: Webhook, mail: Mail, email: Mail, cron: Clock, job: Clock, group: MessagesSquare };

/** The channel of a conversation, from the prefix of its key. */
export function ChannelIcon({ session }: { session: string }) {
  const channel = session.split(":")[0]!;
  const Icon = ICONS[channel] ?? MessageCircle;
  return <Icon size={12} role="img" aria-label={channel} className="shrink-0" />;
}

const KEY = "hob.seen";
type Seen = { since: number; sessions: Record<string, number> };

function load(): Seen {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "") as Seen;
  } catch {
    return { since: Date.now() / 1000, sessions: {} };
  }
}

/** Conversations with messages that this browser has not shown yet. */
export function useUnread(sessions: readonly SessionAnswer[], chosen: string): ReadonlySet<string> {
  const [seen, setSeen] = useState(load);
  const updated = sessions.find((each) => each.session === chosen)?.updated ?? 0;
  useEffect(() => {
    setSeen((before) => {
      const next = { ...before, sessions: { ...before.sessions, [chosen]: Math.max(updated, before.sessions[chosen] ?? 0) } };
      localStorage.setItem(KEY, JSON.stringify(next));
      return next;
    });
  }, [chosen, updated]);
  return useMemo(
    () => new Set(sessions.filter((each) => each.session !== chosen && each.updated > (seen.sessions[each.session] ?? seen.since)).map((each) => each.session)),
    [sessions, chosen, seen],
  );
}
