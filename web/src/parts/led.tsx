import { t } from "../i18n";

const LOOKS: Record<string, [string, string, string]> = {
  purple: ["#a855f7", "●", "memory is healthy"],
  amber: ["#fbbf24", "▲", "memory is more than 70% full"],
  red: ["#f85149", "■", "memory is nearly full"],
  grey: ["#a855f7", "○", "memory is empty"],
  unavailable: ["#7d8395", "✕", "memory is unavailable"],
};

/** Memory health as a colour, a shape and a word. */
export function Led({ led, words }: { led: string; words?: boolean }) {
  const [colour, shape, word] = LOOKS[led] ?? LOOKS.unavailable!;
  return (
    <span className="inline-flex items-center gap-1.5 text-xs text-muted" title={t(word)}>
      <span aria-hidden style={{ color: colour }} className="text-sm leading-none">{shape}</span>
      <span className={words ? "" : "sr-only"}>{t(word)}</span>
    </span>
  );
}
