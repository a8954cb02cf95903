import {
  Activity, Brain, CircleDollarSign, Ellipsis, FolderGit2, Home as HomeIcon, Keyboard, Languages, ListChecks, LogOut, MessageSquare,
  Moon, PanelLeftClose, PanelLeftOpen, Plug, Presentation, Rows3, Rows4, Search, Settings as Cog, ShieldCheck, Sun, WifiOff, type LucideIcon,
} from "lucide-react";
import { Suspense, lazy, useEffect, useState, type ComponentType, type ReactNode } from "react";
import { Link, Redirect, Route, Switch, useLocation } from "wouter";
import { Problem, signOut } from "../api/client";
import { outbox } from "../api/outbox";
import { useNotifications } from "./notify";
import { useNeeds } from "./needs";
import { maySee } from "./places";
import { RunningNow } from "./running";
import { Held } from "./stop";
import { knowsSomething, useCanvas, useConnection, useLiveUpdates, useMemory, useStatus, useOffline, useUsage, useViews } from "../api/queries";
import { clock, loadPlaces, money, setLanguage, t, tn, useLanguage } from "../i18n";
import { Home } from "../places/home/home";
import { Button, Dialog, Empty, Failure, Page, Skeleton } from "./basics";
import { Led } from "./led";
import { Mark } from "./mark";

/** A part of the page that is loaded, with its texts, when it is first shown. */
const later = <P,>(load: () => Promise<ComponentType<P>>) =>
  lazy(async () => ({ default: (await Promise.all([load(), loadPlaces()]))[0] }));

const Chat = later(() => import("../places/chat/chat").then((found) => found.Chat));
const Timeline = later(() => import("../places/timeline/timeline").then((found) => found.Timeline));
const Memory = later(() => import("../places/memory/memory").then((found) => found.Memory));
const Work = later(() => import("../places/work/work").then((found) => found.Work));
const Files = later(() => import("../places/files/files").then((found) => found.Files));
const Canvas = later(() => import("../places/canvas/canvas").then((found) => found.Canvas));
const View = later(() => import("../places/view/view").then((found) => found.View));
const Trace = later(() => import("../places/trace/trace").then((found) => found.Trace));
const Trust = later(() => import("../places/trust/trust").then((found) => found.Trust));
const Costs = later(() => import("../places/costs/costs").then((found) => found.Costs));
const Settings = later(() => import("../places/settings/settings").then((found) => found.Settings));
const Palette = later(() => import("./palette").then((found) => found.Palette));

const PLACES: readonly { path: string; key: string; word: string; icon: LucideIcon }[] = [
  { path: "/", key: "h", word: "Home", icon: HomeIcon },
  { path: "/chat", key: "c", word: "Chat", icon: MessageSquare },
  { path: "/timeline", key: "t", word: "Timeline", icon: Activity },
  { path: "/memory", key: "m", word: "Memory", icon: Brain },
  { path: "/work", key: "w", word: "Work", icon: ListChecks },
  { path: "/files", key: "f", word: "Files", icon: FolderGit2 },
  { path: "/trust", key: "a", word: "Trust", icon: ShieldCheck },
  { path: "/costs", key: "$", word: "Costs", icon: CircleDollarSign },
  { path: "/settings", key: "s", word: "Settings", icon: Cog },
];

/** Keys and the `data-act` of the button they press: on the focused card, else on the first one. */
const ACTS: Record<string, string> = { a: "allow", d: "deny", ".": "stop", u: "undo" };

/** The first press focuses the button, the second presses it: no single key decides anything. */
function choose(act: string) {
  const wanted = `[data-act="${act}"]:not(:disabled)`;
  const active = document.activeElement;
  if (active instanceof HTMLElement && active.matches(wanted)) return active.click();
  const near = active?.closest("article, [data-card]")?.querySelector<HTMLElement>(wanted);
  const button = near ?? document.querySelector<HTMLElement>(`#main ${wanted}`);
  button?.scrollIntoView({ block: "nearest" });
  button?.focus();
}

/** The places that this login may see. */
const placesHere = () => PLACES.filter((each) => maySee(each.path));

const AT_THE_THUMB = ["/", "/chat", "/timeline", "/trust"];

/** The name of the place; empty for those of `useFurther`. */
const placeWord = (path: string) => (path.startsWith("/trace/") ? t("Trace") : t(PLACES.find((each) => here(path, each.path))?.word ?? ""));

const here = (path: string, place: string) => (place === "/" ? path === "/" : path.startsWith(place));

export function Shell() {
  useLiveUpdates();
  const [path, go] = useLocation();
  const [searching, setSearching] = useState(false);
  const [showingKeys, setShowingKeys] = useState(false);
  const { count } = useNeeds();
  const waiting = maySee("/trust") ? count : 0; // a viewer cannot answer
  useNotifications(waiting);
  const further = useFurther();
  const place = placeWord(path) || further.find((each) => here(path, each.path))?.word;

  useEffect(() => {
    document.title = `${waiting ? `(${waiting}) ` : ""}${place ? `${place} · ` : ""}Hob`;
  }, [place, waiting]);

  useEffect(() => {
    let leader = false;
    const onKey = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && event.target.matches("input, textarea, select, [contenteditable]");
      if ((event.ctrlKey || event.metaKey) && event.key === "k") {
        event.preventDefault();
        setSearching(true);
      } else if (!event.repeat && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        const place = leader ? placesHere().find((each) => each.key === event.key) : undefined;
        if (place) go(place.path);
        else if (event.key === "?") setShowingKeys(true);
        else if (!leader && ACTS[event.key]) choose(ACTS[event.key]!);
        leader = event.key === "g";
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [go]);

  useEffect(() => {
    const onMessage = (event: MessageEvent<{ go?: string }>) => { if (event.data.go) go(event.data.go); };
    navigator.serviceWorker?.addEventListener("message", onMessage);
    return () => navigator.serviceWorker?.removeEventListener("message", onMessage);
  }, [go]);

  const halted = useStatus().data?.halted;
  return (
    <div className="flex h-dvh flex-col sm:flex-row">
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded-md focus:bg-surface focus:p-2">
        {t("Skip to content")}
      </a>
      <Rail path={path} waiting={waiting} />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <Header onSearch={() => setSearching(true)} onKeys={() => setShowingKeys(true)} waiting={waiting} />
        <Offline />
        {halted && <Held since={halted} />}
        <main id="main" tabIndex={-1} className="min-h-0 flex-1 outline-none">
          <Suspense fallback={<Page title=""><Skeleton rows={5} /></Page>}>
            {!maySee(path) ? <Page title=""><Failure error={new Problem(403, "missing_scope", t("Your access depends on the token you signed in with."))} /></Page> : <Switch>
              <Route path="/" component={Home} />
              <Route path="/chat" component={Chat} />
              <Route path="/timeline" component={Timeline} />
              <Route path="/trace/:id">{({ id }) => <Trace key={id} id={id} />}</Route>
              <Route path="/memory" component={Memory} />
              <Route path="/work" component={Work} />
              <Route path="/files" component={Files} />
              <Route path="/view/:name">{({ name }) => <View key={name} name={name} />}</Route>
              <Route path="/canvas/:id?">{({ id }) => <Canvas id={id} />}</Route>
              <Route path="/trust" component={Trust} />
              <Route path="/approvals"><Redirect to="/trust" /></Route>
              <Route path="/costs" component={Costs} />
              <Route path="/settings" component={Settings} />
              <Route>
                <Page title={t("Page not found")}>
                  <Empty icon={Search} title={t("There is nothing at this address.")}>
                    <Link href="/" className="text-accent underline">{t("Go home")}</Link>
                  </Empty>
                </Page>
              </Route>
            </Switch>}
          </Suspense>
        </main>
      </div>
      <Bottom path={path} waiting={waiting} />
      {searching && (
        <Suspense fallback={null}>
          <Palette onClose={() => setSearching(false)} places={PLACES} />
        </Suspense>
      )}
      <Keys open={showingKeys} onClose={() => setShowingKeys(false)} />
    </div>
  );
}

function Dot({ count, narrow }: { count: number; narrow: boolean }) {
  if (!count) return null;
  return (
    <span className={`absolute end-0 top-0 rounded-full bg-warn px-1.5 text-xs font-semibold text-bg ${narrow ? "" : "lg:static lg:ms-auto"}`} aria-label={tn("{count} needs you", "{count} need you", count)}>
      {count}
    </span>
  );
}

/** Places that only appear when they have content. */
function useFurther() {
  const views = useViews().data?.views ?? [];
  const canvas = useCanvas().data?.pages.length ? [{ path: "/canvas", word: t("Canvas"), icon: Presentation }] : [];
  return [...canvas, ...views.map(({ name, title }) => ({ path: `/view/${name}`, word: title, icon: Plug }))];
}

/** A display preference of this browser, stored as a data attribute of the root element for styling. */
function useLook(name: "rail" | "density", other: string): [boolean, () => void] {
  const [on, setOn] = useState(() => document.documentElement.dataset[name] === other);
  return [on, () => {
    localStorage.setItem(`hob.${name}`, on ? "" : other);
    document.documentElement.dataset[name] = on ? "" : other;
    setOn(!on);
  }];
}

function Rail({ path, waiting }: { path: string; waiting: number }) {
  const further = useFurther();
  const [narrow, toggleNarrow] = useLook("rail", "icons");
  const [compact, toggleCompact] = useLook("density", "compact");
  const shown = narrow ? "sr-only" : "sr-only lg:not-sr-only";
  return (
    <nav aria-label={t("Navigation")} className={`hidden w-16 shrink-0 flex-col gap-1 overflow-y-auto border-e border-line p-3 sm:flex ${narrow ? "" : "lg:w-52"}`}>
      <Link href="/" className="mb-3 flex items-center gap-2.5 px-1 py-1" aria-label="Hob">
        <Mark />
        <span className={`hidden text-lg font-semibold tracking-tight ${narrow ? "" : "lg:inline"}`}>Hob</span>
      </Link>
      {placesHere().map(({ path: place, word, icon: Icon }) => (
        <Link
          key={place}
          href={place}
          aria-current={here(path, place) ? "page" : undefined}
          title={t(word)}
          className={`relative flex min-h-10 items-center gap-3 rounded-md px-2.5 font-medium transition-colors duration-100 ${here(path, place) ? "bg-accent-soft text-accent" : "text-muted hover:bg-sunken hover:text-text"}`}
        >
          <Icon size={18} aria-hidden className="shrink-0" />
          <span className={shown}>{t(word)}</span>
          {place === "/" && <Dot count={waiting} narrow={narrow} />}
        </Link>
      ))}
      {further.length > 0 && <span aria-hidden className="mx-2.5 my-1 border-t border-line" />}
      {further.map(({ path: place, word, icon: Icon }) => (
        <Link key={place} href={place} title={word} aria-current={here(path, place) ? "page" : undefined}
          className={`flex min-h-10 items-center gap-3 rounded-md px-2.5 font-medium ${here(path, place) ? "bg-accent-soft text-accent" : "text-muted hover:bg-sunken hover:text-text"}`}>
          <Icon size={18} aria-hidden className="shrink-0" />
          <span className={`truncate ${shown}`}>{word}</span>
        </Link>
      ))}
      <div className={`mt-auto flex pt-3 ${narrow ? "flex-col" : "flex-col lg:flex-row"}`}>
        <span className="hidden lg:block"><Button look="quiet" icon={narrow ? PanelLeftOpen : PanelLeftClose} label={narrow ? t("Expand sidebar") : t("Collapse sidebar")} aria-pressed={narrow} onClick={toggleNarrow} className="px-2" /></span>
        <Button look="quiet" icon={compact ? Rows3 : Rows4} label={compact ? t("Comfortable spacing") : t("Compact spacing")} aria-pressed={compact} onClick={toggleCompact} className="px-2" />
      </div>
    </nav>
  );
}

function Bottom({ path, waiting }: { path: string; waiting: number }) {
  const [more, setMore] = useState(false);
  const look = (on: boolean) => `relative flex min-h-14 min-w-0 flex-1 flex-col items-center justify-center gap-0.5 text-xs ${on ? "text-accent" : "text-muted"}`;
  const others = [...placesHere().filter((each) => !AT_THE_THUMB.includes(each.path)), ...useFurther()];
  return (
    <nav aria-label={t("Navigation")} className="flex shrink-0 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] sm:hidden">
      {placesHere().filter((each) => AT_THE_THUMB.includes(each.path)).map(({ path: place, word, icon: Icon }) => (
        <Link key={place} href={place} aria-current={here(path, place) ? "page" : undefined} className={look(here(path, place))}>
          <Icon size={20} aria-hidden />
          <span className="max-w-full truncate">{t(word)}</span>
          {place === "/" && waiting > 0 && (
            <span className="absolute end-1/4 top-1 rounded-full bg-warn px-1.5 text-xs font-semibold text-bg">{waiting}</span>
          )}
        </Link>
      ))}
      <button type="button" aria-haspopup="dialog" onClick={() => setMore(true)} className={look(others.some((each) => here(path, each.path)))}>
        <Ellipsis size={20} aria-hidden />
        <span>{t("More")}</span>
      </button>
      <Dialog open={more} onClose={() => setMore(false)} title={t("More")}>
        <div className="grid grid-cols-2 gap-2">
          {others.map(({ path: place, word, icon: Icon }) => (
            <Link key={place} href={place} onClick={() => setMore(false)} className="flex min-h-14 items-center gap-3 rounded-md border border-line px-4 font-medium">
              <Icon size={20} aria-hidden className="text-accent" /> {t(word)}
            </Link>
          ))}
        </div>
      </Dialog>
    </nav>
  );
}

function Header({ onSearch, onKeys, waiting }: { onSearch: () => void; onKeys: () => void; waiting: number }) {
  const status = useStatus().data;
  const today = useUsage("day", 1).data;
  const memory = useMemory();
  const led = memory.data?.led ?? (memory.failureCount ? "unavailable" : "");
  const connection = useConnection();
  const running = status?.running ?? 0;
  return (
    <header className="flex h-14 shrink-0 items-center gap-2 border-b border-line px-3 sm:px-4">
      <button
        type="button"
        onClick={onSearch}
        className="flex h-9 min-w-9 items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-muted hover:text-text sm:w-64"
      >
        <Search size={16} aria-hidden />
        <span className="sr-only sm:not-sr-only">{t("Search")}</span>
        <kbd aria-hidden className="ms-auto hidden rounded border border-line px-1 font-sans text-xs sm:inline">Ctrl K</kbd>
      </button>
      <div className="ms-auto flex items-center gap-1 text-sm text-muted sm:gap-3">
        {waiting > 0 && (
          <Link href="/" className="whitespace-nowrap rounded-full bg-warn-soft px-2.5 py-1 text-xs font-semibold text-warn">
            {tn("{count} needs you", "{count} need you", waiting)}
          </Link>
        )}
        <RunningNow />
        {led && <Link href="/memory" className="px-1"><Led led={led} /></Link>}
        <span className={waiting || running ? "hidden md:inline" : ""} title={t("Cost today")}>{today ? money(today.total.cost_usd) : "–"}</span>
        <span
          className="flex items-center gap-1.5 rounded-full text-xs lg:border lg:border-line lg:px-2.5 lg:py-1"
          title={status ? `Hob ${status.version}` : ""}
        >
          <span aria-hidden className={`size-2 rounded-full ${{ open: "bg-good", connecting: "bg-muted", lost: "bg-warn" }[connection.state]}`} />
          <span className="sr-only lg:not-sr-only">{{ open: t("live"), connecting: t("connecting"), lost: t("not connected") }[connection.state]} · {status ? t(status.mode === "full" ? "with channels" : status.mode) : "…"}</span>
        </span>
        <LanguageButton />
        <ThemeButton />
        <span className="hidden md:inline"><Button look="quiet" icon={Keyboard} label={t("Keyboard shortcuts")} onClick={onKeys} className="px-2" /></span>
        <Button
          look="quiet"
          icon={LogOut}
          label={t("Sign out")}
          className="px-2"
          onClick={() => {
            outbox.forget();
            void signOut();
          }}
        />
      </div>
    </header>
  );
}

function LanguageButton() {
  const language = useLanguage();
  const other = language === "de" ? "en" : "de";
  return (
    <Button
      look="quiet"
      icon={Languages}
      label={other === "de" ? "Deutsch" : "English"}
      onClick={() => setLanguage(other)}
      className="px-2"
    />
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme);
  const other = theme === "dark" ? "light" : "dark";
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => setTheme(document.documentElement.dataset.theme); // theme.js has set it
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  return (
    <Button
      look="quiet"
      icon={theme === "dark" ? Sun : Moon}
      label={other === "dark" ? t("Dark theme") : t("Light theme")}
      className="px-2"
      onClick={() => {
        localStorage.setItem("hob.theme", other);
        document.documentElement.dataset.theme = other;
        setTheme(other);
      }}
    />
  );
}

function Offline() {
  const connection = useConnection();
  if (!useOffline()) return null;
  return (
    <div role="status" className="flex items-center gap-2 border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn">
      <WifiOff size={16} aria-hidden className="shrink-0" />
      {t(knowsSomething() ? "Offline since {time}. Showing the last known state. Nothing is sent until Hob is back." : "Offline since {time}. Nothing is sent until Hob is back.", {
        time: clock(connection.since / 1000),
      })}
    </div>
  );
}

function Keys({ open, onClose }: { open: boolean; onClose: () => void }) {
  const rows: [string, ReactNode][] = [
    ["Ctrl K", t("Search")],
    ...placesHere().map(({ key, word }): [string, ReactNode] => [`g ${key}`, t(word)]),
    ["j k", t("Next or previous timeline entry")],
    ["Enter", t("Open the selected entry")],
    ["/", t("Filter the timeline")],
    ["a d", t("Approve or deny the focused card (press twice)")],
    [".", t("Stop the running turn (press twice)")],
    ["u", t("Undo (press twice)")],
    ["Esc", t("Back, close")],
    ["?", t("Show keyboard shortcuts")],
  ];
  return (
    <Dialog open={open} onClose={onClose} title={t("Keyboard shortcuts")}>
      <dl tabIndex={0} className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
        {rows.map(([key, what]) => (
          <div key={key} className="contents">
            <dt><kbd className="rounded border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs">{key}</kbd></dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
