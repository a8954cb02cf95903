import { Plug } from "lucide-react";
import { useEffect, useRef } from "react";
import { get } from "../../api/client";
import { useViews } from "../../api/queries";
import { t } from "../../i18n";
import { Empty, Page, Skeleton } from "../../parts/basics";

/** A plug-in's page in a sandboxed frame. It requests data through this page, which only fetches paths the plug-in declared. */
export function View({ name }: { name: string }) {
  const views = useViews();
  const frame = useRef<HTMLIFrameElement>(null);
  const view = views.data?.views.find((each) => each.name === name);
  const asks = view?.asks;
  useEffect(() => {
    const hear = (event: MessageEvent) => {
      const inside = frame.current?.contentWindow;
      const asked = event.data as { id?: unknown; get?: unknown } | null;
      if (!inside || event.source !== inside || typeof asked?.get !== "string" || typeof asked.id !== "number") return;
      const { id, get: path } = asked as { id: number; get: string };
      const answer = (told: object) => inside.postMessage({ id, ...told }, "*"); // a sandboxed frame has no origin
      if (!asks?.includes(path.split("?")[0]!)) return answer({ error: "this page may not ask for that" });
      get(path).then((value) => answer({ value }), (error: Error) => answer({ error: error.message }));
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, [asks]);
  if (views.isPending) return <Page title=""><Skeleton rows={4} /></Page>;
  if (!view) return <Page title={t("Page not found")}><Empty icon={Plug} title={t("No plug-in provides this page.")} /></Page>;
  return (
    <div className="flex h-full flex-col">
      <h1 className="border-b border-line px-4 py-3 text-lg font-semibold sm:px-8">{view.title} <span className="text-sm font-normal text-muted">{t("plug-in page")}</span></h1>
      <iframe ref={frame} title={view.title} src={`/views/${encodeURIComponent(name)}/`} sandbox="allow-scripts" className="min-h-0 w-full flex-1 bg-bg" />
    </div>
  );
}
