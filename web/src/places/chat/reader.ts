import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** How long after a wheel or key the scrolling that it asks for may begin. */
const MEANT_MS = 300;
const UP = new Set(["ArrowUp", "PageUp", "Home"]);

/** Sticks to the end while the reader is there; otherwise keeps the reader's position, also when parts of the
conversation come and go. `latest`: the end is loaded; `older` and `newer` load what is beyond the edge that the reader nears. */
export function useReader({ latest, older, newer, entries, changes }: {
  latest: boolean; older: () => void; newer: () => void; entries: unknown; changes: unknown[];
}) {
  const box = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const meant = useRef(0); // timer while the reader is about to scroll up
  const ending = useRef(false); // the reader pressed End: what is loaded meanwhile does not stop it
  const up = useRef(false); // the reader's last way
  const [atEnd, setAtEnd] = useState(true);
  const edge = useRef({ latest, older, newer });
  useEffect(() => void (edge.current = { latest, older, newer }));
  const was = useRef({ top: 0, most: 0, row: "", offset: 0, focused: false }); // where the reader is: the first visible row
  const note = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const { top } = element.getBoundingClientRect();
    const row = [...element.querySelectorAll<HTMLElement>("[data-n]")].find((each) => each.getBoundingClientRect().bottom > top);
    was.current = { top: element.scrollTop, most: mostOf(element), row: row?.dataset.n ?? "", offset: (row?.getBoundingClientRect().top ?? 0) - top, focused: element.contains(document.activeElement) };
  }, []);
  const stick = useCallback((on: boolean) => {
    stuck.current = on;
    setAtEnd(on);
    if (box.current) box.current.style.overflowAnchor = on ? "none" : ""; // at the end, only the reader moves it up
  }, []);
  const hold = useCallback(() => {
    stuck.current = false;
    note();
  }, [note]);
  const pin = useCallback(() => {
    const element = box.current;
    if (!element) return;
    element.scrollTop = element.scrollHeight;
    was.current.top = element.scrollTop;
    was.current.most = mostOf(element);
  }, []);
  const follow = useCallback(() => {
    const element = box.current;
    if (!element || !stuck.current || meant.current) return;
    if (element.scrollTop < was.current.top - 1 && mostOf(element) >= was.current.most) { // the reader's own scroll, not yet told
      up.current = true;
      stick(false);
      return note();
    }
    pin();
  }, [note, pin, stick]);
  const toEnd = useCallback(() => {
    stick(true);
    pin();
  }, [pin, stick]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    stick(stuck.current);
    const onScroll = () => {
      const by = element.scrollTop - was.current.top;
      if (stuck.current && (by >= -1 || mostOf(element) < was.current.most)) return follow(); // the layout moved it, not the reader
      const below = mostOf(element) - element.scrollTop;
      if (by) up.current = by < 0;
      stick(edge.current.latest && below < (up.current ? 2 : 60));
      note();
      if (by < 0 && element.scrollTop < element.clientHeight) edge.current.older();
      else if (by > 0 && below < element.clientHeight) edge.current.newer();
    };
    const onMeant = (event: Event) => {
      ending.current = event instanceof KeyboardEvent && event.key === "End";
      if (event instanceof WheelEvent && event.deltaY >= 0) return;
      if (event instanceof KeyboardEvent && !UP.has(event.key) && !(event.key === " " && event.shiftKey)) return;
      clearTimeout(meant.current);
      meant.current = window.setTimeout(() => {
        meant.current = 0;
        follow(); // unless it was scrolled
      }, MEANT_MS);
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    for (const each of ["wheel", "keydown", "touchmove"]) element.addEventListener(each, onMeant, { passive: true });
    const grown = new ResizeObserver(follow); // late Markdown, a list above the input
    for (const each of [element, element.firstElementChild?.nextElementSibling]) if (each) grown.observe(each);
    return () => {
      element.removeEventListener("scroll", onScroll);
      for (const each of ["wheel", "keydown", "touchmove"]) element.removeEventListener(each, onMeant);
      clearTimeout(meant.current);
      meant.current = 0;
      grown.disconnect();
    };
  }, [follow, note, stick]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || stuck.current) return;
    if (ending.current && latest) return toEnd();
    const row = element.querySelector(`[data-n="${was.current.row}"]`);
    if (row) element.scrollTop += row.getBoundingClientRect().top - element.getBoundingClientRect().top - was.current.offset;
    if (was.current.focused && document.activeElement === document.body) element.focus({ preventScroll: true }); // its row is gone
    was.current.top = element.scrollTop;
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [entries]);
  useLayoutEffect(() => {
    follow();
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, changes);
  return { box, atEnd, toEnd, hold };
}

/** How far down it can be scrolled. */
const mostOf = (element: HTMLElement) => element.scrollHeight - element.clientHeight;
