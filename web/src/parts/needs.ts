import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { call, may } from "../api/client";
import { limitsOf, questionsIn, useApprovals, useConnection, useStatus, useTasks, useUsage } from "../api/queries";
import type { TaskAnswer } from "../api/schema";

const KEY = "hob.let_be";
const KEPT = 300;
const SECONDS = 14 * 86_400;
const listeners = new Set<() => void>();

const mark = (task: TaskAnswer) => `${task.id} ${task.updated}`;
const letBe = () => localStorage.getItem(KEY) ?? "";

/** Dismiss a failure. If the task is retried and fails again, it shows again. */
export function leave(task: TaskAnswer) {
  localStorage.setItem(KEY, [...letBe().split("\n"), mark(task)].slice(-KEPT).join("\n"));
  listeners.forEach((each) => each());
}

function watch(listener: () => void) {
  listeners.add(listener);
  addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", listener);
  };
}

/** Everything that needs the owner, and its count for the badge. */
export function useNeeds() {
  const known = useSyncExternalStore(watch, letBe).split("\n");
  const status = useStatus();
  const tasks = useTasks();
  const approvals = useApprovals();
  const usage = useUsage("day", 1);
  const paired = useQuery({ queryKey: ["pairing"], queryFn: () => call("GET /api/v1/pairing"), retry: false, enabled: may("admin") });
  const failures = useQuery({ queryKey: ["tasks", "failed"], queryFn: () => call("GET /api/v1/tasks", { query: { all: true, state: "failed", limit: 50 } }) });
  const since = Date.now() / 1000 - SECONDS;
  const asked = approvals.data?.approvals ?? [];
  const questions = questionsIn(tasks.data?.tasks ?? []);
  const limits = limitsOf(usage.data).filter((each) => each.part >= 1);
  const pairing = paired.data?.requests ?? [];
  const failed = failures.data?.tasks.filter((each) => each.updated > since && !each.session.startsWith("subagent:") && !known.includes(mark(each))) ?? [];
  const unaccepted = status.data?.unaccepted ?? [];
  const count = [asked, questions, limits, pairing, failed, unaccepted].reduce((sum, each) => sum + each.length, 0);
  const lost = useConnection().state === "lost"; // missing data does not mean that nothing is open
  const waits = [status, tasks, approvals, usage, paired, failures].some((each) => each.isEnabled && (each.isPending || (lost && each.data === undefined)));
  return { asked, questions, limits, pairing, failed, unaccepted, count, waits };
}
