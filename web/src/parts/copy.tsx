import { Check, Copy as CopyIcon, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { t } from "../i18n";

/** Copy text to the clipboard. Browsers offer none over plain HTTP, so `execCommand` is tried too; rejects if both fail. */
export async function toClipboard(text: string): Promise<void> {
  try {
    return await navigator.clipboard.writeText(text);
  } catch {
    const box = document.createElement("textarea");
    box.value = text;
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    if (!done) throw new Error(t("The browser blocked copying. Select the text and copy it yourself."));
  }
}

/** A copy button that reports success or failure. */
export function Copy({ text, word, done = t("Copied") }: { text: () => string; word: string; done?: string }) {
  const [state, setState] = useState<"" | "done" | "failed">("");
  const copy = () => toClipboard(text()).then(() => setState("done"), () => setState("failed"));
  const Icon = { "": CopyIcon, done: Check, failed: TriangleAlert }[state];
  return (
    <button type="button" onClick={() => void copy()} className={`inline-flex items-center gap-1 hover:text-text ${state === "failed" ? "text-bad" : ""}`}>
      <Icon size={12} aria-hidden /> <span aria-live="polite">{state === "failed" ? t("Couldn't copy. Select the text and copy it yourself.") : state === "done" ? done : word}</span>
    </button>
  );
}
