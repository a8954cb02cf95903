import { useSyncExternalStore } from "react";

export type Language = "en" | "de";
const listeners = new Set<() => void>();
const current = (): Language => (document.documentElement.lang === "de" ? "de" : "en");

const german: Record<string, string> = {};

/** Load the texts of Home and the frame in a language; English is in the code. */
export async function loadLanguage(language: Language = current()) {
  if (language === "de") Object.assign(german, (await import("./de")).GERMAN);
}

/** Load the texts of the other places in a language. */
export async function loadPlaces(language: Language = current()) {
  if (language === "de") Object.assign(german, (await import("./de-places")).GERMAN);
}

export async function setLanguage(language: Language) {
  await Promise.all([loadLanguage(language), loadPlaces(language)]);
  localStorage.setItem("hob.language", language);
  document.documentElement.lang = language;
  listeners.forEach((each) => each());
}

/** The language of the page; re-renders its caller on change. */
export function useLanguage(): Language {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    current,
  );
}

/** Translate an English text and fill in its `{name}` placeholders. */
export function t(text: string, values: Record<string, string | number> = {}): string {
  const found = current() === "de" ? (german[text] ?? text) : text;
  return found.replace(/{(\w+)}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** Translate a text with a singular and a plural form, filling in `{count}`. */
export function tn(one: string, many: string, count: number): string {
  return t(count === 1 ? one : many, { count: number(count) });
}

const made = new Map<string, Intl.DateTimeFormat | Intl.NumberFormat>();

/** A cached formatter of this language: creating one costs more than a hundred uses. */
function formatter<T extends Intl.DateTimeFormat | Intl.NumberFormat>(kind: string, make: (locale: string) => T): T {
  const key = `${current()} ${kind}`;
  const found = made.get(key) ?? make(region());
  made.set(key, found);
  return found as T;
}

/** The page's language as spoken in the reader's region, if the browser names it: it decides about AM and PM. */
const region = () => navigator.languages.find((each) => each.split("-")[0] === current()) ?? current();

const dates = (options: Intl.DateTimeFormatOptions) =>
  formatter(JSON.stringify(options), (locale) => new Intl.DateTimeFormat(locale, options));
const numbers = (options: Intl.NumberFormatOptions) =>
  formatter(JSON.stringify(options), (locale) => new Intl.NumberFormat(locale, options));

export function money(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined) return "–";
  const digits = dollars !== 0 && Math.abs(dollars) < 0.1 ? 4 : 2;
  return numbers({ style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", minimumFractionDigits: digits, maximumFractionDigits: digits }).format(dollars);
}

export const number = (value: number) =>
  numbers({ notation: value >= 100_000 ? "compact" : "standard" }).format(value);

/** The decimal separator of this language: a comma in German. */
export const decimal = () => numbers({}).formatToParts(0.5).find((each) => each.type === "decimal")!.value;

/** A share of a whole, as "91%" in English and "91 %" in German. */
export const percent = (part: number, whole = 1) => numbers({ style: "percent" }).format(part / whole);

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 0.9995) return `${Math.max(1, Math.round(seconds * 1000))} ms`;
  if (seconds < 59.5) return `${numbers({ maximumFractionDigits: seconds < 10 ? 1 : 0 }).format(seconds)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export const clock = (at: number, seconds = false) =>
  dates({ hour: "numeric", minute: "2-digit", ...(seconds ? { second: "2-digit" } : {}) }).format(at * 1000);

/** A time of day, with its weekday if it is not today. */
export const moment = (at: number) =>
  dateOf(at) === dateOf(Date.now() / 1000)
    ? clock(at)
    : dates({ weekday: "short", hour: "numeric", minute: "2-digit" }).format(at * 1000);

export const exact = (at: number) =>
  dates({ dateStyle: "full", timeStyle: "medium" }).format(at * 1000);

const dateOf = (at: number) => new Date(at * 1000).toDateString();

/** A calendar day, as in "erased on 3 May". */
export const dayOf = (at: number) => dates({ day: "numeric", month: "long", ...(new Date(at * 1000).getFullYear() === new Date().getFullYear() ? {} : { year: "numeric" }) }).format(at * 1000);

/** The end of a day (like 2026-07-31) in local time, in Unix seconds. */
export const endOf = (date: string) => new Date(`${date}T23:59:59`).getTime() / 1000;

/** A day for use within a sentence. */
export function day(at: number): string {
  const now = Date.now() / 1000;
  if (dateOf(at) === dateOf(now)) return t("today");
  if (dateOf(at) === dateOf(now - 86_400)) return t("yesterday");
  return dates({ weekday: "long", day: "numeric", month: "long", year: "numeric" }).format(at * 1000);
}

export function ago(at: number): string {
  const seconds = Date.now() / 1000 - at;
  if (seconds < 45) return t("just now");
  const relative = new Intl.RelativeTimeFormat(current(), { numeric: "auto", style: "short" });
  if (seconds < 3600) return relative.format(-Math.round(seconds / 60), "minute");
  if (seconds < 86_400) return relative.format(-Math.round(seconds / 3600), "hour");
  return relative.format(-Math.round(seconds / 86_400), "day");
}
