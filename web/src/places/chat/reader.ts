import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Sticks to the end while the reader is there; otherwise keeps the reader's position, also when parts of the
conversation come and go. `latest`: the end is loaded; `older` and `newer` load what is beyond the edge that the reader nears. */
export function useReader({ latest, older, newer, entries, changes }: {
  latest: boolean; older: () => void; newer: () => void; entries: unknown; changes: unknown[];
}) {
  const box = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const [atEnd, setAtEnd] = useState(true);
  const edge = useRef({ latest, older, newer });
  useEffect(() => void (edge.current = { latest, older, newer }));
  const was = useRef({ top: 0, row: "", offset: 0, focused: false }); // where the reader is: the first visible row
  const note = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const { top } = element.getBoundingClientRect();
    const row = [...element.querySelectorAll<HTMLElement>("[data-n]")].find((each) => each.getBoundingClientRect().bottom > top);
    was.current = { top: element.scrollTop, row: row?.dataset.n ?? "", offset: (row?.getBoundingClientRect().top ?? 0) - top, focused: element.contains(document.activeElement) };
  }, []);
  const hold = useCallback(() => {
    stuck.current = false;
    note();
  }, [note]);
  const toEnd = useCallback(() => {
    stuck.current = true;
    setAtEnd(true);
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, []);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let size = "";
    const resized = () => size !== (size = `${element.clientWidth} ${element.clientHeight} ${element.scrollHeight}`);
    const onScroll = () => {
      if (resized() && stuck.current) { // the layout moved it, not the reader
        element.scrollTop = element.scrollHeight;
        was.current.top = element.scrollTop;
        return;
      }
      const { scrollTop, clientHeight } = element;
      const below = element.scrollHeight - scrollTop - clientHeight;
      const by = scrollTop - was.current.top;
      stuck.current = edge.current.latest && below < 60;
      setAtEnd(stuck.current);
      note();
      if (by < 0 && scrollTop < clientHeight) edge.current.older();
      else if (by > 0 && below < clientHeight) edge.current.newer();
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    const grown = new ResizeObserver(() => { resized(); if (stuck.current) element.scrollTop = element.scrollHeight; }); // late Markdown, a list above the input
    for (const each of [element, element.firstElementChild?.nextElementSibling]) if (each) grown.observe(each);
    return () => {
      element.removeEventListener("scroll", onScroll);
      grown.disconnect();
    };
  }, [note]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || stuck.current) return;
    const row = element.querySelector(`[data-n="${was.current.row}"]`);
    if (row) element.scrollTop += row.getBoundingClientRect().top - element.getBoundingClientRect().top - was.current.offset;
    if (was.current.focused && document.activeElement === document.body) element.focus({ preventScroll: true }); // its row is gone
    was.current.top = element.scrollTop;
  }, [entries]);
  useLayoutEffect(() => {
    if (stuck.current && box.current) box.current.scrollTop = box.current.scrollHeight;
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, changes);
  return { box, atEnd, toEnd, hold };
}
