import { duration, t } from "../../i18n";
import { Wide } from "../../parts/basics";
import { kindOf, wentWrong } from "../../parts/spans";
import { labelOf, type Placed } from "./tree";

const WIDTH = 190;
const HEIGHT = 46;
const GAP_X = 46;
const GAP_Y = 14;

/** The spans as a graph, parents to the left of their parts. */
export function Graph({ spans, chosen, onChoose }: { spans: Placed[]; chosen: string; onChoose: (id: string) => void }) {
  const rows = new Map<string, { x: number; y: number }>();
  const parents: number[] = [];
  const edges: [number, number][] = [];
  let row = -1;
  let before = -1;
  spans.forEach(({ depth }, index) => {
    if (depth <= before || before < 0) row += 1; // the first part is beside its span, the others below
    before = depth;
    parents[depth] = index;
    rows.set(String(index), { x: depth * (WIDTH + GAP_X), y: row * (HEIGHT + GAP_Y) });
    if (depth) edges.push([parents[depth - 1] ?? 0, index]);
  });
  const deepest = Math.max(...spans.map((each) => each.depth));
  const width = (deepest + 1) * (WIDTH + GAP_X);
  return (
    <Wide label={t("Spans")} className="mb-6 p-4">
      <div className="relative" style={{ width, height: (row + 1) * (HEIGHT + GAP_Y) }}>
        <svg aria-hidden className="absolute inset-0 h-full w-full">
          {edges.map(([from, to]) => {
            const a = rows.get(String(from))!;
            const b = rows.get(String(to))!;
            const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
            const middle = x1 + GAP_X / 2;
            return <path key={to} d={`M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`} fill="none" stroke="var(--line)" strokeWidth={2} />;
          })}
        </svg>
        {spans.map(({ span }, index) => {
          const { colour, icon: Icon, word } = kindOf(span.type);
          const { x, y } = rows.get(String(index))!;
          return (
            <button key={span.id} type="button" aria-pressed={span.id === chosen} onClick={() => onChoose(span.id)}
              className={`absolute flex items-center gap-2 rounded-md border px-2.5 text-start text-xs ${span.id === chosen ? "border-accent bg-accent-soft" : wentWrong(span.event) ? "border-bad bg-surface" : "border-line bg-surface hover:bg-sunken"}`}
              style={{ left: x, top: y, width: WIDTH, height: HEIGHT }}>
              <Icon size={16} color={colour} aria-hidden className="shrink-0" />
              <span className="min-w-0 flex-1">
                <span className="block truncate text-muted">{span.kind === "turn" ? t("turn") : word()}</span>
                <span className="block truncate font-medium">{labelOf(span) || t("erased")}</span>
              </span>
              <span className="text-muted">{duration(span.seconds)}</span>
            </button>
          );
        })}
      </div>
    </Wide>
  );
}
