import type { ApprovalAnswer } from "../api/schema";
import { t } from "../i18n";

export type Said = string | { message: string; values: Record<string, Said> };

const HIDDEN = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;

/** The text with what is invisible or turns the direction spelled out, as in the question below. */
const spelled = (text: string) => text.replace(HIDDEN, (char) => `⟨U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);

/** A sentence with its values filled in, translated if the page has a translation. */
export const spoken = (said: Said): string =>
  typeof said === "string" ? spelled(said) : t(said.message, Object.fromEntries(Object.entries(said.values ?? {}).map(([name, value]) => [name, spoken(value)])));

/** A headline for each tool, and the argument that completes it. */
const VERBS: Record<string, [string, string]> = {
  exec: ["Hob wants to run", "command"],
  write: ["Hob wants to write", "path"],
  edit: ["Hob wants to change", "path"],
  web_fetch: ["Hob wants to open", "url"],
  message: ["Hob wants to write to", "to"],
};
const LONGEST = 120;

/** The call's effect in its tool's own words ("send 40 € to DE12…"), if it has any. */
function does(said: Said | undefined): string {
  if (!said || typeof said === "string") return "";
  return said.values.does ? spoken(said.values.does) : Object.values(said.values).map(does).find(Boolean) ?? "";
}

/** The approval in one line: the action and its object, the argument of this name. */
export function headline(approval: ApprovalAnswer): { lead: string; object: string; name: string } {
  const told = does(approval.question?.reason as Said | undefined);
  if (told) return { lead: t("Hob wants to {does}", { does: told }), object: "", name: "" };
  const [verb, name] = VERBS[approval.tool] ?? ["", ""];
  const given = (approval.question?.arguments as Record<string, unknown> | undefined)?.[name];
  const [line = "", ...more] = typeof given === "string" ? spelled(given).trim().split("\n") : [];
  if (!line) return { lead: t("Hob wants to use"), object: approval.tool, name: "" };
  return { lead: t(verb), object: more.length || line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line, name };
}
