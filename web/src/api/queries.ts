import { QueryClient, notifyManager, type Query, useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { Problem, call, may, readAfter } from "./client";
import { money, number, tn, useLanguage } from "../i18n";
import { live } from "./live";
import { useMidnight } from "../parts/time";
import type { PageAnswer, PlacedEvent, Routes, SettingsAnswer, SpendingAnswer, TaskAnswer } from "./schema";

notifyManager.setScheduler(queueMicrotask); // a timer would be after the next frame: what was clicked would go back for a moment

export const queries = new QueryClient({
  defaultOptions: {
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always", // the browser's network state says nothing about Hob, which may be on this machine
      staleTime: Infinity, // events say when something has changed
      refetchOnWindowFocus: false,
      retry: (count, error) => !(error instanceof Problem && error.status < 500) && count < 4,
    },
  },
});

export type Filter = Omit<NonNullable<Routes["GET /api/v1/timeline"]["query"]>, "before" | "limit">;

/** Hob's status. With `looked`, also read whenever the reader looks at it: some of it has no event. */
export const useStatus = (looked = false) =>
  useQuery({ queryKey: ["status"], queryFn: () => call("GET /api/v1/status"), refetchOnMount: looked ? "always" : true, refetchOnWindowFocus: looked ? "always" : false });
/** All open tasks: queued, running and waiting ones. */
export const useTasks = () => useQuery({ queryKey: ["tasks"], queryFn: () => call("GET /api/v1/tasks", { query: { limit: 1000 } }) });
/** Ended tasks, newest first, optionally only those in one state. */
export const useEndedTasks = (state: "" | "done" | "failed" | "cancelled" = "", limit = 60) =>
  useInfiniteQuery({
    queryKey: ["tasks", "ended", state, limit],
    queryFn: ({ pageParam }) => call("GET /api/v1/tasks", { query: { ended: true, state, limit, before: pageParam } }),
    initialPageParam: "",
    getNextPageParam: (page) => page.before ?? undefined,
  });
/** One question per conversation: messages that joined the turn wait with it. */
export const questionsIn = (tasks: readonly TaskAnswer[]) =>
  tasks.filter((each, place) => each.state === "waiting" && each.waits_for === "answer" && tasks.findLastIndex((one) => one.session === each.session && one.waits_for === "answer") === place);
export const useSessions = () => useQuery({ queryKey: ["sessions"], queryFn: () => call("GET /api/v1/sessions") });
export const useApprovals = () =>
  useQuery({ queryKey: ["approvals"], queryFn: () => call("GET /api/v1/approvals/pending"), enabled: may("read") || may("approve") });
export const useGrants = () => useQuery({ queryKey: ["grants"], queryFn: () => call("GET /api/v1/grants"), enabled: may("read") || may("approve") });
export const useUsage = (by: "day" | "model" | "session" | "sender" | "task" | "tool", days = 30) =>
  useQuery({ queryKey: ["usage", by, days], queryFn: () => call("GET /api/v1/usage", { query: { by, days } }) });
/** A limit of dollars or tokens: what is used, the limit, both in words, and the part used up, from 0. */
export type UsageLimit = { key: string; spent: string; limit: string; part: number };
export const limitsOf = (usage?: SpendingAnswer): UsageLimit[] => [
  ...(usage?.limits ?? []).filter((each) => each.limit_usd > 0).map((each) => ({
    key: each.key, spent: money(each.spent_usd), limit: money(each.limit_usd), part: (each.spent_usd + each.held_usd) / each.limit_usd,
  })),
  ...(usage?.token_limits ?? []).map((each) => ({
    key: each.key, spent: number(each.used), limit: tn("{count} token", "{count} tokens", each.limit), part: each.limit ? each.used / each.limit : 1,
  })),
];
export const useAudit = (kind: string) =>
  useQuery({ queryKey: ["audit", kind], queryFn: () => call("GET /api/v1/audit", { query: { limit: 200, kind } }) });
export const useSettings = () => useQuery({ queryKey: ["settings"], queryFn: () => call("GET /api/v1/settings") });
export const useModels = () => useQuery({ queryKey: ["models"], queryFn: () => call("GET /api/v1/models"), enabled: may("read") });
export const useViews = () => useQuery({ queryKey: ["views"], queryFn: () => call("GET /api/v1/views") });
export const useCanvas = () => useQuery({ queryKey: ["canvas"], queryFn: () => call("GET /api/v1/canvas"), enabled: may("read") });
export const useMemory = () => useQuery({ queryKey: ["memory", "status"], queryFn: () => call("GET /api/v1/memory/status"), enabled: may("read") });
export const useTrace = (id: string) =>
  useQuery({ queryKey: ["trace", id], queryFn: () => call("GET /api/v1/trace/{id}", { path: { id } }), enabled: !!id });
/** Where a part of a conversation is: before or after an entry, without either at the end. */
export type Place = { before?: number; after?: number };
export const historyPart = (session: string, place: Place = {}) => call("GET /api/v1/sessions/history", { query: { session, ...place, limit: 60 } });
/** A conversation, newest part first. Only the parts near the reader are kept. */
export const useHistory = (session: string) =>
  useInfiniteQuery({
    queryKey: ["history", session],
    queryFn: ({ pageParam }) => historyPart(session, pageParam),
    initialPageParam: {} as Place,
    getNextPageParam: (page): Place | undefined => (page.before === null ? undefined : { before: page.before }),
    getPreviousPageParam: (page): Place | undefined => (page.after === null ? undefined : { after: page.after }),
    maxPages: 3,
    enabled: !!session,
  });
export const useTimeline = (filter: Filter) =>
  useInfiniteQuery({
    queryKey: ["timeline", filter],
    queryFn: ({ pageParam }) =>
      call("GET /api/v1/timeline", { query: { ...filter, before: pageParam || undefined, limit: 60 } }),
    structuralSharing: false, // it would compare all loaded pages whenever one arrives
    initialPageParam: 0,
    getNextPageParam: (page: PageAnswer) => page.before ?? undefined,
  });

export function useAnswer() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, allowed, scope = "once" }: { id: string; allowed: boolean; scope?: string }) =>
      call("POST /api/v1/approvals/{id}", { path: { id }, body: { allowed, scope } }),
    onSettled: () => {
      for (const key of ["approvals", "grants", "status"]) void client.invalidateQueries({ queryKey: [key] });
    },
  });
}

/** Whether anything was loaded that can be shown offline. */
export const knowsSomething = () => queries.getQueryCache().getAll().some((each) => each.state.data !== undefined);

export function useConnection() {
  return useSyncExternalStore(live.subscribe, () => live.connection);
}

/** Whether the connection is lost, for more than a moment. */
export function useOffline() {
  const { state, since } = useConnection();
  const [offline, setOffline] = useState(() => Date.now() - since > 1_500);
  useEffect(() => {
    const timer = setTimeout(() => setOffline(state === "lost"), state === "lost" ? 1_500 : 0);
    return () => clearTimeout(timer);
  }, [state]);
  return offline && state === "lost";
}

/** Read it anew. Its first read, if under way, may bring what was before, and the library would wait for it instead of reading again. */
export async function readAnew(client: QueryClient, queryKey: readonly unknown[]) {
  const first = { queryKey, predicate: (query: Query) => query.state.data === undefined };
  if (client.isFetching(first)) await client.refetchQueries(first, { cancelRefetch: false });
  await client.invalidateQueries({ queryKey });
}

/** The queries that each kind of event invalidates. */
const CHANGES: Record<string, string[]> = {
  inbound: ["tasks", "sessions", "status"],
  outbound: ["sessions", "tasks"],
  turn: ["tasks", "status", "usage", "approvals", "sessions", "memory"],
  model: ["usage", "step"],
  tool: ["repo", "canvas", "step"],
  approval: ["step", "approvals", "grants", "status", "audit"],
  policy: ["audit"],
  audit: ["audit"],
  erased: ["sessions", "tasks", "timeline", "status", "memory", "audit"],
  subagent: ["subagents"],
  session: ["sessions"],
  web_users: ["webusers"],
  people: ["people", "pairing"],
  grants: ["grants"],
  repository: ["repo"],
  identity: ["identity", "status", "audit"],
  memory: ["memory"],
  system: ["settings", "status", "usage", "models", "phone", "audit", "undo", "repo"],
};

/** Where events start is known before anything else is read: what changes between a read and its first event is lost. */
function openLive() {
  if (!live.open()) return;
  const newest = call("GET /api/v1/timeline", { query: { limit: 1 } });
  readAfter(newest.then((page) => live.from(page.newest), () => live.from(null)));
}

/** Invalidates queries as events arrive; mounted once, around all that reads. */
export function useLiveUpdates() {
  const client = useQueryClient();
  useState(openLive); // before the first effect of what is inside
  const language = useLanguage();
  useEffect(() => {
    for (const key of ["settings", "approvals", "audit", "trace"]) void client.invalidateQueries({ queryKey: [key] }); // their texts are in that language
  }, [client, language]);
  const midnight = useMidnight();
  useEffect(() => {
    if (midnight) void client.invalidateQueries({ queryKey: ["usage"] }); // those of today are of another day then
  }, [client, midnight]);
  useEffect(() => {
    let timer = 0;
    const stale = new Set<string>();
    const flush = () => {
      timer = 0;
      for (const key of stale) void readAnew(client, JSON.parse(key) as unknown[]);
      stale.clear();
    };
    const off = live.onEvent((event) => {
      for (const key of CHANGES[event.kind === "system" && event.status === "changed" ? event.name : event.kind] ?? []) stale.add(JSON.stringify([key]));
      if (event.kind === "system" && event.name === "erased") { // what was shown goes at once
        for (const queryKey of [["history"], ["trace"]]) void client.resetQueries({ queryKey });
      }
      stale.add(JSON.stringify(["trace", event.trace_id]));
      if (event.session && ["outbound", "inbound", "turn"].includes(event.kind)) {
        stale.add(JSON.stringify(["history", event.session]));
      }
      void client.invalidateQueries({ queryKey: ["timeline"], type: "inactive", refetchType: "none" }); // a shown one hears its events itself
      timer ||= window.setTimeout(flush, 120);
    });
    let was = live.connection.state;
    const watch = live.subscribe(() => {
      const isHeard = ({ queryKey, state }: Query) => queryKey[0] === "timeline" && state.status === "success" && !live.anew; // its events come by the connection
      if (live.connection.state === "open" && was === "lost") void client.invalidateQueries({ refetchType: "active", predicate: (query) => !isHeard(query) });
      was = live.connection.state;
    });
    return () => {
      off();
      watch();
      clearTimeout(timer);
    };
  }, [client]);
}

export function spanType(kind: string): PlacedEvent["span_type"] {
  const types: Record<string, string> = {
    inbound: "INBOUND", steer: "INBOUND", outbound: "OUTBOUND", delivery: "OUTBOUND",
    model: "LLM", tool: "TOOL", policy: "POLICY", approval: "APPROVAL", subagent: "DELEGATION",
  };
  return types[kind] ?? "EVENT";
}

/** A mutation that invalidates these queries when it is settled; `then` runs on success. */
export function useChange<T, V = void>(invalidates: readonly string[], run: (value: V) => Promise<T>, then?: (told: T) => unknown) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: (told) => void then?.(told),
    onSettled: () => { for (const key of invalidates) void readAnew(client, [key]); },
  });
}

/** Changes settings at run time and shows their new values at once. */
export function useSettingsChange(then?: (told: SettingsAnswer) => unknown) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (values: Record<string, unknown>) => call("PATCH /api/v1/settings", { body: { values } }),
    onSuccess: async (told) => {
      await client.cancelQueries({ queryKey: ["settings"], exact: true }); // an answer from before the change would undo it
      client.setQueryData(["settings"], told);
      void then?.(told);
    },
  });
}
