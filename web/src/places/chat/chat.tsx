import { Archive, MessageSquarePlus, PanelLeft, Presentation } from "lucide-react";
import { useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { useQuery } from "@tanstack/react-query";
import { call } from "../../api/client";
import { randomKey } from "../../api/outbox";
import { useCanvas, useSessions } from "../../api/queries";
import { t } from "../../i18n";
import { LongList } from "../../parts/long";
import { sessionWord } from "../../parts/words";
import { Button, Dialog, Skeleton, When } from "../../parts/basics";
import { Conversation } from "./conversation";
import { Beside, Panel } from "./panel";
import { SessionActs } from "./session";
import { ChannelIcon, useUnread } from "./unread";

/** The list of conversations with the chosen one beside it. */
export function Chat() {
  const [search] = useSearchParams();
  const session = search.get("session") ?? "api:main";
  const [listing, setListing] = useState(false);
  const [beside, setBeside] = useState("");
  return (
    <Beside value={setBeside}>
    <div className="flex h-full">
      <aside aria-label={t("Conversations")} className="hidden w-64 shrink-0 overflow-y-auto border-e border-line p-3 md:block">
        <Sessions chosen={session} />
      </aside>
      <div className={`min-w-0 flex-1 flex-col ${beside ? "hidden lg:flex" : "flex"}`}>
        <div className="flex items-center border-b border-line px-2 py-1 md:hidden">
          <Button look="quiet" icon={PanelLeft} onClick={() => setListing(true)}>{t("Conversations")}</Button>
        </div>
        <Presented session={session} />
        <Conversation key={session} session={session} />
      </div>
      {beside && <Panel key={beside} trace={beside} onClose={() => setBeside("")} />}
      <Dialog open={listing} onClose={() => setListing(false)} title={t("Conversations")}>
        <Sessions chosen={session} onChosen={() => setListing(false)} />
      </Dialog>
    </div>
    </Beside>
  );
}

/** Canvas pages of this conversation. */
function Presented({ session }: { session: string }) {
  const pages = (useCanvas().data?.pages ?? []).filter((each) => each.session === session);
  if (!pages.length) return null;
  return (
    <nav aria-label={t("Canvas")} className="flex gap-4 overflow-x-auto border-b border-line px-4 py-2 text-sm">
      {pages.map((each) => (
        <Link key={each.id} href={`/canvas/${each.id}`} className="flex items-center gap-1.5 whitespace-nowrap text-accent underline">
          <Presentation size={14} aria-hidden /> {each.title}
        </Link>
      ))}
    </nav>
  );
}

function Sessions({ chosen, onChosen }: { chosen: string; onChosen?: () => void }) {
  const [archived, setArchived] = useState(false);
  const current = useSessions();
  const away = useQuery({ queryKey: ["sessions", "archived"], queryFn: () => call("GET /api/v1/sessions", { query: { archived: true } }), enabled: archived });
  const sessions = archived ? away : current;
  const [, go] = useLocation();
  const [wanted, setWanted] = useState("");
  const open = (session: string) => {
    go(`/chat?session=${encodeURIComponent(session)}`);
    onChosen?.();
  };
  const unread = useUnread(current.data?.sessions ?? [], chosen);
  const shown = (sessions.data?.sessions ?? []).filter((each) =>
    `${each.title} ${each.session}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  return (
    <>
      <Button
        needs="chat"
        icon={MessageSquarePlus}
        className="mb-3 w-full"
        onClick={() => open(`api:${new Date().toISOString().slice(0, 16).replace("T", "-").replace(":", "")}-${randomKey().slice(0, 6)}`)}
      >
        {t("New conversation")}
      </Button>
      <input
        type="search"
        value={wanted}
        onChange={(event) => setWanted(event.target.value)}
        aria-label={t("Find a conversation")}
        placeholder={t("Find a conversation")}
        className="mb-2 h-9 w-full rounded-md border border-line bg-surface px-2.5"
      />
      {sessions.isPending && <Skeleton rows={4} className="h-12" />}
      <LongList count={shown.length} size={54} shown={chosen} rowClass="pb-0.5" rowKey={(index) => shown[index]!.session} row={(index) => {
        const each = shown[index]!;
        return (
          <>
            <button
              type="button"
              onClick={() => open(each.session)}
              aria-current={each.session === chosen ? "true" : undefined}
              className={`w-full rounded-md px-2.5 py-2 text-start ${each.session === chosen ? "bg-accent-soft" : "hover:bg-sunken"}`}
            >
              <span className="flex items-center gap-2">
                <span dir="auto" className={`min-w-0 flex-1 truncate ${unread.has(each.session) ? "font-bold" : "font-medium"}`}>{each.title || each.session}</span>
                {unread.has(each.session) && <span role="img" aria-label={t("unread")} title={t("unread")} className="size-2 shrink-0 rounded-full bg-accent" />}
              </span>
              <span className="flex justify-between gap-2 text-xs text-muted">
                <span className="flex min-w-0 items-center gap-1.5"><ChannelIcon session={each.session} /><span className="truncate">{sessionWord(each.session)}</span></span>
                <When at={each.updated} />
              </span>
            </button>
            {each.session === chosen && (
              <SessionActs key={each.session} session={each.session} title={each.title} archived={archived} onGone={() => go("/chat")} />
            )}
          </>
        );
      }} />
      {sessions.data && !shown.length && <p className="px-2.5 py-2 text-sm text-muted">{archived ? t("No archived conversations.") : wanted ? t("No matching conversations.") : t("No conversations yet.")}</p>}
      <Button look="quiet" icon={Archive} aria-pressed={archived} className="mt-2 w-full" onClick={() => setArchived(!archived)}>
        {archived ? t("Back to all conversations") : t("Archived conversations")}
      </Button>
    </>
  );
}
