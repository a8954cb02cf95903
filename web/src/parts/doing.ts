import { useEffect, useSyncExternalStore } from "react";
import { call } from "../api/client";
import { live, type Message } from "../api/live";
import { useConnection } from "../api/queries";
import type { TaskAnswer } from "../api/schema";
import { t } from "../i18n";
import { underWay } from "./underway";

/** Running tool calls by message, in the order they began; a message is followed once, however often it is shown. */
const calls = new Map<string, readonly string[]>();
const listeners = new Set<() => void>();

function keep(id: string, running: readonly string[] | null) {
  if (running) calls.set(id, running);
  else calls.delete(id);
  listeners.forEach((each) => each());
}

function follow(id: string, trace: string) {
  calls.set(id, []);
  const missed: string[] = []; // tools of calls that ended here and began before this page listened
  live.ask({ type: "follow", id }, (message: Message) => {
    const running = calls.get(id) ?? [];
    const name = String(message.name);
    if (message.type === "progress" && message.what === "tool") keep(id, [...running, lineOf(name, String(message.text))]);
    else if (message.type === "progress" && message.what === "tool_done") {
      const ended = running.findIndex((each) => each.startsWith(`${name}\n`));
      if (ended < 0) missed.push(name);
      keep(id, running.filter((_, place) => place !== ended));
    } else if (["result", "lost", "error"].includes(message.type)) {
      keep(id, null);
    }
  });
  void call("GET /api/v1/trace/{id}", { path: { id: trace } }).then((known) => {
    const heard = calls.get(id);
    const begun = underWay(known).map((each) => lineOf(each.title, JSON.stringify(each.metadata.arguments ?? {})));
    for (const name of missed) {
      const ended = begun.findIndex((each) => each.startsWith(`${name}\n`));
      if (ended >= 0) begun.splice(ended, 1);
    }
    if (heard) keep(id, [...begun.filter((each) => !heard.includes(each)), ...heard]);
  }, () => undefined);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** What a running turn does right now ("reading a.txt"); empty between tool calls. */
export function useDoing(task: TaskAnswer): string {
  const follows = useConnection().state === "open" && task.state === "running";
  useEffect(() => {
    if (follows && !calls.has(task.id)) follow(task.id, task.trace_id);
  }, [follows, task.id, task.trace_id]);
  return useSyncExternalStore(subscribe, () => calls.get(task.id)?.at(-1)?.split("\n")[1] ?? "");
}

/** Words for what a tool does, and the argument that completes them. */
const WORDS: Record<string, [string, string]> = {
  read: ["reading {what}", "path"],
  write: ["writing {what}", "path"],
  edit: ["changing {what}", "path"],
  exec: ["running {what}", "command"],
  web_fetch: ["reading {what}", "url"],
  web_search: ["searching the web for {what}", "query"],
};
const LONGEST = 60;

const lineOf = (tool: string, given: string) => `${tool}\n${doingWord(tool, given)}`;

function doingWord(tool: string, given: string): string {
  const [word, name] = WORDS[tool] ?? ["", ""];
  let what = "";
  try {
    what = String((JSON.parse(given) as Record<string, unknown>)[name] ?? "").trim().split("\n")[0]!;
  } catch { /* long arguments are cut off */ }
  return word && what ? t(word, { what: what.length > LONGEST ? `${what.slice(0, LONGEST)}…` : what }) : t("using {name}", { name: tool });
}
