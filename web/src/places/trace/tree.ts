import type { SpanAnswer } from "../../api/schema";
import { tn } from "../../i18n";
import { turnWord, wordOf } from "../../parts/words";

export type Placed = { span: SpanAnswer; depth: number };

/** Orders spans by start time, each under its parent. */
export function ordered(spans: readonly SpanAnswer[]): Placed[] {
  const known = new Set(spans.map((each) => each.span_id));
  const below = new Map<string, SpanAnswer[]>();
  for (const span of spans.map((each) => whole(each, spans)).toSorted((one, other) => one.started_at - other.started_at)) {
    const parent = span.parent_span_id;
    const under = parent && known.has(parent) && parent !== span.span_id ? parent : "";
    below.set(under, [...(below.get(under) ?? []), span]);
  }
  const found: Placed[] = [];
  const seen = new Set<string>();
  const recalled = new Set<string>();
  const walk = (under: string, depth: number) => {
    for (const span of below.get(under) ?? []) {
      const turn = span.event.turn ?? "";
      if (memoriesOf(span) && !recalled.has(turn)) {
        recalled.add(turn);
        found.push({ span: recallOf(span), depth });
      }
      found.push({ span, depth });
      if (seen.has(span.span_id)) continue;
      seen.add(span.span_id);
      walk(span.span_id, depth + 1);
    }
  };
  walk("", 0);
  return found;
}

/** The start of a turn: that of its first part, which may be earlier if the turn had to wait. */
function whole(span: SpanAnswer, spans: readonly SpanAnswer[]): SpanAnswer {
  if (span.kind !== "turn" || span.seconds === null) return span;
  const first = Math.min(...spans.filter((each) => each.event.turn === span.event.turn).map((each) => each.started_at));
  return { ...span, started_at: first, seconds: span.started_at + span.seconds - first };
}

/** The length of a span in seconds; of a call under way, so far. */
export const lengthOf = (span: SpanAnswer) => (span.metadata.running ? Math.max(0, Date.now() / 1000 - span.started_at) : span.seconds ?? 0);

/** Maps times to axis positions from 0 to 1, and back. */
export type Axis = { place: (at: number) => number; at: (place: number) => number; shortened: boolean };

const WAIT = 1;

/** An axis that gives activity at least half of its length by shortening idle times, the longest first.
A trace of less than a second has no waits worth that. */
export function axisOf(spans: readonly Placed[], start: number, end: number): Axis {
  const busy = spans.map((each) => each.span).filter((each) => each.kind !== "turn")
    .map((each) => [Math.max(start, each.started_at), Math.min(end, each.started_at + lengthOf(each))] as const)
    .filter(([from, to]) => to >= from).sort((one, other) => one[0] - other[0]);
  const gaps: [number, number][] = [];
  let until = start;
  for (const [from, to] of [...busy, [end, end] as const]) {
    if (from > until) gaps.push([until, from]);
    until = Math.max(until, to);
  }
  const worked = Math.max(0.001, end - start - gaps.reduce((sum, [from, to]) => sum + to - from, 0));
  let [room, most] = [worked, Infinity];
  const lengths = gaps.map(([from, to]) => to - from).sort((one, other) => one - other);
  lengths.forEach((length, place) => {
    const share = room / (lengths.length - place);
    if (length > share && end - start >= WAIT) most = Math.min(most, share);
    room -= Math.min(length, share);
  });
  const knots: [number, number][] = [[start, 0]];
  let [at, shown] = [start, 0];
  for (const [from, to] of gaps) {
    shown += from - at;
    knots.push([from, shown]);
    shown += Math.min(to - from, most);
    knots.push([to, shown]);
    at = to;
  }
  shown += end - at;
  knots.push([end, shown]);
  const between = (value: number, of: 0 | 1): number => {
    const to = of ? 0 : 1;
    const next = knots.findIndex((knot) => knot[of] >= value);
    if (next <= 0) return knots[next ? knots.length - 1 : 0]![to];
    const [one, other] = [knots[next - 1]!, knots[next]!];
    return one[to] + ((value - one[of]) / (other[of] - one[of])) * (other[to] - one[to]);
  };
  const length = shown || 1;
  return { place: (time) => between(time, 0) / length, at: (place) => between(place * length, 1), shortened: shown < (end - start) * 0.99 };
}

const memoriesOf = (span: SpanAnswer) => (span.metadata.recalled as unknown[] | undefined)?.length ?? 0;

/** The memories recalled for a turn, as a span before the model call. */
function recallOf(span: SpanAnswer): SpanAnswer {
  const title = tn("{count} memory", "{count} memories", memoriesOf(span));
  const event = { ...span.event, usage: null, status: "ok", kind: "recall" };
  return { ...span, id: `${span.id} recall`, type: "RECALL", kind: "recall", title, seconds: null, output: "", event, metadata: { recalled: span.metadata.recalled } };
}

/** The critical path: from the end back, the span that ended last before the next one began. */
export function critical(spans: readonly Placed[]): ReadonlySet<string> {
  const timed = spans.map((each) => each.span).filter((each) => each.kind !== "turn" && each.seconds !== null);
  const end = (span: SpanAnswer) => span.started_at + (span.seconds ?? 0);
  const path = new Set<string>();
  let before = Infinity;
  for (;;) {
    const next = timed.filter((each) => !path.has(each.id) && end(each) <= before + 0.001).sort((one, other) => end(other) - end(one))[0];
    if (!next) return path;
    path.add(next.id);
    before = next.started_at;
  }
}

/** The label of a span: the first line of its message, else its title; empty if the text was erased. */
export function labelOf(span: SpanAnswer): string {
  if (span.type === "INBOUND" || span.type === "OUTBOUND") return span.output.split("\n")[0] || (span.event.erased === null ? span.title : "");
  return span.kind === "turn" ? turnWord(span.title) : wordOf(span.title);
}
