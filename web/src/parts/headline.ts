import type { ApprovalAnswer } from "../api/schema";
import { t } from "../i18n";

export type Said = string | { message: string; values: Record<string, Said> };

/** A sentence of Hob's with its values, in the page's language as far as the page has it. */
export const spoken = (said: Said): string =>
  typeof said === "string" ? said : t(said.message, Object.fromEntries(Object.entries(said.values ?? {}).map(([name, value]) => [name, spoken(value)])));

/** What a tool does, and the argument that says to what. */
const VERBS: Record<string, [string, string]> = {
  exec: ["Hob wants to run", "command"],
  write: ["Hob wants to write", "path"],
  edit: ["Hob wants to change", "path"],
  web_fetch: ["Hob wants to open", "url"],
  message: ["Hob wants to write to", "to"],
};
const LONGEST = 120;

/** What the call would do in its tool's own words ("send 40 € to DE12…"), where it has some. */
function does(said: Said | undefined): string {
  if (!said || typeof said === "string") return "";
  return said.values.does ? spoken(said.values.does) : Object.values(said.values).map(does).find(Boolean) ?? "";
}

/** What is asked, in one line: what Hob wants to do, and to what. */
export function headline(approval: ApprovalAnswer): { lead: string; object: string } {
  const told = does(approval.question?.reason as Said | undefined);
  if (told) return { lead: t("Hob wants to {does}", { does: told }), object: "" };
  const [verb, name] = VERBS[approval.tool] ?? ["", ""];
  const given = (approval.question?.arguments as Record<string, unknown> | undefined)?.[name];
  const [line = "", ...more] = typeof given === "string" ? given.trim().split("\n") : [];
  if (!line) return { lead: t("Hob wants to use"), object: approval.tool };
  return { lead: t(verb), object: more.length || line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line };
}
