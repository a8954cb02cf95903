import { useCallback, useSyncExternalStore } from "react";
import { keep } from "../../api/outbox";

export type Attached = { id: string; name: string; voice?: boolean };

const held = new Map<string, Attached[]>();
const watching = new Set<() => void>();
const keyOf = (session: string) => `hob.files.${session}`;

const watch = (listener: () => void) => {
  watching.add(listener);
  return () => void watching.delete(listener);
};

function filesOf(session: string): Attached[] {
  if (!held.has(session)) held.set(session, JSON.parse(sessionStorage.getItem(keyOf(session)) ?? "[]") as Attached[]);
  return held.get(session)!;
}

/** The files of a conversation's draft, kept for this tab; those whose upload ends after the conversation was left, too. */
export function useDraftFiles(session: string): [Attached[], (with_: (files: Attached[]) => Attached[]) => void] {
  const change = useCallback((with_: (files: Attached[]) => Attached[]) => {
    const files = with_(filesOf(session));
    held.set(session, files);
    keep(keyOf(session), JSON.stringify(files));
    watching.forEach((each) => each());
  }, [session]);
  return [useSyncExternalStore(watch, () => filesOf(session)), change];
}
