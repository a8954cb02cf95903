import { useQuery } from "@tanstack/react-query";
import { Activity, Brain, FileText, MessageSquare, SquareSlash, type LucideIcon } from "lucide-react";
import { Fragment, useDeferredValue, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { call, may } from "../api/client";
import { useSessions } from "../api/queries";
import { t } from "../i18n";
import { Dialog, When } from "./basics";
import { COMMANDS } from "./commands";
import { maySee } from "./places";
import { sessionWord } from "./words";

type Found = { key: string; group: string; icon: LucideIcon; text: string; more: string; at?: number; href: string; old?: boolean };

/** The first line of a message, without Markdown's marks. */
const plain = (text: string) => (text.split("\n").find((each) => /\w/.test(each)) ?? text).replace(/^[#>\s*-]+/, "").replace(/(\*\*|__|`)/g, "").slice(0, 160);

/** The Ctrl+K palette: places, conversations, messages, memory, files and commands. */
export function Palette({ onClose, places }: {
  onClose: () => void; places: readonly { path: string; word: string; icon: LucideIcon }[];
}) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const [path, go] = useLocation();
  const session = useSearchParams()[0].get("session");
  const wanted = useDeferredValue(text.trim());
  const sessions = useSessions().data?.sessions ?? [];
  const events = useQuery({
    queryKey: ["search", wanted],
    queryFn: () => call("GET /api/v1/timeline", { query: { text: wanted, kind: "inbound,outbound", limit: 12 } }),
    enabled: wanted.length > 1,
    placeholderData: (before) => before,
  });
  const memories = useQuery({
    queryKey: ["memory", "items", wanted, "", "search"],
    queryFn: () => call("GET /api/v1/memory/search", { query: { query: wanted, limit: 5 } }),
    enabled: wanted.length > 2 && may("admin"),
    retry: false,
    placeholderData: (before) => before,
  });
  const files = useQuery({
    queryKey: ["repo", "work", "search", wanted],
    queryFn: () => call("GET /api/v1/repo/search", { query: { text: wanted } }),
    enabled: wanted.length > 2 && may("read"),
    retry: false,
    placeholderData: (before) => before,
  });
  const named = files.data?.names ?? [];
  const low = wanted.toLowerCase();
  const found: Found[] = [
    ...places
      .filter((each) => maySee(each.path) && t(each.word).toLowerCase().includes(low))
      .map((each) => ({ key: each.path, group: t("Pages"), icon: each.icon, text: t(each.word), more: "", href: each.path })),
    ...sessions
      .filter((each) => low && maySee("/chat") && `${each.title} ${each.session}`.toLowerCase().includes(low))
      .slice(0, 6)
      .map((each) => ({
        key: each.session, group: t("Conversations"), icon: MessageSquare, text: each.title || sessionWord(each.session), more: each.title ? sessionWord(each.session) : "", at: each.updated,
        href: `/chat?session=${encodeURIComponent(each.session)}`,
      })),
    ...(wanted.length > 1 ? (events.data?.events ?? []) : []).map((each) => ({
      key: each.event_id, group: t("Messages"), icon: Activity, text: plain(each.text), more: each.session ? sessionWord(each.session) : "", at: each.at,
      href: `/trace/${each.trace_id}`, old: events.isPlaceholderData,
    })),
    ...(wanted.length > 2 ? (memories.data?.items ?? []) : []).map((each) => ({
      key: each.id, group: t("Memory"), icon: Brain, text: plain(each.text), more: "", at: each.at,
      href: `/memory?query=${encodeURIComponent(wanted)}`, old: memories.isPlaceholderData,
    })),
    ...(wanted.length > 2 ? named : []).slice(0, 6).map((each) => ({
      key: each, group: t("Files"), icon: FileText, text: each, more: "", href: `/files?path=${encodeURIComponent(each)}`, old: files.isPlaceholderData,
    })),
    ...(wanted.length > 2 ? (files.data?.matches ?? []) : []).slice(0, 6).map((each) => ({
      key: `${each.path}:${each.line}`, group: t("Files"), icon: FileText, text: each.text.trim().slice(0, 160), more: each.path,
      href: `/files?path=${encodeURIComponent(each.path)}`, old: files.isPlaceholderData,
    })),
    ...COMMANDS.filter(([name, what]) => low && may("chat") && maySee("/chat") && `${name} ${t(what)}`.toLowerCase().includes(low)).map(([name, what]) => ({
      key: name, group: t("Commands"), icon: SquareSlash, text: `${name}  ${t(what)}`, more: "",
      href: `/chat?${path === "/chat" && session ? `session=${encodeURIComponent(session)}&` : ""}say=${encodeURIComponent(name.split(" ")[0]!)}`, // to the open conversation
    })),
  ];
  const move = (to: number) => {
    setChosen(to);
    document.getElementById(`found-${to}`)?.scrollIntoView({ block: "nearest" });
  };
  const open = (each: Found | undefined) => {
    if (!each) return;
    onClose();
    go(each.href);
  };
  return (
    <Dialog open onClose={onClose} title={t("Search")}>
      <input
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found[chosen] ? `found-${chosen}` : undefined}
        aria-label={t("Search conversations, messages, memory, files")}
        placeholder={t("Search conversations, messages, memory, files")}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") move(Math.min(chosen + 1, found.length - 1));
          else if (event.key === "ArrowUp") move(Math.max(chosen - 1, 0));
          else if (event.key === "Enter") wanted === text.trim() && !found[chosen]?.old && open(found[chosen]); // not what was found for an earlier text
          else return;
          event.preventDefault();
        }}
        className="h-11 w-full rounded-md border border-line bg-bg px-3 text-lg"
      />
      <ul id="found" role="listbox" aria-label={t("Results")} className="mt-3 flex max-h-[calc(85dvh-10rem)] flex-col overflow-y-auto">
        {found.map((each, index) => (
          <Fragment key={`${each.href}${each.key}`}>
          {each.group !== found[index - 1]?.group && <li role="presentation" className="shrink-0 px-3 pt-3 pb-1 text-xs font-semibold text-muted first:pt-0">{each.group}</li>}
          <li
            id={`found-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => open(each)}
            onMouseMove={() => setChosen(index)}
            className={`flex min-h-11 shrink-0 scroll-mt-9 cursor-pointer items-center gap-3 rounded-md px-3 transition-opacity delay-150 ${each.old ? "opacity-50" : ""} ${index === chosen ? "bg-accent-soft" : ""}`}
          >
            <each.icon size={16} aria-hidden className="shrink-0 text-muted" />
            <span dir="auto" className="min-w-0 flex-1 truncate">{each.text}</span>
            {each.more && <span className="max-w-40 truncate text-xs text-muted">{each.more}</span>}
            {each.at && <When at={each.at} className="shrink-0 text-xs text-muted" />}
          </li>
          </Fragment>
        ))}
        {!found.length && <li className="px-3 py-4 text-muted">{t("No results.")}</li>}
      </ul>
    </Dialog>
  );
}
