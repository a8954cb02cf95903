import { useMemo } from "react";
import { t, tn } from "../i18n";

type Line = { kind: "file" | "hunk" | "add" | "del" | "same"; text: string; old?: number; now?: number };
const MOST = 3_000; // lines

/** The lines of a diff, each with whether it belongs to a hunk; a hunk's length is in its head. */
function* read(diff: string): Generator<[line: string, body: boolean]> {
  let [gone, come] = [0, 0];
  for (const line of diff.split("\n")) {
    const head = gone + come > 0 ? null : /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (head) [gone, come] = [Number(head[1] ?? 1), Number(head[2] ?? 1)];
    const body = !head && gone + come > 0 && /^[-+ ]/.test(line);
    if (body && line[0] !== "+") gone--;
    if (body && line[0] !== "-") come--;
    yield [line, body];
  }
}

/** The file that a head like `+++ b/notes.md` names. */
const named = (line: string) => line.slice(4).replace(/^[ab]\//, "").replace(/\t.*$/, "");

function parse(diff: string, most: number): Line[] {
  const lines: Line[] = [];
  let old = 0;
  let now = 0;
  let file = "";
  for (const [line, body] of read(diff)) {
    if (body) {
      const text = line.slice(1);
      if (line.startsWith("+")) lines.push({ kind: "add", text, now: now++ });
      else if (line.startsWith("-")) lines.push({ kind: "del", text, old: old++ });
      else lines.push({ kind: "same", text, old: old++, now: now++ });
    } else if (line.startsWith("diff --git ")) {
      file = line.slice(11).split(" b/").at(-1) ?? line;
      lines.push({ kind: "file", text: file });
    } else if (/^(---|\+\+\+) /.test(line) && named(line) !== "/dev/null" && named(line) !== file) {
      file = named(line);
      lines.push({ kind: "file", text: file });
    } else if (line.startsWith("@@")) {
      const found = /@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)/.exec(line);
      old = Number(found?.[1] ?? 1);
      now = Number(found?.[2] ?? 1);
      lines.push({ kind: "hunk", text: found?.[3]?.trim() ?? "" });
    } else if (line.startsWith("Binary files")) lines.push({ kind: "hunk", text: t("binary file") });
  }
  return lines.length > most ? [...lines.slice(0, most), { kind: "hunk", text: tn("{count} line is not shown", "{count} lines are not shown", lines.length - most) }] : lines;
}

/** The part of a diff about this file, whose path may be relative; empty if there is none. */
export function partOf(diff: string, path: string): string {
  const wanted = path.replace(/^(\.?\/)+/, "");
  const parts: string[][] = [];
  for (const [line, body] of read(diff)) {
    if (!parts.length || (!body && line.startsWith("--- "))) parts.push([]);
    parts.at(-1)!.push(line);
  }
  const isIts = (line: string) => /^(---|\+\+\+) /.test(line) && `/${named(line)}`.endsWith(`/${wanted}`);
  return parts.filter((lines) => lines.slice(0, 2).some(isIts)).map((lines) => lines.join("\n")).join("\n");
}

/** Reverses a diff: what undoing would remove is what was added. */
export function backwards(diff: string): string {
  const told: string[] = [];
  let [gone, come]: [string[], string[]] = [[], []];
  const flush = () => {
    told.push(...come.map((each) => `-${each}`), ...gone.map((each) => `+${each}`));
    [gone, come] = [[], []];
  };
  for (const [line, body] of read(diff)) {
    if (body && line.startsWith("-")) gone.push(line.slice(1));
    else if (body && line.startsWith("+")) come.push(line.slice(1));
    else {
      flush();
      told.push(body ? line : line.replace(/^@@ -(\S+) \+(\S+) @@/, "@@ -$2 +$1 @@"));
    }
  }
  flush();
  return told.join("\n");
}

const LOOKS = { add: "bg-(--diff-add)", del: "bg-(--diff-del)", same: "", hunk: "", file: "" };
const SIGNS = { add: "+", del: "−", same: " ", hunk: "", file: "" };

/** A git diff with line numbers, signs and colours. What is decided by it is shown whole, however long it is. */
export function Diff({ text, most = MOST }: { text: string; most?: number }) {
  const lines = useMemo(() => parse(text, most), [text, most]);
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
