import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Brain, Plus, Recycle, Search, Trash2, X } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { call } from "../../api/client";
import { useChange, useMemory } from "../../api/queries";
import type { MemoryItemAnswer } from "../../api/schema";
import { day, endOf, exact, t } from "../../i18n";
import { Badge, Button, Card, Dialog, Empty, Failure, Page, Section, Skeleton, Tabs, When } from "../../parts/basics";
import { Led } from "../../parts/led";
import { ScoreBar, ScoreParts } from "../../parts/score";
import { AsOf } from "./asof";
import { Forget } from "./forget";
import { Facts } from "./facts";
import { Goals, Inside } from "./known";
import { Pipeline } from "./pipeline";

const PAGE = 60;
const WAITING = ["vectors", "facts", "observations"] as const;

/** Memory: the pipeline, the items with search, facts, goals and internals. */
export function Memory() {
  const memory = useMemory();
  const [search, setSearch] = useSearchParams();
  const [adding, setAdding] = useState(false);
  const [forgetting, setForgetting] = useState<{ id?: string; layer?: string } | null>(null);
  const layer = search.get("layer") ?? "";
  const one = search.get("id") ?? "";
  const on = search.get("on") ?? "";
  const waiting = WAITING.find((each) => each === search.get("waiting")) ?? "";
  const show = (["facts", "goals", "inside"] as const).find((each) => each === search.get("show")) ?? "items";
  const [text, setText] = useState(search.get("query") ?? "");
  const query = useDeferredValue(text.trim());
  const prune = useChange(["memory"], () => call("POST /api/v1/memory/prune"));
  const status = memory.data;
  const choose = (name: string) => setSearch(name && name !== layer ? { layer: name } : {}, { replace: true });
  const then = (date: string) => setSearch({ ...(layer ? { layer } : {}), ...(date ? { on: date } : {}) }, { replace: true });
  const queued = { "": "", vectors: t("Not embedded yet"), facts: t("Facts not extracted yet"), observations: t("Not observed yet") }[waiting];
  const title = one ? t("Selected memory") : queued || (layer ? t("Layer: {layer}", { layer: t(layer) }) : query ? t("Results") : t("Newest"));
  return (
    <Page
      title={t("Memory")}
      about={t("What Hob remembers, and where it comes from.")}
      wide
      more={
        <div className="flex flex-wrap items-center gap-2">
          {status && <Led led={status.led} words />}
          <Button icon={Recycle} disabled={prune.isPending} onClick={() => prune.mutate()}>
            {prune.data ? t("{count} pruned", { count: prune.data.deleted }) : t("Prune")}
          </Button>
          <Button look="main" icon={Plus} onClick={() => setAdding(true)}>{t("Remember something")}</Button>
        </div>
      }
    >
      {memory.isError ? (
        <Failure error={memory.error} retry={() => void memory.refetch()} />
      ) : !status ? (
        <Skeleton rows={1} className="mb-8 h-[58rem] md:h-[23rem]" />
      ) : (
        <div className={show !== "items" ? "hidden" : query || one ? "hidden sm:block" : ""}><Pipeline status={status} layer={layer} onChoose={choose} /></div>
      )}
      <div className="mb-6">
        <Tabs label={t("View")} chosen={show} onChoose={(chosen) => setSearch(chosen === "items" ? {} : { show: chosen }, { replace: true })}
          tabs={[["items", t("Memories")], ["facts", t("Facts")], ["goals", t("Goals")], ["inside", t("Internals")]] as const} />
      </div>
      {show === "facts" ? <Facts /> : show === "goals" ? <Goals /> : show === "inside" ? (status ? <Inside status={status} /> : <Skeleton rows={3} className="h-24" />) : (
        <Section
          title={on ? `${title} · ${t("as of {day}", { day: day(endOf(on)) })}` : title}
          more={
            <div className="flex w-full flex-wrap items-center gap-2 sm:w-auto">
              <label className="flex h-9 min-w-60 flex-1 items-center gap-2 rounded-md border border-line bg-surface px-2.5 focus-within:border-accent">
                <Search size={15} aria-hidden className="text-muted" />
                <input type="search" value={text} onChange={(event) => { setText(event.target.value); if (one) setSearch({}, { replace: true }); }} aria-label={t("Search memory")}
                  placeholder={t("Search memory")} className="w-full bg-transparent outline-none" />
              </label>
              {!one && !waiting && <AsOf day={on} onChoose={then} />}
              {queued && <Button look="quiet" icon={X} onClick={() => setSearch({}, { replace: true })}>{t("Show everything")}</Button>}
              {layer && !on && (
                <Button look="danger" icon={Trash2} onClick={() => setForgetting({ layer })}>{t("Clear this layer")}</Button>
              )}
            </div>
          }
        >
          {one ? (
            <One id={one} onForget={(id) => setForgetting({ id })} onAll={() => setSearch({}, { replace: true })} />
          ) : (
            <Items query={query} layer={layer} on={on} waiting={waiting} onForget={(id) => setForgetting({ id })} />
          )}
        </Section>
      )}
      <Adding open={adding} onClose={() => setAdding(false)} />
      {forgetting && <Forget what={forgetting} onClose={() => setForgetting(null)} />}
    </Page>
  );
}

/** The item named by a link, opened. */
function One({ id, onForget, onAll }: { id: string; onForget: (id: string) => void; onAll: () => void }) {
  const found = useQuery({
    queryKey: ["memory", "item", id],
    queryFn: () => call("GET /api/v1/memory/items/{id}", { path: { id } }),
    retry: false,
  });
  if (found.isError) return <Failure error={found.error} retry={() => void found.refetch()} />;
  if (!found.data) return <Skeleton rows={1} className="h-24" />;
  const { score: _, ...item } = found.data;
  return (
    <>
      <Card><Item item={item} best={1} open onOpen={onAll} onForget={() => onForget(id)} /></Card>
      <Button className="mt-3" onClick={onAll}>{t("Show everything")}</Button>
    </>
  );
}

function Items({ query, layer, on, waiting, onForget }: { query: string; layer: string; on: string; waiting: string; onForget: (id: string) => void }) {
  const [open, setOpen] = useState("");
  const words = waiting ? "" : query;
  const found = useInfiniteQuery({
    queryKey: ["memory", "items", query, layer, on, waiting],
    queryFn: ({ pageParam }) => call("GET /api/v1/memory/search", { query: { query: words, layer, waiting, limit: PAGE, before: pageParam, ...(on ? { as_of: endOf(on) } : {}) } }),
    initialPageParam: "",
    getNextPageParam: ({ items }) => (words || items.length < PAGE ? undefined : items.at(-1)!.id),
    placeholderData: (before) => before,
  });
  if (found.isError) return <Failure error={found.error} retry={() => void found.refetch()} />;
  if (!found.data) return <Skeleton rows={5} className="h-16" />;
  const items = found.data.pages.flatMap((page) => page.items);
  if (!items.length) {
    return (
      <Empty icon={Brain} title={on ? t("No matching memories on that day.") : waiting ? t("The queue is empty.") : query ? t("No matching memories.") : t("No memories here yet.")}>
        {t("Hob remembers what comes up in conversations. To keep something permanently, say “remember that …”.")}
      </Empty>
    );
  }
  const best = Math.max(...items.map((each) => each.score ?? 0), 0.0001);
  return (
    <>
      <Card className="divide-y divide-line">
        {items.map((each) => (
          <Item key={each.id} item={each} best={best} open={open === each.id} onOpen={() => setOpen(open === each.id ? "" : each.id)} onForget={() => onForget(each.id)} />
        ))}
      </Card>
      {found.hasNextPage && <Button className="mt-3 w-full" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>{t("Show older")}</Button>}
    </>
  );
}

function Item({ item, best, open, onOpen, onForget }: {
  item: MemoryItemAnswer; best: number; open: boolean; onOpen: () => void; onForget: () => void;
}) {
  return (
    <article aria-label={t("memory")} className="px-4 py-3">
      <button type="button" aria-expanded={open} onClick={onOpen} className="flex w-full items-start gap-3 text-start">
        <span aria-hidden className="mt-1.5 size-2.5 shrink-0 rounded-full" style={{ background: item.color }} />
        <span className="min-w-0 flex-1">
          <span dir="auto" className={`break-words ${open ? "block whitespace-pre-wrap" : "line-clamp-2"} ${item.trust === "untrusted" ? "text-muted" : ""}`}>{item.text}</span>
          <span className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
            <span>{t(item.layer)}</span>
            <span className="max-w-60 truncate font-mono">{item.source.replace(/^[a-z0-9]+:/, "")}</span>
            {item.trust === "untrusted" && <Badge tone="warn">{t("untrusted content")}</Badge>}
            <When at={item.at} />
          </span>
        </span>
        {item.score !== undefined && <ScoreBar score={item.score} best={best} />}
      </button>
      {open && <Whole item={item} onForget={onForget} />}
    </article>
  );
}

function Whole({ item, onForget }: { item: MemoryItemAnswer; onForget: () => void }) {
  const whole = useQuery({
    queryKey: ["memory", "item", item.id],
    queryFn: () => call("GET /api/v1/memory/items/{id}", { path: { id: item.id } }),
  }).data;
  const facts: [string, string][] = [
    [t("saved"), exact(item.at)],
    [t("from"), [item.origin, item.speaker].filter(Boolean).join(", ")],
    ...(whole?.expires_at ? [[t("expires"), exact(whole.expires_at)] as [string, string]] : []),
    ...(whole?.valid_from ? [[t("valid from"), exact(whole.valid_from)] as [string, string]] : []),
    ...(whole?.valid_to ? [[t("valid until"), exact(whole.valid_to)] as [string, string]] : []),
    ...(whole?.superseded_by ? [[t("replaced by"), whole.superseded_by.slice(0, 12)] as [string, string]] : []),
    [t("ID"), item.id.slice(0, 12)],
  ];
  return (
    <div className="mt-3 flex flex-col gap-3 ps-5.5">
      <ScoreParts parts={item.parts} />
      <dl className="flex flex-wrap gap-x-6 gap-y-1 text-xs">
        {facts.map(([name, value]) => <div key={name} className="flex gap-1.5"><dt className="text-muted">{name}</dt><dd>{value}</dd></div>)}
      </dl>
      <div className="flex flex-wrap gap-2">
        {item.session && (
          <Link href={`/chat?session=${encodeURIComponent(item.session)}`} className="inline-flex min-h-9 items-center rounded-md border border-line px-3 font-medium hover:bg-sunken">
            {t("Source conversation")}
          </Link>
        )}
        <Button look="danger" icon={Trash2} onClick={onForget}>{t("Forget…")}</Button>
      </div>
    </div>
  );
}

function Adding({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [text, setText] = useState("");
  const add = useChange(["memory"], () => call("POST /api/v1/memory/items", { body: { text } }), () => {
    setText("");
    onClose();
  });
  return (
    <Dialog open={open} onClose={onClose} title={t("Remember something")}>
      <form onSubmit={(event) => { event.preventDefault(); add.mutate(); }} className="flex flex-col gap-3">
        <textarea autoFocus dir="auto" rows={4} value={text} onChange={(event) => setText(event.target.value)}
          aria-label={t("What Hob should remember")} placeholder={t("e.g. Anna is allergic to nuts.")}
          className="w-full rounded-md border border-line bg-bg px-3 py-2" />
        <p className="text-sm text-muted">{t("Kept permanently as your own statement, until you forget it.")}</p>
        {add.isError && <Failure error={add.error} />}
        <Button type="submit" look="main" disabled={!text.trim() || add.isPending} className="self-end">{t("Remember")}</Button>
      </form>
    </Dialog>
  );
}
