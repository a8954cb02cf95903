import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
import { memo, useMemo } from "react";

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true });
const alignments = /^text-align:\s*(left|right|center)$/;
// the policy of the page allows no inline style: a table's alignment becomes a class
for (const rule of ["th_open", "td_open"] as const) {
  markdown.renderer.rules[rule] = (tokens, index, options, _env, self) => {
    const token = tokens[index]!;
    const found = alignments.exec(String(token.attrGet("style") ?? ""));
    token.attrs = (token.attrs ?? []).filter(([name]) => name !== "style");
    if (found) token.attrJoin("class", found[1]!);
    return self.renderToken(tokens, index, options);
  };
}

/** Text of others: Markdown without HTML of its own, links that tell nobody where they were followed, no picture from elsewhere. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const html = useMemo(
    () =>
      DOMPurify.sanitize(markdown.render(text), {
        FORBID_TAGS: ["img", "style", "form", "input", "svg", "math", "iframe", "audio", "video"],
        FORBID_ATTR: ["style", "id", "name"],
        ADD_URI_SAFE_ATTR: ["start", "class"],
        ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
      }),
    [text],
  );
  return <div dir="auto" className="prose" dangerouslySetInnerHTML={{ __html: html }} />;
});

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
});
