import { useVirtualizer } from "@tanstack/react-virtual";
import { Activity, ArrowUp, Crosshair, Search, X } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { useLocation, useSearchParams } from "wouter";
import { useQuery } from "@tanstack/react-query";
import { call, may } from "../../api/client";
import { live, type LiveEvent } from "../../api/live";
import { queries, spanType, useSessions, useTimeline, type Filter } from "../../api/queries";
import type { PlacedEvent } from "../../api/schema";
import { number, t } from "../../i18n";
import { Button, Empty, Failure, Skeleton } from "../../parts/basics";
import { OpenedFile } from "../../parts/media";
import { wentWrong } from "../../parts/spans";
import { sessionWord } from "../../parts/words";
import { TurnAct, type Act } from "./acts";
import { FOLDED, isTechnical, linesOf, rowsOf, type Row } from "./rows";
import { TimelineRow } from "./row";

const CHIPS: [string, string, string][] = [
  ["kind", "tool", "Tools"],
  ["kind", "approval,policy", "Approvals"],
  ["errors", "true", "Failures"],
  ["tainted", "true", "Untrusted content"],
];

/** All events, newest first; the filters are in the URL, so that a view can be shared as a link. */
export function Timeline() {
  const [search, setSearch] = useSearchParams();
  const technical = search.get("technical") === "true";
  const focus = search.get("focus") ?? "";
  const filter = useMemo<Filter>(() => {
    const wanted: Filter = {};
    for (const name of ["text", "session", "kind", "name", "sender"] as const) wanted[name] = search.get(name) ?? undefined;
    wanted.cost = Number(amountOf(search.get("cost") ?? "")) || undefined;
    if (search.has("authorized")) wanted.authorized = search.get("authorized") === "true";
    wanted.errors = search.get("errors") === "true" || undefined;
    wanted.tainted = search.get("tainted") === "true" || undefined;
    return wanted;
  }, [search]);
  const pages = useTimeline(filter);
  const { heard, ...news } = useNews(filter, technical || !!filter.kind);
  const events = useMemo(() => {
    const read = pages.data?.pages.flatMap((page) => page.events) ?? [];
    const oldest = heard.at(-1)?.cursor ?? Infinity;
    const end = read.findIndex((each) => each.cursor < oldest);
    const known = new Set(read.slice(0, end < 0 ? undefined : end).map((each) => each.cursor));
    return [...heard.filter((each) => !known.has(each.cursor)), ...read];
  }, [heard, pages.data]);
  const focused = useFocused(focus, events, pages.isSuccess);
  const every = technical || !!filter.kind;
  const rows = useMemo(() => {
    const known = new Set(focused.map((each) => each.cursor));
    return [...rowsOf(focused, every), ...rowsOf(known.size ? events.filter((each) => !known.has(each.cursor)) : events, every)];
  }, [events, focused, every]);
  const set = useCallback((name: string, value: string) => {
    setSearch((before) => {
      const next = new URLSearchParams(before);
      if (value && next.get(name) !== value) next.set(name, value);
      else next.delete(name);
      return next;
    }, { replace: true });
  }, [setSearch]);

  const [more, setMore] = useState(() => FURTHER.some((name) => search.has(name)) || (search.has("kind") && !CHIPS.some(([, value]) => value === search.get("kind"))));
  const narrowed = [...search.keys()].some((name) => name !== "technical" && name !== "focus");
  return (
    <div className="flex h-full flex-col">
      <div className="border-b border-line px-3 py-2 sm:px-6">
        <h1 className="sr-only">{t("Timeline")}</h1>
        <OpenedFile />
        <div className="mx-auto flex max-w-4xl flex-wrap items-center gap-2">
          <SearchBox value={search.get("text") ?? ""} set={set} />
          <div className="-mx-3 flex max-w-[100vw] gap-1.5 overflow-x-auto px-3 sm:mx-0 sm:flex-wrap sm:px-0" role="group" aria-label={t("Filters")}>
            {CHIPS.map(([name, value, word]) => (
              <Chip key={word} on={search.get(name) === value} onClick={() => set(name, value)}>{t(word)}</Chip>
            ))}
            <Chip on={technical} onClick={() => set("technical", "true")}>{t("Technical")}</Chip>
            {search.get("session") && (
              <Chip on onClick={() => set("session", search.get("session")!)}>
                {sessionWord(search.get("session")!)} <X size={12} aria-hidden />
              </Chip>
            )}
            {focus && (
              <Chip on label={t("End focus")} onClick={() => set("focus", focus)}>
                <Crosshair size={12} aria-hidden /> <span className="max-w-48 truncate">{t("Focus: {what}", { what: wordsOf(focus, focused, events) })}</span> <X size={12} aria-hidden />
              </Chip>
            )}
            <Chip on={more} onClick={() => setMore(!more)}>{t("More filters")}</Chip>
          </div>
        </div>
        {more && <Further search={search} events={events} set={set} />}
      </div>
      <Feed view={JSON.stringify(filter)} news={news} rows={rows} pages={pages} focus={focus} set={set}>
        {narrowed ? (
          <Empty icon={Activity} title={t("No matching events.")}><Button onClick={() => setSearch({})}>{t("Show everything")}</Button></Empty>
        ) : (
          <Empty icon={Activity} title={t("No events yet.")}>{t("Every message appears here, with what Hob did and why it was allowed.")}</Empty>
        )}
      </Feed>
    </div>
  );
}

const NONE: PlacedEvent[] = [];

/** The events of a focused trace that is older than those shown, as with a shared link; they come first. */
function useFocused(focus: string, events: readonly PlacedEvent[], loaded: boolean): PlacedEvent[] {
  const [missing, setMissing] = useState("");
  const isShown = useMemo(() => events.some((each) => each.trace_id === focus), [events, focus]);
  useEffect(() => {
    if (loaded && !isShown) setMissing(focus);
  }, [focus, isShown, loaded]);
  const found = useQuery({
    queryKey: ["trace", focus, "events"],
    queryFn: () => call("GET /api/v1/timeline", { query: { trace_id: focus, limit: 200 } }),
    enabled: !!focus && missing === focus,
  });
  return (focus && missing === focus && found.data?.events) || NONE;
}

/** What the focused trace is about: its message, else its id. */
const wordsOf = (focus: string, ...lists: (readonly PlacedEvent[])[]) =>
  lists.flat().find((each) => each.trace_id === focus && each.kind === "inbound")?.text.split("\n")[0] || focus.slice(0, 8);

/** An amount as the URL has it, with a decimal point; undefined if the text is none. */
const amountOf = (text: string) => (/^(\d+[.,]?\d*|[.,]\d+)$/.test(text.trim()) ? text.trim().replace(",", ".") : undefined);
/** Such an amount with the reader's decimal sign. */
const readable = (amount: string) => (amountOf(amount) ? amount.replace(".", number(0.5)[1]!) : amount);

const FURTHER = ["sender", "name", "authorized", "cost"] as const;

/** Kinds of events to choose from, by their values in the URL. */
const TYPES: [string, string][] = [
  ["inbound,outbound", "Messages"],
  ["model", "Model calls"],
  ["tool", "Tools"],
  ["approval,policy", "Approvals"],
  ["memory", "Memory"],
  ["subagent", "Sub-agents"],
  ["delivery", "Deliveries"],
  ["turn", "Turns"],
];

/** Filters by type, conversation, person, tool or channel, cost and admission. */
function Further({ search, events, set }: { search: URLSearchParams; events: PlacedEvent[]; set: (name: string, value: string) => void }) {
  const known = (pick: (event: PlacedEvent) => string) => [...new Set(events.map(pick))].filter(Boolean).sort();
  const rows: [(typeof FURTHER)[number], string, string[]][] = [
    ["sender", t("Person"), known((event) => event.sender_name || event.sender_id)],
    ["name", t("Tool, model or channel"), known((event) => event.name)],
    ["cost", t("Minimum cost ($)"), ["0.001", "0.01", "0.1", "1"].map(readable)],
  ];
  const sessions = useSessions().data?.sessions ?? [];
  const choices: [string, string, [string, string][]][] = [
    ["kind", t("Type"), TYPES.map(([value, word]) => [value, t(word)])],
    ["session", t("Conversation"), sessions.map((each) => [each.session, each.title || sessionWord(each.session)])],
    ["authorized", t("Admission"), [["true", t("admitted")], ["false", t("not admitted")]]],
  ];
  const look = "h-9 min-w-0 rounded-md border border-line bg-surface px-2.5 text-text";
  const put = (name: string, value: string) => { if (value !== (search.get(name) ?? "")) set(name, value); };
  return (
    <div className="mx-auto mt-2 grid max-w-4xl grid-cols-2 gap-2 text-sm sm:grid-cols-3">
      {rows.map(([name, word, values]) => <Typed key={name} name={name} word={word} values={values} value={search.get(name) ?? ""} look={look} put={put} />)}
      {choices.map(([name, word, values]) => {
        const value = search.get(name) ?? "";
        return (
          <label key={name} className="flex min-w-0 flex-col gap-1 text-muted">
            {word}
            <select value={value} onChange={(event) => put(name, event.target.value)} className={look}>
              <option value="">{t("All")}</option>
              {values.map(([each, text]) => <option key={each} value={each}>{text}</option>)}
              {value && !values.some(([each]) => each === value) && <option value={value}>{value}</option>}
            </select>
          </label>
        );
      })}
    </div>
  );
}

/** A filter to type or to choose; it is in the URL once it is chosen, or its box is left or entered. */
function Typed({ name, word, values, value, look, put }: { name: string; word: string; values: string[]; value: string; look: string; put: (name: string, value: string) => void }) {
  const isCost = name === "cost";
  const [text, setText] = useTyped(isCost ? readable(value) : value);
  const [typing, setTyping] = useState(false);
  const wrong = isCost && !!text && !typing && !amountOf(text);
  const take = (typed: string) => {
    const wanted = isCost && typed ? amountOf(typed) : typed;
    if (wanted !== undefined) put(name, wanted);
  };
  const leave = () => {
    setTyping(false);
    take(text);
  };
  return (
    <div className="min-w-0">
      <label className="flex min-w-0 flex-col gap-1 text-muted">
        {word}
        <input value={text} list={`known-${name}`} inputMode={isCost ? "decimal" : "text"} className={look} aria-invalid={wrong} aria-describedby={wrong ? `wrong-${name}` : undefined}
          onChange={({ target }) => {
            setText(target.value);
            setTyping(true);
            if (values.includes(target.value) || !target.value) take(target.value);
          }}
          onBlur={leave} onKeyDown={(event) => { if (event.key === "Enter") leave(); }} />
        <datalist id={`known-${name}`}>{values.map((each) => <option key={each} value={each} />)}</datalist>
      </label>
      {wrong && <p role="alert" id={`wrong-${name}`} className="mt-1 text-bad">{t("Enter an amount like {example}.", { example: readable("0.01") })}</p>}
    </div>
  );
}

type Pages = ReturnType<typeof useTimeline>;

/** Where the reader is, by filter, unless at the top: the first row in view, its index, and how far the view begins below its start. */
const PLACES = new Map<string, { key: string; index: number; below: number }>();

/** The virtualised rows. Scrolling renders only this component and the rows that enter the view. */
function Feed({ view, news: { count: news, show: showNews, onTop }, rows, pages, focus, set, children }: {
  view: string; news: Omit<ReturnType<typeof useNews>, "heard">; rows: Row[]; pages: Pages; focus: string; set: (name: string, value: string) => void; children: ReactNode;
}) {
  const [chosen, setChosen] = useState(""); // the key of a row, whose index changes with every new event
  const [acting, setActing] = useState<{ act: Act; event: PlacedEvent } | null>(null);
  const [, go] = useLocation();
  const box = useRef<HTMLDivElement>(null);
  // stable functions: with new ones the virtualiser measures all rows again
  const getItemKey = useCallback((index: number) => rows[index]!.key, [rows]);
  const estimateSize = useCallback((index: number) => sizeOf(rows[index]!), [rows]);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize, getItemKey, overscan: 8 });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((row: string) => setOpened((all) => new Set(all.has(row) ? [...all].filter((each) => each !== row) : [...all, row])), []);
  const within = useMemo(() => (focus ? rows.findIndex((row) => traceOf(row) === focus) : -1), [focus, rows]);
  const scrolled = useRef("");
  useEffect(() => {
    if (within < 0 || scrolled.current === focus) return;
    scrolled.current = focus;
    virtual.scrollToIndex(within, { align: "auto" });
  }, [focus, virtual, within]);
  const focusOn = useCallback((trace: string) => set("focus", trace), [set]);

  const placed = useRef<string>(null); // the filter whose place was found again
  useLayoutEffect(() => { // also when rows come above the reader
    const place = PLACES.get(view);
    if (!rows.length) return void (placed.current = null);
    if (placed.current === view && (!place || rows[place.index]?.key === place.key)) return;
    const index = place ? rows.findIndex((row) => row.key === place.key) : 0;
    if (index < 0) return;
    placed.current = view;
    if (place) place.index = index;
    virtual.scrollToOffset(place ? virtual.measurementsCache[index]!.start + place.below : 0);
  }, [rows, view, virtual]);
  const scrolledTo = (top: number) => {
    onTop(top < 40);
    if (!rows.length) return; // they are not read yet, and the place waits for its row
    const first = virtual.getVirtualItemForOffset(top);
    const item = first && virtual.measurementsCache[rows[first.index]!.type === "day" ? first.index + 1 : first.index]; // a day gets another first event
    if (item && top >= 40) PLACES.set(view, { key: rows[item.index]!.key, index: item.index, below: top - item.start });
    else PLACES.delete(view);
  };

  useEffect(() => {
    const isOlder = placed.current !== view && Number(PLACES.get(view)?.key) < (pages.data?.pages.at(-1)?.before ?? 0);
    const wants = (isOlder || last >= rows.length - 60) && pages.hasNextPage && !pages.isFetchingNextPage;
    if (wants) void pages.fetchNextPage();
  }, [last, rows.length, pages, view]);

  useEffect(() => {
    const step = (by: number) => {
      let next = rows.findIndex((row) => row.key === chosen);
      do next += by;
      while (rows[next]?.type === "day");
      if (!rows[next]) return;
      setChosen(rows[next]!.key);
      box.current?.focus({ preventScroll: true }); // not a button, which Enter would press
      virtual.scrollToIndex(next, { align: "auto" });
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof HTMLElement && event.target.matches("input, textarea, select")) return;
      const act = ({ u: "undo", ".": "stop" } as const)[event.key];
      if (act && event.repeat) return event.stopImmediatePropagation(); // a held key is one press: it asks, and does not answer as well
      if (document.querySelector("dialog[open]")) return;
      const pressed = event.target instanceof HTMLElement && event.target.matches("a, button");
      const row = rows.find((each) => each.key === chosen);
      if (act && may("admin") && row && row.type !== "day") {
        event.stopImmediatePropagation(); // for the chosen row, not the first button of the page
        setActing({ act, event: row.event });
      } else if (event.key === "j") step(1);
      else if (event.key === "k") step(-1);
      else if (event.key === "Enter" && !pressed && row && row.type !== "day") go(`/trace/${row.event.trace_id}`);
      else if (event.key === "/") {
        event.preventDefault();
        document.getElementById("timeline-search")?.focus();
      } else if (event.key === "Escape") set("focus", "");
    };
    addEventListener("keydown", onKey, true);
    return () => removeEventListener("keydown", onKey, true);
  }, [chosen, go, rows, set, virtual]);

  return (
    <div
      ref={box}
      onScroll={(event) => scrolledTo(event.currentTarget.scrollTop)}
      className="relative min-h-0 flex-1 overflow-y-auto"
      data-testid="timeline"
      tabIndex={0}
      role="region"
      aria-label={t("Timeline")}
    >
      {acting && <TurnAct {...acting} onClose={() => setActing(null)} />}
      {news > 0 && (
        <div className="sticky top-3 z-10 flex h-0 items-start justify-center">
          <Button
            look="main"
            icon={ArrowUp}
            className="rounded-full shadow-(--shadow)"
            onClick={() => {
              PLACES.delete(view);
              showNews();
              virtual.scrollToIndex(0);
            }}
          >
            {t("{count} new", { count: number(news) })}
          </Button>
        </div>
      )}
      <div className="mx-auto max-w-4xl px-3 py-4 sm:px-6">
        {pages.isError && <Failure error={pages.error} retry={() => void pages.refetch()} />}
        {pages.isPending && !pages.isError && <Skeleton rows={8} className="h-16" />}
        {pages.isSuccess && !rows.length && !pages.hasNextPage && children}
        <div {...(rows.length ? { role: "feed", "aria-label": t("Timeline"), "aria-busy": pages.isFetching } : {})} style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {items.map((item) => (
            <div
              key={item.key}
              data-index={item.index}
              data-row
              ref={virtual.measureElement}
              style={{ position: "absolute", top: 0, insetInline: 0, contain: "layout style", transform: `translateY(${item.start}px)` }}
            >
              <TimelineRow
                row={rows[item.index]!}
                chosen={item.key === chosen}
                dimmed={within >= 0 && traceOf(rows[item.index]!) !== focus}
                focused={!!focus && traceOf(rows[item.index]!) === focus}
                onFocus={focusOn}
                onFilter={set}
                open={opened.has(rows[item.index]!.key)}
                onOpen={toggle}
              />
            </div>
          ))}
        </div>
        {pages.isFetchingNextPage && <Skeleton rows={2} className="h-16" />}
      </div>
    </div>
  );
}

const LINE = 21;

/** The estimated height of a row: if it is right, nothing moves when the row is measured. */
function sizeOf(row: Row): number {
  if (row.type === "day") return 40;
  if (row.type === "line") return 36;
  return 76 + (row.event.files.length ? 56 : 0) + LINE * Math.min(linesOf(row.event.text), FOLDED);
}

const traceOf = (row: Row) => (row.type === "day" ? "" : row.event.trace_id);

/** New events, newest first: shown at once if the reader is at the top, else counted. They stay beside what is read, since a read may end after they came. */
function useNews(filter: Filter, every: boolean) {
  const waiting = useRef<PlacedEvent[]>([]);
  const top = useRef(true);
  const [count, setCount] = useState(0);
  const [heard, setHeard] = useState(NONE);
  const counted = useRef(every);
  useEffect(() => void (counted.current = every));
  const show = useCallback(() => {
    const fresh = waiting.current;
    waiting.current = [];
    setCount(0);
    if (fresh.length) setHeard((before) => [...fresh, ...before].sort((one, other) => other.cursor - one.cursor));
  }, []);
  useEffect(() => {
    const forget = () => {
      waiting.current = [];
      setCount(0);
      setHeard(NONE);
    };
    forget();
    const watch = live.subscribe(() => { if (live.anew && live.connection.state === "open") forget(); });
    let timer = 0, came = false;
    const take = (event: LiveEvent, files: PlacedEvent["files"]) => {
      waiting.current.push({ ...event, span_type: spanType(event.kind), files });
      timer ||= window.setTimeout(() => {
        timer = 0;
        if (top.current) show();
        else setCount(waiting.current.filter((each) => counted.current || !isTechnical(each)).length);
      }, 100);
    };
    const off = live.onEvent((event) => {
      if (!fits(event, filter)) return;
      came = true;
      if (!event.media) return take(event, []);
      void call("GET /api/v1/timeline", { query: { trace_id: event.trace_id, kind: "inbound" } })
        .then((page) => page.events.find((each) => each.cursor === event.cursor)?.files ?? [], () => [])
        .then((files) => take(event, files));
    });
    return () => {
      off();
      watch();
      clearTimeout(timer);
      if (came) void queries.invalidateQueries({ queryKey: ["timeline", filter], refetchType: "none" }); // who comes back reads what came
    };
  }, [filter, show]);
  return { heard, count, show, onTop: (is: boolean) => void (top.current = is) };
}

function fits(event: LiveEvent, filter: Filter): boolean {
  return (
    (!filter.kind || filter.kind.split(",").includes(event.kind)) &&
    (!filter.session || filter.session === event.session) &&
    (!filter.name || filter.name === event.name) &&
    (!filter.sender || [event.sender_id, event.sender_name].includes(filter.sender)) &&
    (!filter.text || `${event.text} ${event.name}`.toLowerCase().includes(filter.text.toLowerCase())) &&
    (!filter.cost || (event.usage?.cost_usd ?? 0) >= filter.cost) &&
    (filter.authorized === undefined || filter.authorized === event.authorized) &&
    (!filter.errors || wentWrong(event)) &&
    (!filter.tainted || event.trust === "untrusted")
  );
}

/** What is typed in a box whose value is in the URL; one that a link brings into the URL is shown. */
function useTyped(value: string): [string, (text: string) => void] {
  const [text, setText] = useState(value);
  const [shown, setShown] = useState(value);
  if (value !== shown) {
    setShown(value);
    setText(value);
  }
  return [text, setText];
}

/** The text searched for. It is in the URL a moment after the last letter. */
function SearchBox({ value, set }: { value: string; set: (name: string, value: string) => void }) {
  const [text, setText] = useTyped(value);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => set("text", text), 120);
    return () => clearTimeout(timer);
  }, [set, text, value]);
  return (
    <div className="relative min-w-48 flex-1">
      <Search size={16} aria-hidden className="absolute start-2.5 top-2.5 text-muted" />
      <input
        id="timeline-search"
        type="search"
        value={text}
        onChange={(event) => setText(event.target.value)}
        aria-label={t("Search the timeline")}
        placeholder={t("Search the timeline")}
        className="h-9 w-full rounded-md border border-line bg-surface ps-9 pe-2"
      />
    </div>
  );
}

function Chip({ on, label, onClick, children }: { on: boolean; label?: string; onClick: () => void; children: React.ReactNode }) {
  return (
    <button
      type="button"
      title={label}
      aria-pressed={on}
      onClick={onClick}
      className={`inline-flex min-h-8 shrink-0 items-center gap-1.5 rounded-full border px-3 text-sm whitespace-nowrap ${on ? "border-accent bg-accent-soft text-accent" : "border-line text-muted hover:text-text"}`}
    >
      {children}
    </button>
  );
}
