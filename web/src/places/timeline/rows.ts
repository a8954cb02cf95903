import type { PlacedEvent } from "../../api/schema";

export type Row =
  | { type: "day"; key: string; at: number }
  | { type: "inbound" | "outbound" | "line"; key: string; event: PlacedEvent };

/** Lines shown of a folded message. */
export const FOLDED = 6;

/** The estimated number of lines of a text. */
export const linesOf = (text: string) => text.split("\n").reduce((count, line) => count + Math.max(1, Math.ceil(line.length / 90)), 0);

const QUIET = new Set(["session", "turn", "delivery", "steer", "command"]);

/** Caches the row of an event: an identical object is not rendered again. */
const MADE = new WeakMap<PlacedEvent, Row>();
const DAYS = new WeakMap<PlacedEvent, Row>();

/** Traces, the latest first; within each in order: message, actions, answer. */
export function rowsOf(events: readonly PlacedEvent[], technical: boolean): Row[] {
  const traces = new Map<string, PlacedEvent[]>();
  for (const event of events) {
    if (!technical && QUIET.has(event.kind) && !(event.kind === "turn" && event.classification === "failed")) continue;
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
      rows.push(made(DAYS, found[0]!, () => ({ type: "day", key: `day ${here}`, at })));
    }
    const ordered = found.toSorted((one, other) => one.at - other.at || one.cursor - other.cursor);
    for (const event of ordered) {
      const type = event.kind === "inbound" || event.kind === "outbound" ? event.kind : "line";
      rows.push(made(MADE, event, () => ({ type, key: String(event.cursor), event })));
    }
  }
  return rows;
}

function made(known: WeakMap<PlacedEvent, Row>, event: PlacedEvent, make: () => Row): Row {
  const before = known.get(event);
  if (before) return before;
  const row = make();
  known.set(event, row);
  return row;
}
