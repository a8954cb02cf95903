import type { SpanAnswer, TraceAnswer } from "../api/schema";
import { brief } from "./brief";

/** The calls under way of a running task, as spans without an end: those allowed whose end the trace does not tell yet. */
export function underWay(trace: TraceAnswer): SpanAnswer[] {
  if (trace.task?.state !== "running") return [];
  const ended = new Set(trace.spans.map((each) => each.metadata.tool_call_id));
  const last = new Map(trace.policy_decisions.map((each) => [each.call, each])); // a call that was asked about is judged again
  return [...last.values()].filter((each) => each.allowed && !ended.has(each.call)).flatMap((each) => {
    const model = trace.spans.filter((span) => span.type === "LLM" && span.event.turn === each.turn).at(-1);
    if (!model) return [];
    const same = [...last.values()].filter((other) => other.tool === each.tool && other.time >= model.started_at);
    const asked = ((model.metadata.tool_calls ?? []) as { name: string; arguments: unknown }[]).filter((one) => one.name === each.tool);
    const given = asked[same.indexOf(each)]?.arguments;
    const text = given === undefined ? "" : brief(typeof given === "string" ? given : JSON.stringify(given));
    const id = `${model.id} ${each.call}`;
    return [{
      ...model, id, span_id: id, type: "TOOL", kind: "tool", title: each.tool, time: each.time, started_at: each.time, seconds: null,
      duration: null, status: "ok", output: "", event: { ...model.event, kind: "tool", name: each.tool, classification: "", usage: null, status: "ok", text },
      metadata: { tool_call_id: each.call, running: true, ...(given !== undefined && { arguments: given }) },
    }];
  });
}
