import { useMemo } from "react";
import { t } from "../i18n";
import { LongList, WHOLE } from "./long";

type Line = { kind: "file" | "hunk" | "add" | "del" | "same"; text: string; old?: number; now?: number };

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

function parse(diff: string): Line[] {
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
  return lines;
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

const keyOf = (index: number) => index;

/** The width of the longest line in columns; wide characters and tabs are rarely wider than this. */
const widthOf = (lines: Line[]) => lines.reduce((most, { text }) => Math.max(most, text.length > most / 8 ? text.replace(/[^ -~]/g, "  ").replaceAll("\t", "        ").length : 0), 0);

/** A git diff with line numbers, signs and colours. One that something is decided by is `whole`, however long it is. */
export function Diff({ text, whole }: { text: string; whole?: boolean }) {
  const lines = useMemo(() => parse(text), [text]);
  const width = useMemo(() => widthOf(lines), [lines]);
  if (!lines.length) return <p className="px-4 py-6 text-center text-muted">{t("No changes.")}</p>;
  return (
    <div role="region" aria-label={t("Changes")} tabIndex={0} className={`font-mono text-xs leading-5 ${whole || lines.length <= WHOLE ? "overflow-x-auto" : "max-h-[75dvh] overflow-auto"}`}>
      {whole ? (
        <div className="w-max min-w-full">{lines.map((line, index) => <Row key={index} line={line} />)}</div>
      ) : (
        <LongList count={lines.length} size={20} rowKey={keyOf} row={(index) => <Row line={lines[index]!} />} className="w-max min-w-full" style={lines.length > WHOLE ? { width: `calc(${width}ch + 7rem)` } : undefined} />
      )}
    </div>
  );
}

function Row({ line }: { line: Line }) {
  if (line.kind === "file") return <p className="sticky start-0 border-y border-line bg-sunken px-3 py-1.5 font-sans text-sm font-semibold first:border-t-0">{line.text}</p>;
  if (line.kind === "hunk") return <p className="bg-bg px-3 py-1 text-muted">⋯ {line.text}</p>;
  return (
    <p className={`flex ${LOOKS[line.kind]}`}>
      <span aria-hidden className="w-10 shrink-0 pe-2 text-end text-muted select-none">{line.old}</span>
      <span aria-hidden className="w-10 shrink-0 pe-2 text-end text-muted select-none">{line.now}</span>
      <span className="w-4 shrink-0 text-center select-none">{SIGNS[line.kind]}</span>
      <span dir="auto" className="whitespace-pre pe-4">{line.text || " "}</span>
    </p>
  );
}
