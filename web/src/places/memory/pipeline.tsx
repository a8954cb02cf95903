import { ArrowRight, MessageSquareText, ScrollText } from "lucide-react";
import { Link } from "wouter";
import type { LayerAnswer, MemoryStatusAnswer } from "../../api/schema";
import { number, t, tn } from "../../i18n";
import { Card } from "../../parts/basics";

const ALWAYS = ["conversation", "tool", "fact", "document", "soul"];

/** The memory pipeline: sources, queue, layers, derived items, prompt. The size of a disc shows how much its layer holds. */
export function Pipeline({ status, layer, onChoose }: {
  status: MemoryStatusAnswer; layer: string; onChoose: (layer: string) => void;
}) {
  const layers = status.layers.filter((each) => each.chunk_count || ALWAYS.includes(each.name));
  const most = Math.max(...layers.map((each) => each.chunk_count), 1);
  const { total_chunks: total, max_chunks: max } = status.totals;
  const recall = status.config.recall !== false;
  const { queue, derived } = status;
  const meaning = !!(status.embedding as { model: string }).model;
  const waits: Count[] = [
    ...(meaning ? [[t("for embedding"), queue.vectors, "/memory?waiting=vectors"] as const] : []),
    [t("for fact extraction"), queue.facts, "/memory?waiting=facts"],
    [t("for observation"), queue.observations, "/memory?waiting=observations"],
  ];
  const made: Count[] = [
    [t("Facts"), derived.facts, "/memory?show=facts"],
    [t("Observations"), derived.observations, "/memory?show=inside"],
    [t("Goals"), derived.goals, "/memory?show=goals"],
  ];
  return (
    <Card className="mb-8 p-4 sm:p-6">
      <div className="grid grid-cols-[minmax(0,1fr)] items-stretch md:grid-cols-[11rem_3.5rem_minmax(0,1fr)_3.5rem_11rem]">
        <div className="flex flex-col justify-center gap-2">
          <End icon={MessageSquareText} title={t("Sources")} text={t("conversations, tools, files, things you ask it to remember")} />
          <Step />
          <Counts title={t("Queue")} rows={waits} />
        </div>
        <Fan layers={layers} most={most} />
        <ul className="my-3 flex flex-col md:my-0" aria-label={t("Layers")}>
          {layers.map((each) => (
            <li key={each.name} className="flex flex-1">
              <button type="button" aria-pressed={each.name === layer} onClick={() => onChoose(each.name)}
                className={`flex min-h-12 w-full items-center gap-3 rounded-md px-2 text-start ${each.name === layer ? "bg-accent-soft" : "hover:bg-sunken"}`}>
                <span aria-hidden className="flex size-11 shrink-0 items-center justify-center">
                  <Disc layer={each} most={most} />
                </span>
                <span className="min-w-0 flex-1">
                  <span className="block font-medium first-letter:uppercase">{t(each.name)}</span>
                  <span className="block truncate text-xs text-muted">{t(each.description)}</span>
                </span>
                <span className="text-end">
                  <span className="block font-semibold">{number(each.chunk_count)}</span>
                  <span className="block text-xs text-muted">{each.ttl_days ? tn("{count} day", "{count} days", each.ttl_days) : t("permanent")}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
        <Fan layers={layers} most={most} into />
        <div className="flex flex-col justify-center gap-2">
          <Counts title={t("Derived")} rows={made} />
          <Step />
          <End icon={ScrollText} title={t("Prompt")} text={recall ? t("relevant memories are added to each message") : t("recall is off; the memory_search tool still works")} />
        </div>
      </div>
      <div className="mt-5 border-t border-line pt-4">
        <div className="flex justify-between text-xs text-muted">
          <span>{tn("{count} memory", "{count} memories", total)}</span>
          <span>{t("capacity for {count} expiring memories", { count: number(max) })}</span>
        </div>
        <div className="mt-1.5 flex h-2 overflow-hidden rounded-full bg-sunken" aria-hidden>
          {layers.filter((each) => each.chunk_count).map((each) => (
            <span key={each.name} style={{ width: `${(100 * each.chunk_count) / Math.max(max, total)}%`, minWidth: 3, background: each.color }} />
          ))}
        </div>
      </div>
    </Card>
  );
}

function Disc({ layer, most }: { layer: LayerAnswer; most: number }) {
  const size = layer.chunk_count ? 12 + 24 * Math.sqrt(layer.chunk_count / most) : 12;
  return (
    <span
      className="rounded-full"
      style={{
        width: size, height: size,
        background: layer.chunk_count ? layer.color : "transparent",
        border: layer.chunk_count ? "none" : `2px dashed ${layer.color}`,
      }}
    />
  );
}

/** Curves between the ends and the layers. */
function Fan({ layers, most, into }: { layers: LayerAnswer[]; most: number; into?: boolean }) {
  const rows = layers.length;
  const middle = rows / 2;
  return (
    <>
      <svg aria-hidden viewBox={`0 0 100 ${rows}`} preserveAspectRatio="none" className="hidden h-full w-full md:block">
        {layers.map((each, row) => {
          const y = row + 0.5;
          const [from, to] = into ? [y, middle] : [middle, y];
          return (
            <path key={each.name} d={`M0 ${from} C55 ${from} 45 ${to} 100 ${to}`} fill="none" stroke={each.color} vectorEffect="non-scaling-stroke"
              strokeWidth={each.chunk_count ? 1.5 + 5 * Math.sqrt(each.chunk_count / most) : 1} strokeDasharray={each.chunk_count ? undefined : "3 5"} opacity={0.55} />
          );
        })}
      </svg>
      <span className="my-1 md:hidden"><Step /></span>
    </>
  );
}

type Count = readonly [name: string, count: number, href: string];

/** A stage of the pipeline with its counts, each a link to its list. */
function Counts({ title, rows }: { title: string; rows: readonly Count[] }) {
  return (
    <div role="group" aria-label={title} className="rounded-md bg-sunken px-2 py-2">
      <p className="px-2 text-xs text-muted">{title}</p>
      {rows.map(([name, count, href]) => (
        <Link key={name} href={href} className="flex min-h-8 items-center justify-between gap-2 rounded-md px-2 hover:bg-surface">
          <span className="min-w-0 py-1 leading-5 break-words">{name}</span>
          <span className={count ? "font-semibold" : "text-muted"}>{number(count)}</span>
        </Link>
      ))}
    </div>
  );
}

const Step = () => <ArrowRight size={18} aria-hidden className="mx-auto rotate-90 text-muted" />;

function End({ icon: Icon, title, text }: { icon: typeof ScrollText; title: string; text: string }) {
  return (
    <div className="flex flex-col justify-center rounded-md bg-sunken px-4 py-3">
      <p className="flex items-center gap-2 font-semibold"><Icon size={16} aria-hidden className="text-accent" />{title}</p>
      <p className="text-xs text-muted">{text}</p>
    </div>
  );
}
