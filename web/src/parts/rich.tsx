import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
import { useLayoutEffect, useRef } from "react";
import { highlighted } from "./highlight";

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true, highlight: highlighted });
const alignments = /^text-align:\s*(left|right|center)$/;
// the content security policy forbids inline styles, so a table's alignment becomes a class
for (const rule of ["th_open", "td_open"] as const) {
  markdown.renderer.rules[rule] = (tokens, index, options, _env, self) => {
    const token = tokens[index]!;
    const found = alignments.exec(String(token.attrGet("style") ?? ""));
    token.attrs = (token.attrs ?? []).filter(([name]) => name !== "style");
    if (found) token.attrJoin("class", found[1]!);
    return self.renderToken(tokens, index, options);
  };
}

const POLICY = {
  FORBID_TAGS: ["img", "style", "form", "input", "svg", "math", "iframe", "audio", "video"],
  FORBID_ATTR: ["style", "id", "name"],
  ADD_URI_SAFE_ATTR: ["start", "class"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
};
/** Recently drawn pieces by their HTML, so that scrolling back is instant. */
const drawn = new Map<string, HTMLElement>();

function draw(html: string): HTMLElement {
  let element = drawn.get(html);
  if (!element) {
    element = document.createElement("div");
    element.append(DOMPurify.sanitize(html, { ...POLICY, RETURN_DOM_FRAGMENT: true }));
    if (element.childElementCount === 1) element = element.firstElementChild as HTMLElement;
    if (drawn.size > 1_000) drawn.delete(drawn.keys().next().value!);
    drawn.set(html, element);
  }
  return element.cloneNode(true) as HTMLElement;
}

/** The HTML of each outermost block: a paragraph, a list, a table. */
function piecesOf(text: string): string[] {
  const environment = {};
  const tokens = markdown.parse(text, environment);
  let start = 0;
  return tokens.flatMap((token, place) => {
    if (token.level || token.nesting > 0) return [];
    const piece = tokens.slice(start, place + 1);
    start = place + 1;
    return [markdown.renderer.render(piece, markdown.options, environment)];
  });
}

/** Rendered Markdown. Of a growing text only what has changed is drawn again: the rest can be selected meanwhile. */
export function Rich({ text }: { text: string }) {
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef<string[]>([]);
  useLayoutEffect(() => {
    const pieces = piecesOf(text);
    const blocks = box.current!.children;
    pieces.forEach((html, place) => {
      if (shown.current[place] === html) return;
      if (blocks[place]) blocks[place].replaceWith(draw(html));
      else box.current!.append(draw(html));
    });
    while (blocks.length > pieces.length) box.current!.lastElementChild!.remove();
    shown.current = pieces;
  }, [text]);
  return <div ref={box} dir="auto" className="prose" />;
}

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
});
