import { useCallback, useEffect, useLayoutEffect, useState, useSyncExternalStore, type Dispatch, type SetStateAction } from "react";
import { useSearchParams } from "wouter";
import { keep } from "../../api/outbox";

export type Attached = { id: string; name: string; voice?: boolean };

const read = new Map<string, { from: string; files: Attached[] }>();
const watching = new Set<() => void>();
const keyOf = (session: string) => `hob.files.${session}`;

const watch = (listener: () => void) => {
  watching.add(listener);
  return () => void watching.delete(listener);
};

function filesOf(session: string): Attached[] {
  const from = sessionStorage.getItem(keyOf(session)) ?? "[]";
  const before = read.get(session);
  if (before?.from === from) return before.files; // the same array, as long as it is the same draft
  const files = JSON.parse(from) as Attached[];
  read.set(session, { from, files });
  return files;
}

/** The files of a conversation's draft, kept for this tab; those whose upload ends after the conversation was left, too. */
export function useDraftFiles(session: string): [Attached[], (with_: (files: Attached[]) => Attached[]) => void] {
  const change = useCallback((with_: (files: Attached[]) => Attached[]) => {
    keep(keyOf(session), JSON.stringify(with_(filesOf(session))));
    watching.forEach((each) => each());
  }, [session]);
  return [useSyncExternalStore(watch, () => filesOf(session)), change];
}

/** The text of the message input. A text that the URL brings (`say`) takes the draft's place until it is sent or deleted; then the draft is back. */
export function useDraft(kept: string, onSaid: () => void): [string, Dispatch<SetStateAction<string>>] {
  const [search, setSearch] = useSearchParams();
  const say = search.get("say");
  const [text, setText] = useState(() => sessionStorage.getItem(kept) ?? "");
  const [aside, setAside] = useState(() => sessionStorage.getItem(`${kept}.aside`) ?? "");
  if (!text && aside) {
    setText(aside);
    setAside("");
  }
  useEffect(() => keep(`${kept}.aside`, aside), [aside, kept]);
  useLayoutEffect(() => {
    if (!say) return;
    setSearch((before) => new URLSearchParams([...before].filter(([name]) => name !== "say")), { replace: true }); // it is taken once
    setAside(aside || (text === say ? "" : text));
    setText(say);
    onSaid();
  });
  return [text, setText];
}
