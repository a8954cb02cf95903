import type { PlacedEvent } from "../../api/schema";
import { wentWrong } from "../../parts/spans";

export type Row =
  | { type: "day"; key: string; at: number }
  | { type: "inbound" | "outbound" | "line"; key: string; event: PlacedEvent; stopped: boolean };

/** Lines shown of a folded message. */
export const FOLDED = 6;

/** The estimated number of lines of a text. */
export const linesOf = (text: string) => text.split("\n").reduce((count, line) => count + Math.max(1, Math.ceil(line.length / 90)), 0);

const QUIET = new Set(["session", "turn", "delivery", "steer", "command"]);

/** Whether an event is about Hob's inner workings; failures and held-back deliveries are not. */
export function isTechnical(event: PlacedEvent): boolean {
  if (event.kind === "system") return event.status === "changed" || event.name === "admission";
  return QUIET.has(event.kind) && !wentWrong(event) && !(event.kind === "delivery" && event.status === "skipped");
}

/** Caches the row of an event: an identical object is not rendered again. */
const MADE = new WeakMap<PlacedEvent, Row>();
const DAYS = new WeakMap<PlacedEvent, Row>();

/** Traces, the latest first; within each in order: message, actions, answer. */
export function rowsOf(events: readonly PlacedEvent[], technical: boolean): Row[] {
  const traces = new Map<string, PlacedEvent[]>();
  const cut = new Set(events.filter((each) => each.kind === "turn" && each.classification === "cancelled").map((each) => each.trace_id));
  for (const event of events) {
    if (!technical && isTechnical(event)) continue;
    const found = traces.get(event.trace_id);
    if (found) found.push(event);
    else traces.set(event.trace_id, [event]);
  }
  const rows: Row[] = [];
  let day = "";
  for (const found of traces.values()) {
    const at = found[0]!.at;
    const here = new Date(at * 1000).toDateString();
    if (here !== day) {
      day = here;
      rows.push(made(DAYS, found[0]!, (event) => ({ type: "day", key: `day ${event.cursor}`, at })));
    }
    const ordered = found.toSorted((one, other) => one.at - other.at || one.cursor - other.cursor);
    for (const event of ordered) {
      const type = event.kind === "inbound" || event.kind === "outbound" ? event.kind : "line";
      const stopped = cut.has(event.trace_id);
      const before = MADE.get(event);
      if (before && before.type !== "day" && before.stopped !== stopped) MADE.delete(event);
      rows.push(made(MADE, event, () => ({ type, key: String(event.cursor), event, stopped })));
    }
  }
  return rows;
}

function made(known: WeakMap<PlacedEvent, Row>, event: PlacedEvent, make: (event: PlacedEvent) => Row): Row {
  const before = known.get(event);
  if (before) return before;
  const row = make(event);
  known.set(event, row);
  return row;
}
