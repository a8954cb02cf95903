import { t } from "../i18n";

/** A memory's score relative to the best in its list. */
export function ScoreBar({ score, best }: { score: number; best: number }) {
  return (
    <span className="w-20 shrink-0 pt-1.5" title={t("score {score}", { score: score.toFixed(3) })}>
      <span className="block h-1.5 overflow-hidden rounded-full bg-sunken" aria-hidden>
        <span className="block h-full rounded-full bg-accent" style={{ width: `${Math.max(3, (100 * score) / best)}%` }} />
      </span>
      <span className="sr-only">{t("score {score}", { score: score.toFixed(2) })}</span>
      <span aria-hidden className="mt-0.5 block text-end text-xs text-muted">{score.toFixed(2)}</span>
    </span>
  );
}

/** The parts of a memory's score. */
export function ScoreParts({ parts }: { parts?: Record<string, unknown> }) {
  const shown = Object.entries(parts ?? {}).filter((each): each is [string, number] => typeof each[1] === "number" && each[1] !== 0);
  const most = Math.max(...shown.map(([, value]) => Math.abs(value)), 0.0001);
  if (!shown.length) return null;
  return (
    <dl className="grid max-w-md grid-cols-[auto_1fr_auto] items-center gap-x-3 gap-y-1 text-xs" aria-label={t("Score breakdown")}>
      {shown.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{t(name)}</dt>
          <dd aria-hidden className="h-1.5 overflow-hidden rounded-full bg-sunken"><span className="block h-full rounded-full bg-accent" style={{ width: `${(100 * Math.abs(value)) / most}%` }} /></dd>
          <dd className="text-end">{value.toFixed(2)}</dd>
        </div>
      ))}
    </dl>
  );
}
