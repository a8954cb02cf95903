import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
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
/** Recently rendered texts, so that scrolling back is instant. */
const drawn = new Map<string, string>();

function draw(text: string): string {
  const before = drawn.get(text);
  if (before !== undefined) return before;
  const html = DOMPurify.sanitize(markdown.render(text), POLICY);
  if (drawn.size > 300) drawn.delete(drawn.keys().next().value!);
  drawn.set(text, html);
  return html;
}

/** Rendered Markdown. */
export function Rich({ text }: { text: string }) {
  return <div dir="auto" className="prose" dangerouslySetInnerHTML={{ __html: draw(text) }} />;
}

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
});
