import { useMemo } from "react";
import { t } from "../i18n";

type Line = { kind: "file" | "hunk" | "add" | "del" | "same"; text: string; old?: number; now?: number };
const MOST = 3_000;

function parse(diff: string): Line[] {
  const lines: Line[] = [];
  let old = 0;
  let now = 0;
  let body = false;
  for (const line of diff.split("\n")) {
    if (lines.length > MOST) break;
    if (line.startsWith("diff --git ")) {
      body = false;
      lines.push({ kind: "file", text: line.slice(11).split(" b/").at(-1) ?? line });
    } else if (line.startsWith("@@")) {
      const found = /@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)/.exec(line);
      old = Number(found?.[1] ?? 1);
      now = Number(found?.[2] ?? 1);
      body = true;
      lines.push({ kind: "hunk", text: found?.[3]?.trim() ?? "" });
    } else if (body && line.startsWith("+")) lines.push({ kind: "add", text: line.slice(1), now: now++ });
    else if (body && line.startsWith("-")) lines.push({ kind: "del", text: line.slice(1), old: old++ });
    else if (body && line.startsWith(" ")) lines.push({ kind: "same", text: line.slice(1), old: old++, now: now++ });
    else if (line.startsWith("Binary files")) lines.push({ kind: "hunk", text: t("binary file") });
  }
  return lines;
}

/** Reverses a diff: what undoing would remove is what was added. */
export function backwards(diff: string): string {
  const told: string[] = [];
  let [gone, come]: [string[], string[]] = [[], []];
  const flush = () => {
    told.push(...come.map((each) => `-${each}`), ...gone.map((each) => `+${each}`));
    [gone, come] = [[], []];
  };
  let body = false;
  for (const line of diff.split("\n")) {
    if (body && line.startsWith("-")) gone.push(line.slice(1));
    else if (body && line.startsWith("+")) come.push(line.slice(1));
    else {
      flush();
      body = line.startsWith("@@") || (body && !line.startsWith("diff --git "));
      told.push(line.replace(/^@@ -(\S+) \+(\S+) @@/, "@@ -$2 +$1 @@"));
    }
  }
  flush();
  return told.join("\n");
}

const LOOKS = { add: "bg-(--diff-add)", del: "bg-(--diff-del)", same: "", hunk: "", file: "" };
const SIGNS = { add: "+", del: "−", same: " ", hunk: "", file: "" };

/** A git diff with line numbers, signs and colours. */
export function Diff({ text }: { text: string }) {
  const lines = useMemo(() => parse(text), [text]);
  if (!lines.length) return <p className="px-4 py-6 text-center text-muted">{t("No changes.")}</p>;
  return (
    <div role="region" aria-label={t("Changes")} tabIndex={0} className="overflow-x-auto font-mono text-xs leading-5">
      <div className="w-max min-w-full">
        {lines.map((line, index) =>
          line.kind === "file" ? (
            <p key={index} className="sticky start-0 border-y border-line bg-sunken px-3 py-1.5 font-sans text-sm font-semibold first:border-t-0">{line.text}</p>
          ) : line.kind === "hunk" ? (
            <p key={index} className="bg-bg px-3 py-1 text-muted">⋯ {line.text}</p>
          ) : (
            <p key={index} className={`flex ${LOOKS[line.kind]}`}>
              <span aria-hidden className="w-10 shrink-0 pe-2 text-end text-muted select-none">{line.old}</span>
              <span aria-hidden className="w-10 shrink-0 pe-2 text-end text-muted select-none">{line.now}</span>
              <span className="w-4 shrink-0 text-center select-none">{SIGNS[line.kind]}</span>
              <span dir="auto" className="whitespace-pre pe-4">{line.text || " "}</span>
            </p>
          ),
        )}
      </div>
    </div>
  );
}
