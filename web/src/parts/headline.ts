import type { ApprovalAnswer } from "../api/schema";
import { t } from "../i18n";

export type Said = string | { message: string; values: Record<string, Said> };

/** A sentence with its values filled in, translated if the page has a translation. */
export const spoken = (said: Said): string =>
  typeof said === "string" ? said : t(said.message, Object.fromEntries(Object.entries(said.values ?? {}).map(([name, value]) => [name, spoken(value)])));

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
  const [line = "", ...more] = typeof given === "string" ? given.trim().split("\n") : [];
  if (!line) return { lead: t("Hob wants to use"), object: approval.tool, name: "" };
  return { lead: t(verb), object: more.length || line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line, name };
}
