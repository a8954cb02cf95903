import { Suspense, lazy, memo } from "react";

const Rich = lazy(() => import("./rich").then((found) => ({ default: found.Rich })));

/** A single line without Markdown syntax, shown verbatim. */
const PLAIN = /^(?!\s*(?:[-+=]|\d+[.)]|$))(?!.*(?:\.\p{L}|:\/\/|  $))[^\n*_`~#>|[\]<&\\@]*$/u;

/** Untrusted Markdown: no raw HTML, links without referrer, no remote images. The renderer is loaded on first use. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  if (PLAIN.test(text)) return <div dir="auto" className="prose"><p>{text}</p></div>;
  return <Suspense fallback={<div dir="auto" className="prose"><p className="whitespace-pre-wrap">{text}</p></div>}><Rich text={text} /></Suspense>;
});
