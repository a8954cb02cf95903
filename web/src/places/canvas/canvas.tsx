import { useQuery } from "@tanstack/react-query";
import DOMPurify from "dompurify";
import { EyeOff, Presentation, ShieldAlert } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { call } from "../../api/client";
import { live } from "../../api/live";
import { useCanvas, useChange, useConnection } from "../../api/queries";
import type { CanvasPageAnswer, PageCallAnswer } from "../../api/schema";
import { t } from "../../i18n";
import { sessionWord } from "../../parts/words";
import { Button, Empty, Failure, Page, Skeleton, When, useSettled } from "../../parts/basics";

/** Canvas pages: the named one, or the last presented. */
export function Canvas({ id = "" }: { id?: string }) {
  const all = useCanvas();
  const [version, setVersion] = useState(0);
  const shown = id || all.data?.pages[0]?.id || "";
  useEffect(() => setVersion(0), [shown]);
  const page = useQuery({
    queryKey: ["canvas", shown, version],
    queryFn: () => call("GET /api/v1/canvas/{id}", { path: { id: shown }, query: { version } }),
    enabled: !!shown,
    placeholderData: (before) => (before?.id === shown ? before : undefined),
  });
  if (all.isPending || (shown && page.isPending)) return <Page title={t("Canvas")}><Skeleton rows={4} /></Page>;
  const failed = all.error ?? page.error;
  if (failed) return <Page title={t("Canvas")}><Failure error={failed} retry={() => void all.refetch()} /></Page>;
  if (!page.data) {
    return (
      <Page title={t("Canvas")}>
        <Empty icon={Presentation} title={t("No pages yet.")}>
          {t("Ask Hob to show you something as a page: a chart, a table, a small tool. It appears here.")}
        </Empty>
      </Page>
    );
  }
  return (
    <div className="flex h-full flex-col">
      <Head page={page.data} pages={all.data?.pages ?? []} onVersion={setVersion} />
      <Frame key={`${page.data.id}/${page.data.version}/${page.data.scripts}`} page={page.data} />
    </div>
  );
}

function Head({ page, pages, onVersion }: { page: CanvasPageAnswer; pages: CanvasPageAnswer[]; onVersion: (version: number) => void }) {
  const [, go] = useLocation();
  const change = useChange(
    ["canvas"],
    (wanted: { hidden?: boolean; scripts?: boolean }) =>
      call("POST /api/v1/canvas/{id}", { path: { id: page.id }, body: { version: page.version, ...wanted } }),
    (told) => told.hidden && go("/canvas"),
  );
  const pick = "h-9 max-w-48 rounded-md border border-line bg-surface px-2";
  return (
    <header className="border-b border-line px-4 py-3 sm:px-8">
      <div className="flex flex-wrap items-center gap-3">
        <h1 dir="auto" className="min-w-0 truncate text-lg font-semibold">{page.title}</h1>
        <span className="text-sm text-muted">
          <Link href={`/chat?session=${encodeURIComponent(page.session)}`} className="underline">{sessionWord(page.session)}</Link> · <When at={page.at} />
        </span>
        <div className="ms-auto flex flex-wrap items-center gap-2">
          {pages.length > 1 && (
            <select aria-label={t("Page")} value={page.id} onChange={(event) => go(`/canvas/${event.target.value}`)} className={pick}>
              {pages.map((each) => <option key={each.id} value={each.id}>{each.title}</option>)}
            </select>
          )}
          {(page.versions?.length ?? 0) > 1 && (
            <select aria-label={t("Version")} value={page.version} onChange={(event) => onVersion(Number(event.target.value))} className={pick}>
              {page.versions!.map((each) => <option key={each} value={each}>{t("Version {version}", { version: each })}</option>)}
            </select>
          )}
          <Button needs="approve" icon={EyeOff} onClick={() => change.mutate({ hidden: true })}>{t("Hide")}</Button>
        </div>
      </div>
      {change.isError && <Failure error={change.error} />}
      {!page.scripts && /<script|\son\w+\s*=/i.test(page.html ?? "") && (
        <div role="note" className="mt-3 flex flex-wrap items-center gap-3 rounded-md bg-warn-soft px-3 py-2 text-warn">
          <ShieldAlert size={18} aria-hidden />
          <span className="min-w-0 flex-1 basis-60">{t("Scripts are off: this page may contain content from others.")}</span>
          <Button needs="approve" onClick={() => change.mutate({ scripts: true })}>{t("Run scripts")}</Button>
        </div>
      )}
    </header>
  );
}

type AppCall = { id: string | number; tool: string; arguments: unknown };
type Told = { ready?: boolean; shown?: boolean; ask?: string; text?: string; failed?: boolean; app?: AppCall };
const MOST_WAITING = 3;
let asks = 0;
type Asked = { key: string; call: AppCall; answer: PageCallAnswer };

/** The page in a sandboxed frame without network. Relays Hob's questions to it, and an app's calls to Hob. */
function Frame({ page }: { page: CanvasPageAnswer }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [shown, setShown] = useState(false);
  const [asked, setAsked] = useState<Asked[]>([]);
  const waiting = useRef(0);
  waiting.current = asked.length;
  const connected = useConnection().state === "open";
  const { id, version, scripts, html = "" } = page;
  const content = useMemo(() => (scripts ? html : DOMPurify.sanitize(html, { WHOLE_DOCUMENT: true })), [scripts, html]);

  const answer = (id: AppCall["id"], told: object) => frame.current?.contentWindow?.postMessage({ app: { id, ...told } }, "*");
  const make = async (made: AppCall, confirmed: boolean) => {
    try {
      const body = { version, tool: made.tool, arguments: JSON.stringify(made.arguments), confirmed };
      const told = await call("POST /api/v1/canvas/{id}/call", { path: { id }, body });
      if (told.done) answer(made.id, { result: told.result });
      else if (told.verdict === "ask" && waiting.current < MOST_WAITING) setAsked((before) => [...before, { key: String(++asks), call: made, answer: told }]);
      else answer(made.id, refusal(told.reason));
    } catch (error) {
      answer(made.id, refusal(String(error)));
    }
  };
  const settle = (one: Asked, allowed: boolean) => {
    setAsked((before) => before.filter((each) => each !== one));
    if (allowed) void make(one.call, true);
    else answer(one.call.id, refusal("the user did not allow it"));
  };

  const settled = useSettled(`waits: ${asked.map((each) => each.key).join(" ")}`);

  useEffect(() => {
    const hear = (event: MessageEvent) => {
      const inside = frame.current?.contentWindow;
      if (!inside || event.source !== inside) return;
      const told = event.data as Told | null;
      if (told?.ready) inside.postMessage({ html: content }, "*"); // a sandboxed frame has no origin
      if (told?.shown) setShown(true);
      if (told?.app && scripts) void make(told.app, false);
      if (typeof told?.ask === "string") {
        live.ask({ type: "canvas_answer", ask: told.ask, text: String(told.text), failed: !!told.failed }, () => undefined);
      }
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, [content]);

  useEffect(() => {
    if (!shown || !connected) return;
    const off = live.ask({ type: "canvas", page: id, version }, (message) => {
      if (message.type === "canvas_ask") frame.current?.contentWindow?.postMessage({ ask: message.ask, script: message.script }, "*");
    });
    return () => {
      off();
      live.ask({ type: "canvas" }, () => undefined)();
    };
  }, [shown, connected, id, version]);

  return (
    <>
      {asked.map((one) => <Question key={one.key} asked={one} settled={settled} settle={(allowed) => settle(one, allowed)} />)}
      <iframe
        ref={frame}
        title={page.title}
        src={scripts ? "/views/canvas/" : "/views/canvas-still/"}
        sandbox="allow-scripts"
        className="min-h-0 w-full flex-1 bg-[#fff]"
      />
    </>
  );
}

const refusal = (message: string) => ({ error: { code: -32000, message } });

/** Approval of a call by the page: tool and full arguments, as they would be sent. */
function Question({ asked, settled, settle }: { asked: Asked; settled: boolean; settle: (allowed: boolean) => void }) {
  return (
    <section role="alertdialog" aria-label={t("This page wants to use {tool}", { tool: asked.answer.tool })} className="border-b border-line bg-warn-soft px-4 py-3 sm:px-8">
      <p className="flex items-center gap-2 font-semibold text-warn"><ShieldAlert size={18} aria-hidden />{t("This page wants to use {tool}", { tool: asked.answer.tool })}</p>
      <pre dir="auto" tabIndex={0} className="mt-2 max-h-48 overflow-auto rounded-md bg-sunken p-3 font-mono text-xs whitespace-pre-wrap">{asked.answer.shown}</pre>
      <p className="mt-2 text-sm text-muted">{asked.answer.reason}</p>
      <div className="mt-2 flex gap-2">
        <Button needs="admin" look="danger" disabled={!settled} onClick={() => settle(true)}>{t("Allow once")}</Button>
        <Button needs="admin" onClick={() => settle(false)}>{t("Deny")}</Button>
      </div>
    </section>
  );
}
