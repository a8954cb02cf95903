import type { SpanAnswer } from "../../api/schema";
import { tn } from "../../i18n";

export type Placed = { span: SpanAnswer; depth: number };

/** Each span under the one it is a part of, in the order in which they began. */
export function ordered(spans: readonly SpanAnswer[]): Placed[] {
  const known = new Set(spans.map((each) => each.span_id));
  const below = new Map<string, SpanAnswer[]>();
  for (const span of spans.toSorted((one, other) => one.started_at - other.started_at)) {
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

const memoriesOf = (span: SpanAnswer) => (span.metadata.recalled as unknown[] | undefined)?.length ?? 0;

/** What was remembered for a turn, as a span of its own before the model is asked. */
function recallOf(span: SpanAnswer): SpanAnswer {
  const title = tn("{count} memory", "{count} memories", memoriesOf(span));
  const event = { ...span.event, usage: null, status: "ok", kind: "recall" };
  return { ...span, id: `${span.id} recall`, type: "RECALL", kind: "recall", title, seconds: null, output: "", event, metadata: { recalled: span.metadata.recalled } };
}

/** The spans that decided how long it took: from the end back, whichever ended last before the next one began. */
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
