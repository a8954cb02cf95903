import { Suspense, lazy, memo } from "react";

const Rich = lazy(() => import("./rich").then((found) => ({ default: found.Rich })));

/** One line that Markdown makes nothing of: it is shown as it stands. */
const PLAIN = /^(?!\s*(?:[-+=]|\d+[.)]|$))(?!.*(?:\.\p{L}|:\/\/|  $))[^\n*_`~#>|[\]<&\\@]*$/u;

/** Text of others: Markdown without HTML of its own, links that tell nobody where they were followed, no picture from elsewhere. What draws it comes when it is first needed. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  if (PLAIN.test(text)) return <div dir="auto" className="prose"><p>{text}</p></div>;
  return <Suspense fallback={<div dir="auto" className="prose"><p className="whitespace-pre-wrap">{text}</p></div>}><Rich text={text} /></Suspense>;
});
