import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Rows } from "./long";

/** A `LongList` of which only the rows near the view are in the page. */
export function Windowed(rows: Rows) {
  const list = useRef<HTMLUListElement>(null);
  const [box, setBox] = useState<HTMLElement | null>(null);
  const [margin, setMargin] = useState(0);
  const [held, setHeld] = useState(-1);
  useLayoutEffect(() => setBox(scrolledBy(list.current!)), []);
  useLayoutEffect(() => { // what is above the list may have become longer
    if (box && list.current) setMargin(Math.round(list.current.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop));
  });
  const size = useRef(rows.size);
  const virtual = useVirtualizer({
    count: rows.count,
    getScrollElement: () => box,
    estimateSize: () => size.current,
    getItemKey: rows.rowKey,
    overscan: 8,
    scrollMargin: margin,
    initialRect: { width: 0, height: 600 },
    rangeExtractor: (range) => {
      const near = defaultRangeExtractor(range);
      return held < 0 || held >= rows.count || near.includes(held) ? near : [...near, held].sort((one, other) => one - other);
    },
  });
  useLayoutEffect(() => { // if the estimates are right, nothing moves when rows are measured
    const { children } = list.current!;
    const usual = (children[children.length >> 1] as HTMLElement | undefined)?.offsetHeight;
    if (!usual || usual === size.current) return;
    size.current = usual;
    virtual.measure();
  }, [box, virtual]);
  const { shown } = rows;
  const place = shown === undefined ? -1 : Array.from({ length: rows.count }, (_, index) => rows.rowKey(index)).indexOf(shown);
  const isThere = place >= 0 && !!box;
  useEffect(() => { // once: where it moves to later must not move the reader
    if (isThere) virtual.scrollToIndex(place);
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [shown, isThere]);
  return (
    <ul ref={list} aria-label={rows.label} className={rows.className} style={{ ...rows.style, height: virtual.getTotalSize(), position: "relative" }}
      onFocus={(event) => setHeld(Number((event.target as HTMLElement).closest<HTMLElement>("[data-index]")?.dataset.index ?? -1))} onBlur={() => setHeld(-1)}>
      {virtual.getVirtualItems().map((item) => (
        <li key={item.key} data-index={item.index} ref={virtual.measureElement} aria-setsize={rows.count} aria-posinset={item.index + 1} aria-level={rows.level?.(item.index)}
          className={rows.rowClass} style={{ position: "absolute", top: 0, insetInline: 0, transform: `translateY(${item.start - margin}px)` }}>
          {rows.row(item.index)}
        </li>
      ))}
    </ul>
  );
}

/** The nearest element around this one that scrolls up and down. */
function scrolledBy(element: HTMLElement): HTMLElement {
  let found = element.parentElement;
  while (found?.parentElement && !/auto|scroll/.test(getComputedStyle(found).overflowY)) found = found.parentElement;
  return found ?? document.documentElement;
}
