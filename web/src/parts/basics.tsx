import { useCallback, useEffect, useLayoutEffect, useRef, useState, type ButtonHTMLAttributes, type ReactNode, type Ref } from "react";
import { X, type LucideIcon } from "lucide-react";
import { Problem, may, type Scope } from "../api/client";
import { useConnection } from "../api/queries";
import { Copy } from "./copy";
import { useMinute } from "./time";
import { Told } from "./told";
import { ago, dayOf, exact, t } from "../i18n";

const STYLES = {
  plain: "border border-line bg-surface hover:bg-sunken text-text",
  main: "bg-accent text-on-accent hover:opacity-90",
  quiet: "text-muted hover:text-text hover:bg-sunken",
  danger: "border border-line bg-surface text-bad hover:bg-bad-soft",
};

/** A button, hidden if this login lacks the scope it `needs`. One that can be disabled acts on Hob, unless
it is `local`: it is disabled while offline, with the reason as its title. */
export function Button({
  look = "plain", icon: Icon, label, needs, local, disabled, children, className = "", ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { ref?: Ref<HTMLButtonElement>; "data-act"?: string; look?: keyof typeof STYLES; icon?: LucideIcon; label?: string; needs?: Scope; local?: boolean }) {
  const rests = useConnection().state === "lost" && !local && (!!needs || !!rest["data-act"] || disabled !== undefined);
  if (needs && !may(needs)) return null;
  return (
    <button
      type="button"
      aria-label={label}
      title={rests ? t("Offline. Available again when Hob is back.") : label}
      disabled={rests || disabled}
      className={`inline-flex min-h-9 items-center justify-center gap-2 rounded-md px-3 font-medium transition-colors duration-100 disabled:opacity-45 ${STYLES[look]} ${className}`}
      {...rest}
    >
      {Icon && <Icon size={16} aria-hidden />}
      {children}
    </button>
  );
}

const SETTLE_MS = 700;

/** Whether this has stayed as it is for a moment. What a page or a model can make appear must not take a click that was meant for what was there before. */
export function useSettled(shown: string): boolean {
  const [settled, setSettled] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setSettled(shown), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return settled === shown;
}

export function Card({ children, className = "" }: { children: ReactNode; className?: string }) {
  return <div className={`rounded-md border border-line bg-surface ${className}`}>{children}</div>;
}

/** Wide content with its own scrolling, by keyboard too. */
export function Wide({ label, children, className = "" }: { label: string; children: ReactNode; className?: string }) {
  return (
    <div role="region" aria-label={label} tabIndex={0} className={`overflow-x-auto rounded-md border border-line bg-surface ${className}`}>
      {children}
    </div>
  );
}

export function Section({ title, more, children }: { title: string; more?: ReactNode; children: ReactNode }) {
  return (
    <section className="mb-8" aria-label={title}>
      <div className="mb-2 flex min-h-8 flex-wrap items-center justify-between gap-x-3 gap-y-2">
        <h2 className="text-sm font-semibold text-muted">{title}</h2>
        {more}
      </div>
      {children}
    </section>
  );
}

/** A place; `focused`: its heading takes the focus when it opens, which screen readers announce. */
export function Page({ title, about, more, children, wide, focused }: {
  title: string; about?: string; more?: ReactNode; children: ReactNode; wide?: boolean | "full"; focused?: boolean;
}) {
  const heading = useCallback((found: HTMLElement | null) => found?.focus({ preventScroll: true }), []);
  return (
    <div className="h-full overflow-y-auto [scrollbar-gutter:stable]" tabIndex={0} role="region" aria-label={title}>
      <div className={`mx-auto px-4 py-6 sm:px-8 sm:py-8 ${wide === "full" ? "max-w-[100rem]" : wide ? "max-w-6xl" : "max-w-4xl"}`}>
        <div className="mb-6 flex flex-wrap items-end justify-between gap-3">
          <div className="min-w-0">
            <h1 ref={focused ? heading : undefined} tabIndex={focused ? -1 : undefined} className="line-clamp-4 text-xl font-semibold tracking-tight [overflow-wrap:anywhere] outline-none!">{title}</h1>
            {about !== undefined && <p className="min-h-[1lh] text-muted">{about}</p>}
          </div>
          {more}
        </div>
        {children}
      </div>
    </div>
  );
}

export function When({ at, className = "" }: { at: number; className?: string }) {
  useMinute();
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={exact(at)} className={`whitespace-nowrap ${className}`}>
      {ago(at)}
    </time>
  );
}

export function Badge({ tone = "plain", children }: { tone?: "plain" | "good" | "warn" | "bad" | "accent"; children: ReactNode }) {
  const tones = {
    plain: "bg-sunken text-muted",
    good: "bg-sunken text-good",
    warn: "bg-warn-soft text-warn",
    bad: "bg-bad-soft text-bad",
    accent: "bg-accent-soft text-accent",
  };
  return (
    <span className={`inline-flex items-center gap-1 whitespace-nowrap rounded-full px-2 py-0.5 text-xs font-medium ${tones[tone]}`}>
      {children}
    </span>
  );
}

export function Empty({ icon: Icon, title, children }: { icon: LucideIcon; title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 rounded-md border border-dashed border-line px-6 py-10 text-center">
      <Icon size={28} aria-hidden className="text-accent" />
      <p className="text-lg font-semibold">{title}</p>
      <div className="max-w-md text-muted">{children}</div>
    </div>
  );
}

/** A placeholder while loading; offline it says that nothing loads. */
export function Skeleton({ rows = 4, className = "h-14" }: { rows?: number; className?: string }) {
  const lost = useConnection().state === "lost";
  if (lost) return <p role="status" className="py-2 text-muted">{t("Not available offline. Loads when Hob is back.")}</p>;
  return (
    <div role="status" aria-label={t("Loading")} className="flex flex-col gap-2">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className={`skeleton ${className}`} />
      ))}
    </div>
  );
}

/** Replaces a text that was erased, or that this login may not read. */
export function Erased({ at }: { at: number | null }) {
  return <p className="text-sm text-muted italic">{at !== null ? t("erased on {day}", { day: dayOf(at) }) : may("read") ? t("without text") : t("hidden for this token")}</p>;
}

/** Stands for the missing text of a task. */
export const untitled = () => (may("read") ? t("(no text)") : t("(hidden for this token)"));

/** An error with the next step. `title`: what failed, if not loading. */
export function Failure({ error, retry, title = t("Couldn't load this.") }: { error: unknown; retry?: () => void; title?: string }) {
  const missing = error instanceof Problem && error.code === "missing_scope";
  return (
    <div role="alert" className="rounded-md border border-line bg-bad-soft px-4 py-3">
      <p className="font-medium text-bad">
        {missing ? t("You don't have access to this.") : title}
      </p>
      <p className="text-sm"><Told text={error instanceof Error ? error.message : String(error)} /></p>
      {!missing && (
        <div className="mt-2 flex flex-wrap gap-2">
          {retry && <Button onClick={retry}>{t("Try again")}</Button>}
          {error instanceof Error && <span className="inline-flex items-center px-3 text-sm text-muted"><Copy word={t("Copy details")} text={() => [error.message, error instanceof Problem ? `${error.status} ${error.code}` : error.stack, location.pathname, new Date().toISOString()].join("\n")} /></span>}
        </div>
      )}
    </div>
  );
}

/** A modal dialog; the browser keeps the focus in it and closes it with Escape. */
export function Dialog({ open, onClose, title, children, wide }: {
  open: boolean; onClose: () => void; title: string; children: ReactNode; wide?: boolean;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const [shown, setShown] = useState(false);
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (open && dialog && !dialog.open) dialog.showModal();
    if (!open && dialog?.open) dialog.close();
    setShown(open); // render the content afterwards, since `autoFocus` needs it visible
  }, [open]);
  return (
    <dialog
      ref={ref}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
      aria-label={title}
      className={`m-auto max-h-[85dvh] w-[calc(100%-2rem)] rounded-xl border border-line bg-surface p-0 text-text shadow-(--shadow) ${wide ? "max-w-3xl" : "max-w-lg"}`}
    >
      {open && (
        <div className="flex max-h-[85dvh] flex-col">
          <div className="flex items-center justify-between border-b border-line px-4 py-2">
            <h2 className="font-semibold">{title}</h2>
            <Button look="quiet" icon={X} label={t("Close")} onClick={onClose} className="px-2" />
          </div>
          <div className="overflow-y-auto p-4">{shown && children}</div>
        </div>
      )}
    </dialog>
  );
}

/** Scroll the chosen tab into view without moving the page. */
function inSight(tab: HTMLElement | null) {
  const row = tab?.parentElement;
  if (row && tab) row.scrollLeft = tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.clientWidth) / 2;
}

export function Tabs<T extends string>({ label, tabs, chosen, onChoose }: {
  label: string; tabs: readonly (readonly [T, string])[]; chosen: T; onChoose: (tab: T) => void;
}) {
  return (
    <div role="group" aria-label={label} className="flex w-fit max-w-full gap-1 overflow-x-auto rounded-md bg-sunken p-1">
      {tabs.map(([tab, name]) => (
        <button
          key={tab}
          type="button"
          aria-pressed={chosen === tab}
          ref={chosen === tab ? inSight : undefined}
          onClick={() => onChoose(tab)}
          className={`min-h-8 whitespace-nowrap rounded-md px-3 text-sm font-medium ${chosen === tab ? "bg-surface text-text shadow-sm" : "text-muted hover:text-text"}`}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
