import { useQuery } from "@tanstack/react-query";
import { call, may } from "../api/client";

export type Fact = {
  id: string; sentence?: string; subject: string; predicate: string; object: string; valid_from: number | null; valid_to: number | null;
  recorded_from: number; recorded_to: number | null; state: string; quote: string; said_at: number; change: string; contradicts?: string[];
};
export type Change = { id: string; at: number; kind: "added" | "changed" | "closed"; lines: { sign: "+" | "−"; fact: Fact }[]; undo: string };

/** All records of facts, including those no longer valid. */
export function useFacts() {
  return useQuery({
    queryKey: ["memory", "facts"],
    queryFn: async () => (await call("GET /api/v1/memory/facts", { query: { past: true, ever: true } })).facts as Fact[],
    enabled: may("admin"),
  });
}

/** Changes of facts since a time, newest first. */
export function changesSince(facts: readonly Fact[], since: number): Change[] {
  const added = new Map<string, Fact[]>();
  for (const each of facts) {
    if (each.recorded_to === null && each.state !== "asked" && each.recorded_from >= since) added.set(each.change, [...(added.get(each.change) ?? []), each]);
  }
  const gone = facts.filter((each) => each.recorded_to !== null && each.recorded_to >= since && each.recorded_from < since);
  const found: Change[] = [];
  const told = new Set<Fact>();
  for (const [id, some] of added) {
    const at = some[0]!.recorded_from;
    const before = gone.filter((each) => some.some((one) => key(one) === key(each)));
    before.forEach((each) => told.add(each));
    const ended = some.filter((each) => each.valid_to !== null && before.some((one) => one.object === each.object));
    const plus = some.filter((each) => !ended.includes(each));
    const minus = [...ended, ...before.filter((each) => !some.some((one) => one.object === each.object))];
    const lines: Change["lines"] = [...minus.map((fact) => ({ sign: "−" as const, fact })), ...plus.map((fact) => ({ sign: "+" as const, fact }))];
    found.push({ id, at, lines, undo: some[0]!.id, kind: plus.length && minus.length ? "changed" : plus.length ? "added" : "closed" });
  }
  for (const fact of gone) {
    if (!told.has(fact)) found.push({ id: `gone ${fact.id}`, at: fact.recorded_to!, lines: [{ sign: "−", fact }], undo: fact.id, kind: "closed" });
  }
  return found.sort((one, other) => other.at - one.at);
}

const key = (fact: Fact) => `${fact.subject.toLowerCase()} ${fact.predicate}`;

/** The last 24 hours, which include last night. */
export const sinceYesterday = () => Date.now() / 1000 - 86_400;
