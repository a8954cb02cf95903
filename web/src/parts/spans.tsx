import { ArrowDownLeft, ArrowUpRight, Bot, Brain, CircleDot, Hand, ShieldAlert, Users, Wrench, type LucideIcon } from "lucide-react";
import { t } from "../i18n";

/** Colour, icon and word of each span type: no meaning by colour alone. */
export const KINDS: Record<string, { colour: string; icon: LucideIcon; word: () => string }> = {
  INBOUND: { colour: "var(--inbound)", icon: ArrowDownLeft, word: () => t("message") },
  OUTBOUND: { colour: "var(--outbound)", icon: ArrowUpRight, word: () => t("answer") },
  LLM: { colour: "var(--llm)", icon: Bot, word: () => t("model call") },
  TOOL: { colour: "var(--tool)", icon: Wrench, word: () => t("tool") },
  POLICY: { colour: "var(--policy)", icon: ShieldAlert, word: () => t("policy") },
  APPROVAL: { colour: "var(--approval)", icon: Hand, word: () => t("approval") },
  DELEGATION: { colour: "var(--accent)", icon: Users, word: () => t("sub-agent") },
  RECALL: { colour: "var(--inbound)", icon: Brain, word: () => t("memory recall") },
  EVENT: { colour: "var(--event)", icon: CircleDot, word: () => t("event") },
};

export const kindOf = (type: string) => KINDS[type] ?? KINDS.EVENT!;

/** Statuses of calls that wait for an answer, sub-agents or a client. */
const WAITS = new Set(["asked", "child", "client"]);

/** The word for an event; the sending of an answer to a chat is not the answer itself. */
export const eventWord = (event: { kind: string; span_type: string }) =>
  event.kind === "turn" ? t("turn") : event.kind === "delivery" ? t("delivery") : kindOf(event.span_type).word();

/** Whether an event failed. An answer's status is its kind, an approval's its outcome. */
export function wentWrong(event: { kind: string; status: string; classification?: string }): boolean {
  if (event.kind === "outbound") return event.status === "error";
  if (event.kind === "delivery") return ["parked", "undeliverable"].includes(event.status);
  if (event.kind === "turn") return ["failed", "set_aside"].includes(event.classification ?? "");
  return ["model", "tool"].includes(event.kind) && event.status !== "ok" && !WAITS.has(event.status);
}

export function SpanIcon({ type, size = 14 }: { type: string; size?: number }) {
  const { colour, icon: Icon, word } = kindOf(type);
  return <Icon size={size} color={colour} aria-label={word()} className="shrink-0" />;
}
