import { Suspense, lazy, type CSSProperties, type ReactNode } from "react";

const Windowed = lazy(() => import("./windowed").then((found) => ({ default: found.Windowed })));

/** Longer lists keep only the rows near the view in the page. */
export const WHOLE = 60;

export type Rows = {
  count: number;
  /** The estimated height of a row. */
  size: number;
  row: (index: number) => ReactNode;
  rowKey: (index: number) => string | number;
  /** The key of a row to scroll into view when it comes or changes. */
  shown?: string | number;
  label?: string;
  /** The nesting of a row, for screen readers. */
  level?: (index: number) => number;
  className?: string;
  style?: CSSProperties;
  rowClass?: string;
};

/** A list of rows. Of a long one, only those near the view, and the one with the focus, are in the page. */
export function LongList(rows: Rows) {
  if (rows.count <= WHOLE) return <Whole {...rows} />;
  return <Suspense fallback={<Whole {...rows} count={WHOLE} />}><Windowed {...rows} /></Suspense>;
}

function Whole(rows: Rows) {
  return (
    <ul aria-label={rows.label} className={rows.className} style={rows.style}>
      {Array.from({ length: rows.count }, (_, index) => (
        <li key={rows.rowKey(index)} aria-level={rows.level?.(index)} className={rows.rowClass} ref={rows.shown !== undefined && rows.rowKey(index) === rows.shown ? inView : undefined}>{rows.row(index)}</li>
      ))}
    </ul>
  );
}

const inView = (row: HTMLElement | null) => row?.scrollIntoView({ block: "nearest" });
