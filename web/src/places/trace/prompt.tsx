import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import { call, may } from "../../api/client";
import type { PieceAnswer } from "../../api/schema";
import { number, t, tn } from "../../i18n";
import { Badge, Card, Erased, Failure, Skeleton } from "../../parts/basics";
import { Code } from "./code";

export type Part = { name: string; bytes: number; tokens: number; cached: boolean };

const HUES = ["var(--accent)", "var(--inbound)", "var(--outbound)", "var(--llm)", "var(--tool)", "var(--approval)", "var(--event)", "var(--policy)"];

/** The prompt by section: a stacked bar, cacheable parts hatched; each section opens its text. */
export function Prompt({ turn, step, sections }: { turn: string; step: number; sections: Part[] }) {
  const [open, setOpen] = useState("");
  if (!sections.length) return null;
  const whole = sections.reduce((sum, each) => sum + each.tokens, 0) || 1;
  const size = sections.reduce((sum, each) => sum + each.bytes, 0);
  const toggle = (name: string) => setOpen(open === name ? "" : name);
  return (
    <div>
      <h3 className="mb-1.5 text-sm font-semibold text-muted">
        {t("Prompt")} · {tn("{count} token", "{count} tokens", whole)} · {tn("{count} byte", "{count} bytes", size)}
      </h3>
      <div className="flex h-6 gap-px overflow-hidden rounded-md bg-sunken" aria-hidden>
        {sections.map((each, place) => (
          <button key={each.name} type="button" tabIndex={-1} title={t(each.name)} disabled={!may("read")} onClick={() => toggle(each.name)}
            className={`transition-opacity duration-100 ${each.cached ? "hatched" : ""} ${open && open !== each.name ? "opacity-40" : ""}`}
            style={{ width: `${(100 * each.tokens) / whole}%`, minWidth: 2, backgroundColor: HUES[place % HUES.length] }} />
        ))}
      </div>
      <ul className="mt-2 grid gap-x-4 text-sm @lg:grid-cols-2 @3xl:grid-cols-3">
        {sections.map((each, place) => (
          <li key={each.name}>
            <button type="button" disabled={!may("read")} aria-expanded={open === each.name} onClick={() => toggle(each.name)}
              className={`flex min-h-8 w-full items-center gap-2 rounded-md px-1.5 text-start ${open === each.name ? "bg-accent-soft" : "hover:bg-sunken"}`}>
              <span aria-hidden className={`size-2.5 shrink-0 rounded-sm ${each.cached ? "hatched" : ""}`} style={{ backgroundColor: HUES[place % HUES.length] }} />
              <span className="min-w-0 flex-1 truncate">{t(each.name)}{each.cached && <span className="text-muted"> · {t("cacheable")}</span>}</span>
              <span className="text-muted">{number(each.bytes)} B</span>
              <span className="w-12 text-end font-medium">{number(each.tokens)}</span>
              {open === each.name ? <ChevronDown size={14} aria-hidden className="text-muted" /> : <ChevronRight size={14} aria-hidden className="text-muted" />}
            </button>
          </li>
        ))}
      </ul>
      {open && <Text turn={turn} step={step} name={open} />}
    </div>
  );
}

/** The text of one prompt section. */
function Text({ turn, step, name }: { turn: string; step: number; name: string }) {
  const told = useQuery({
    queryKey: ["prompt", turn, step],
    queryFn: () => call("GET /api/v1/prompts/{id}", { path: { id: turn }, query: { step } }),
    retry: false,
  });
  const pieces = told.data?.sections.find((each) => each.name === name)?.pieces ?? [];
  return (
    <section aria-label={t("Text of {name}", { name: t(name) })} className="mt-2">
      {told.isPending && <Skeleton rows={2} className="h-10" />}
      {told.isError && <Failure error={told.error} retry={() => void told.refetch()} />}
      {told.data && !told.data.kept && (told.data.erased ? <Erased at={told.data.erased} /> : <p className="text-sm text-muted italic">{t("no longer stored")}</p>)}
      {told.data?.kept && !pieces.length && <p className="text-sm text-muted">{t("This step has no text.")}</p>}
      {pieces.length > 0 && <Card className="divide-y divide-line overflow-hidden">{pieces.map((each, place) => <Piece key={place} piece={each} />)}</Card>}
    </section>
  );
}

const ROLES: Record<string, string> = { system: "instructions", user: "user", assistant: "assistant", tool: "tool result" };

function Piece({ piece }: { piece: PieceAnswer }) {
  const from = [t(piece.untrusted), piece.name].filter(Boolean).join(", ");
  return (
    <div>
      <p className="flex flex-wrap items-center gap-2 px-4 pt-2 text-xs text-muted">
        {t(ROLES[piece.role] ?? piece.role)}
        {piece.name && <code className="font-mono text-text">{piece.name}</code>}
        {piece.untrusted && <Badge tone="warn">{t("untrusted: {origin}", { origin: from })}</Badge>}
      </p>
      <div className={piece.untrusted ? "p-2" : ""}><div className={piece.untrusted ? "tainted" : ""}><Code>{piece.text}</Code></div></div>
    </div>
  );
}
