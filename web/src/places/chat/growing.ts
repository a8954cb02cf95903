import { useCallback, useState, useSyncExternalStore } from "react";
import { login } from "../../api/client";
import { outbox, type Unsent } from "../../api/outbox";
import type { SentMessageAnswer, TaskAnswer } from "../../api/schema";

/** A message or answer not yet in the history. `late`: followed from the middle, since another page sent it; `aside`: a command's answer, not part of the conversation;
`replied`: its question was answered by the next message, which shows the rest of the turn; `cut`: to be followed again once the connection is back. */
export type Growing = {
  key: string; id: string; trace: string; text: string; answer: string; steps: string[]; problem: string; fault?: string; over: boolean; late?: boolean; aside?: boolean; cut?: boolean;
  replied?: TaskAnswer; replies?: TaskAnswer; sent?: SentMessageAnswer[]; files?: Unsent["attachments"];
};

export const growingOf = ({ key, message, attachments }: Unsent, replies?: TaskAnswer): Growing =>
  ({ key, id: "", trace: "", text: message, files: attachments, answer: "", steps: [], problem: "", over: false, replies });

/** `told`: what a screen reader says; `seen`: the messages that are or were followed. */
type Open = { growing: Growing[]; told: { text: string; count: number }; seen: Set<string> };

const held = new Map<string, Open>();
const watching = new Set<() => void>();
login.subscribe(() => held.clear());

const watch = (listener: () => void) => {
  watching.add(listener);
  return () => void watching.delete(listener);
};

function openOf(session: string): Open {
  if (!held.has(session)) held.set(session, { growing: [], told: { text: "", count: 0 }, seen: new Set() });
  return held.get(session)!;
}

/** What grows in a conversation. It goes on while another place is shown, since the server streams nothing twice. */
export function useGrowing(session: string) {
  const change = useCallback((with_: (open: Open) => Partial<Open>) => {
    held.set(session, { ...openOf(session), ...with_(openOf(session)) });
    watching.forEach((each) => each());
  }, [session]);
  useState(() => { // begin anew with what is not over
    const { growing, seen } = openOf(session);
    const left = growing.filter((one) => !one.over);
    const unsent = outbox.pending(session).filter(({ key }) => !left.some((one) => one.key === key));
    held.set(session, { growing: [...left, ...unsent.map((each) => growingOf(each))], told: { text: "", count: 0 }, seen });
  });
  const setGrowing = useCallback((with_: (all: Growing[]) => Growing[]) => change(({ growing }) => ({ growing: with_(growing) })), [change]);
  const tell = useCallback((text: string) => change(({ told }) => ({ told: { text, count: told.count + 1 } })), [change]);
  const open = useSyncExternalStore(watch, () => openOf(session));
  return { ...open, setGrowing, tell };
}
