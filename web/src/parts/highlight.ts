const LONGEST = 20_000;

const SLASHES = "//[^\\n]*|/\\*[^]*?(?:\\*/|$)";
const HASH = "#[^\\n]*";
const QUOTED = `"(?:\\\\[^]|[^"\\\\\\n])*"?|'(?:\\\\[^]|[^'\\\\\\n])*'?`;
const BACKQUOTED = "`(?:\\\\[^]|[^`\\\\])*`?";
const TRIPLE = `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)`;

type Grammar = { comment: string; text: string; words: string; insensitive?: boolean };

const C = "break case catch class const continue default do else enum extends false final finally for if implements import interface new null private protected public return static struct super switch this throw true try typedef union using void while int long char float double bool boolean string unsigned";
const GRAMMARS: Record<string, Grammar> = {
  python: { comment: HASH, text: `${TRIPLE}|${QUOTED}`, words: "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield" },
  javascript: { comment: SLASHES, text: `${QUOTED}|${BACKQUOTED}`, words: "as async await break case catch class const continue default delete do else enum export extends false finally for from function if implements import in instanceof interface keyof let new null of private public readonly return satisfies static super switch this throw true try type typeof undefined var void while yield" },
  shell: { comment: "(?<![^\\s;])#[^\\n]*", text: QUOTED, words: "case do done elif else esac export fi for function if in local return set then until while" },
  json: { comment: SLASHES, text: QUOTED, words: "false null true" },
  yaml: { comment: "(?<!\\S)#[^\\n]*", text: `${TRIPLE}|${QUOTED}`, words: "false no null off on true yes" },
  sql: { comment: "--[^\\n]*|/\\*[^]*?(?:\\*/|$)", text: QUOTED, insensitive: true, words: "all alter and as asc begin between by case check commit constraint create default delete desc distinct drop else end exists foreign from full group having in index inner insert into is join key left like limit not null offset on or order outer primary references right rollback select set table then union unique update using values view when where with" },
  go: { comment: SLASHES, text: `${QUOTED}|${BACKQUOTED}`, words: "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var" },
  rust: { comment: SLASHES, text: `"(?:\\\\[^]|[^"\\\\])*"?|'(?:\\\\.|[^'\\\\\\n])'`, words: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while" },
  c: { comment: SLASHES, text: QUOTED, words: `${C} abstract async auto await delete extern fun goto inline internal let namespace nullptr object operator override package sizeof template throws typename val var virtual volatile when` },
  css: { comment: "/\\*[^]*?(?:\\*/|$)", text: QUOTED, words: "important" },
  markup: { comment: "<!--[^]*?(?:-->|$)", text: `(?<==)(?:${QUOTED})`, words: "" },
};
const ALIASES: Record<string, string> = {
  py: "python", js: "javascript", jsx: "javascript", ts: "javascript", tsx: "javascript", typescript: "javascript", bash: "shell", sh: "shell", zsh: "shell", console: "shell",
  dockerfile: "shell", jsonc: "json", yml: "yaml", toml: "yaml", ini: "yaml", golang: "go", rs: "rust", "c++": "c", cpp: "c", "c#": "c", cs: "c", csharp: "c", java: "c", kotlin: "c", php: "c", swift: "c",
  scss: "css", html: "markup", xml: "markup", svg: "markup",
};

const escaped = (text: string) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
const compiled = new Map<string, RegExp>();

function expression(name: string, { comment, text, words, insensitive }: Grammar): RegExp {
  const number = "\\b(?:0[xob][\\da-f_]+|\\d[\\d_]*(?:\\.\\d+)?(?:e[+-]?\\d+)?)\\b";
  const keyword = words ? `\\b(?:${words.replaceAll(" ", "|")})\\b` : "</?[a-z][\\w:-]*|/?>";
  const made = compiled.get(name) ?? new RegExp(`(?<comment>${comment})|(?<text>${text})|(?<number>${number})|(?<keyword>${keyword})`, insensitive || !words ? "gi" : "g");
  compiled.set(name, made);
  return made;
}

/** Code as HTML with its comments, texts, numbers and keywords marked; "" for languages that are not known. */
export function highlighted(code: string, language: string): string {
  const name = ALIASES[language.toLowerCase()] ?? language.toLowerCase();
  if (code.length > LONGEST) return "";
  if (name === "diff" || name === "patch") return code.split("\n").map((line) => (/^[+-]/.test(line) ? `<span class="code-${line[0] === "+" ? "added" : "removed"}">${escaped(line)}</span>` : escaped(line))).join("\n");
  if (!Object.hasOwn(GRAMMARS, name)) return "";
  let html = "";
  let done = 0;
  for (const found of code.matchAll(expression(name, GRAMMARS[name]!))) {
    const kind = Object.entries(found.groups!).find(([, text]) => text !== undefined)![0];
    html += `${escaped(code.slice(done, found.index))}<span class="code-${kind}">${escaped(found[0])}</span>`;
    done = found.index + found[0].length;
  }
  return html + escaped(code.slice(done));
}
