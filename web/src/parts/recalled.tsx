import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { call, may } from "../api/client";
import type { ForgottenItemAnswer, MemoryItemAnswer } from "../api/schema";
import { t, tn } from "../i18n";
import { Badge, Card } from "./basics";
import { ScoreBar, ScoreParts } from "./score";

export type RecalledMemory = { id: string; score: number; parts: Record<string, number> };

/** The memories of a prompt, the best first, each with its score. */
export function Recalled({ turn, memories }: { turn: string; memories: RecalledMemory[] }) {
  const texts = useQuery({
    queryKey: ["recalled", turn],
    queryFn: () => call("GET /api/v1/memory/recalled", { query: { turn } }),
    enabled: memories.length > 0 && !!turn && may("admin"),
    retry: false,
  });
  if (!memories.length) return null;
  const told = (id: string) => texts.data?.items.find((each) => each.id.startsWith(id)); // a prompt holds a prefix of the id
  const best = Math.max(...memories.map((each) => each.score), 0.0001);
  return (
    <details open>
      <summary className="mb-1.5 text-sm font-semibold text-muted">{tn("{count} memory recalled", "{count} memories recalled", memories.length)}</summary>
      <Card className="overflow-hidden">
        <ul className="divide-y divide-line">
          {memories.toSorted((one, other) => other.score - one.score).map((each) => (
            <Memory key={each.id} memory={each} told={told(each.id)} best={best} />
          ))}
        </ul>
      </Card>
    </details>
  );
}

function Memory({ memory, told, best }: { memory: RecalledMemory; told: MemoryItemAnswer | ForgottenItemAnswer | undefined; best: number }) {
  const gone = told && "forgotten" in told;
  const item = gone ? undefined : told;
  return (
    <li className="flex flex-col gap-2 px-4 py-3">
      <div className="flex items-start gap-3">
        <span aria-hidden className={`mt-1.5 size-2.5 shrink-0 rounded-full ${gone ? "border border-muted" : "bg-muted"}`} style={item?.color ? { background: item.color } : {}} />
        <div className="min-w-0 flex-1">
          {gone ? (
            <p className="text-muted italic">{t("since forgotten")}</p>
          ) : (
            <Link href={`/memory?id=${encodeURIComponent(item?.id ?? memory.id)}`} dir="auto" className="block break-words hover:underline">{item?.text || memory.id.slice(0, 12)}</Link>
          )}
          <p className="mt-1 flex flex-wrap items-center gap-3 text-xs text-muted">
            {item && <span>{t(item.layer)}</span>}
            {item?.trust === "untrusted" && <Badge tone="warn">{t("untrusted content")}</Badge>}
          </p>
        </div>
        <ScoreBar score={memory.score} best={best} />
      </div>
      <div className="ps-5.5"><ScoreParts parts={memory.parts} /></div>
    </li>
  );
}
