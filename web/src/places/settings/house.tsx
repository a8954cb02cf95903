import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleAlert, CircleCheck, Info, Plug, RadioTower, Search, Stethoscope, TriangleAlert, Zap, type LucideIcon } from "lucide-react";
import { useDeferredValue, useEffect, useState } from "react";
import { Link } from "wouter";
import { call } from "../../api/client";
import { live } from "../../api/live";
import { useModels, useStatus } from "../../api/queries";
import type { JobAnswer } from "../../api/schema";
import { clock, duration, t, tn } from "../../i18n";
import { Connect } from "../../parts/connect";
import { LongList } from "../../parts/long";
import { Told } from "../../parts/told";
import { channelWord } from "../../parts/words";
import { Badge, Button, Card, Empty, Failure, Section, Skeleton, When, Wide } from "../../parts/basics";

/** The configured models, each with a test button. */
export function Models() {
  const models = useModels();
  const status = useStatus().data;
  if (models.isError) return <Failure error={models.error} retry={() => void models.refetch()} />;
  if (!models.data) return <Skeleton rows={3} className="h-16" />;
  const names = models.data.models;
  return (
    <Section title={t("Models")} more={status?.model ? <span className="text-sm text-muted">{status.model}</span> : undefined}>
      {names.length ? (
        <Card className="divide-y divide-line">{names.map((name, place) => <Model key={name} name={name} usual={!place} />)}</Card>
      ) : (
        <p className="text-muted">{t("No model connected.")}</p>
      )}
      <details className="mt-4" open={!names.length}>
        <summary className="font-medium">{names.length ? t("Connect another model") : t("Connect a model")}</summary>
        <Card className="mt-2 p-4"><Connect /></Card>
      </details>
    </Section>
  );
}

function Model({ name, usual }: { name: string; usual: boolean }) {
  const probe = useMutation({ mutationFn: () => call("POST /api/v1/models/test", { body: { model: name } }) });
  const told = probe.data;
  return (
    <div className="flex min-h-14 flex-wrap items-center gap-3 px-4 py-2">
      <span className="min-w-0 flex-1 truncate font-mono">{name}</span>
      {usual && <Badge tone="accent">{t("default")}</Badge>}
      {told && (told.trouble ? <Badge tone="bad">{told.seconds === undefined ? t("not responding") : t("responded with warnings")}</Badge> : <Badge tone="good">{t("responded in {time}", { time: duration(told.seconds) })}</Badge>)}
      <Button icon={Zap} disabled={probe.isPending} onClick={() => probe.mutate()}>{probe.isPending ? t("Testing…") : t("Test")}</Button>
      {(told?.trouble || probe.isError) && <p role="alert" className="w-full text-sm break-words text-bad"><Told text={told?.trouble ?? probe.error?.message ?? ""} /></p>}
    </div>
  );
}

/** The state of a channel: its job's, which is started again by itself after a failure. Hob's own channels run as long as Hob. */
function channelState(job: JobAnswer | undefined): readonly ["good" | "bad" | "plain", string] {
  if (!job || job.state === "running") return ["good", t("running")];
  return job.state === "waiting" ? ["bad", t("failing")] : ["plain", t("stopped")];
}

export function Channels() {
  const status = useStatus(true).data; // a job's failure has no event
  const channels = useQuery({ queryKey: ["channels"], queryFn: () => call("GET /api/v1/channels") });
  if (channels.isError) return <Failure error={channels.error} retry={() => void channels.refetch()} />;
  if (!channels.data) return <Skeleton rows={2} className="h-14" />;
  if (!channels.data.channels.length) {
    return <Empty icon={RadioTower} title={t("No channels running.")}>{t("You can always reach Hob from this page, the terminal and the API. Channels bring in messages from other apps.")}</Empty>;
  }
  return (
    <Card className="divide-y divide-line">
      {channels.data.channels.map((each) => {
        const job = status?.jobs?.find((one) => one.name === `channel ${each.name}`);
        const [tone, word] = channelState(job);
        const unsent = each.undelivered ? String(status?.stuck?.find((one) => one.channel === each.name)?.reason ?? "") : "";
        return (
          <div key={`${each.name}:${each.account}`} className="flex min-h-14 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
            <RadioTower size={18} aria-hidden className="text-accent" />
            <span className="flex-1 font-medium">{channelWord(each.name)} <span className="font-normal text-muted">{each.account}</span></span>
            {each.undelivered > 0 && <Badge tone="bad">{t("{count} undelivered", { count: each.undelivered })}</Badge>}
            <Badge tone={tone}>{word}</Badge>
            {[tone === "good" ? "" : (job?.problem ?? ""), unsent].filter(Boolean).map((why) => <p key={why} dir="auto" className="w-full text-sm break-words text-bad">{why}</p>)}
          </div>
        );
      })}
    </Card>
  );
}

export function Plugins() {
  const plugins = useQuery({ queryKey: ["plugins"], queryFn: () => call("GET /api/v1/plugins") });
  if (plugins.isError) return <Failure error={plugins.error} retry={() => void plugins.refetch()} />;
  if (!plugins.data) return <Skeleton rows={2} className="h-14" />;
  if (!plugins.data.plugins.length) {
    return <Empty icon={Plug} title={t("No plug-ins installed.")}><Told text={t("Enable an installed plug-in with `hob plugin enable NAME`.")} /></Empty>;
  }
  return (
    <Card className="divide-y divide-line">
      {plugins.data.plugins.map((each) => (
        <div key={each.name} className="flex min-h-14 flex-wrap items-center gap-3 px-4 py-2">
          <Plug size={18} aria-hidden className="text-accent" />
          <span className="min-w-0 flex-1"><span className="font-medium">{each.name}</span> <span className="text-muted">{each.package} {each.version}</span>
            <span className="block truncate text-xs text-muted">{each.declares.join(", ")}</span></span>
          <Badge tone={each.on ? "good" : "plain"}>{each.on ? t("on") : t("off")}</Badge>
        </div>
      ))}
    </Card>
  );
}

const SEVERITIES: Record<string, [LucideIcon, string]> = {
  critical: [CircleAlert, "text-bad"], warn: [TriangleAlert, "text-warn"], info: [Info, "text-muted"],
};

/** The findings of `hob doctor`. */
export function Doctor() {
  const [online, setOnline] = useState(false);
  const client = useQueryClient();
  const found = useQuery({ queryKey: ["doctor", online], queryFn: () => call("GET /api/v1/doctor", { query: { online } }), staleTime: 0, gcTime: 0 });
  const again = useMutation({
    mutationFn: () => call("GET /api/v1/doctor", { query: { online, refresh: true } }),
    onSuccess: (told) => client.setQueryData(["doctor", online], told),
  });
  const busy = found.isFetching || again.isPending;
  return (
    <Section
      title={found.data ? tn("{count} check", "{count} checks", found.data.checks) : t("Checking…")}
      more={
        <div className="flex flex-wrap items-center gap-2">
          {found.data && <span className="text-sm text-muted"><When at={found.data.at} /></span>}
          <Button icon={Stethoscope} disabled={busy} onClick={() => again.mutate()}>{busy ? t("Checking…") : t("Check again")}</Button>
          {!online && <Button disabled={busy} onClick={() => setOnline(true)}>{t("Also test models and servers")}</Button>}
        </div>
      }
    >
      {found.isError || again.isError ? (
        <Failure error={found.error ?? again.error} retry={() => again.mutate()} />
      ) : !found.data ? (
        <Skeleton rows={4} className="h-16" />
      ) : found.data.findings.length ? (
        <Card className="divide-y divide-line">
          {found.data.findings.map((each, place) => {
            const [Icon, colour] = SEVERITIES[each.severity] ?? SEVERITIES.info!;
            return (
              <div key={place} className="flex items-start gap-3 px-4 py-3">
                <Icon size={18} className={`mt-0.5 shrink-0 ${colour}`} aria-label={t(each.severity)} />
                <div className="min-w-0">
                  <p className="font-medium break-words"><Told text={each.title} /></p>
                  <p className="text-sm break-words text-muted"><Told text={each.advice} /></p>
                  {each.where && <code className="font-mono text-xs break-all text-muted">{each.where}</code>}
                </div>
              </div>
            );
          })}
        </Card>
      ) : (
        <Empty icon={CircleCheck} title={t("No problems found.")}>{t("Checked settings, files, database, machine and service.")}</Empty>
      )}
      {!!found.data?.skipped.length && (
        <details className="mt-3 text-sm text-muted">
          <summary>{t("{count} couldn't be checked", { count: found.data.skipped.length })}</summary>
          <ul className="mt-1 ps-4">{found.data.skipped.map((each) => <li key={each.id}><code className="font-mono">{each.id}</code>: <Told text={each.reason} /></li>)}</ul>
        </details>
      )}
    </Section>
  );
}

const TONES: Record<string, "plain" | "warn" | "bad"> = { warning: "warn", error: "bad", critical: "bad" };

export function Logs() {
  const [level, setLevel] = useState<"debug" | "info" | "warning" | "error">("info");
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.trim());
  const logs = useQuery({
    queryKey: ["logs", level, wanted],
    queryFn: () => call("GET /api/v1/logs", { query: { level, text: wanted, limit: 300 } }),
    staleTime: 0,
    placeholderData: (before) => before,
  });
  const lines = logs.data?.lines.toReversed() ?? [];
  const { refetch } = logs;
  useEffect(() => {
    let timer = 0; // what happens is logged, soon before or after its event
    const off = live.onEvent(() => void (timer ||= window.setTimeout(() => {
      timer = 0;
      void refetch();
    }, 500)));
    return () => {
      off();
      clearTimeout(timer);
    };
  }, [refetch]);
  return (
    <>
      <div className="mb-3 flex flex-wrap gap-2">
        <label className="flex h-9 min-w-48 flex-1 items-center gap-2 rounded-md border border-line bg-surface px-2.5 focus-within:border-accent">
          <Search size={15} aria-hidden className="text-muted" />
          <input type="search" value={text} onChange={(event) => setText(event.target.value)} aria-label={t("Search the log")} placeholder={t("Search the log")} className="w-full bg-transparent outline-none" />
        </label>
        <select aria-label={t("Minimum level")} value={level} onChange={(event) => setLevel(event.target.value as "info")} className="h-9 rounded-md border border-line bg-surface px-2">
          {["debug", "info", "warning", "error"].map((each) => <option key={each} value={each}>{t("{level} and above", { level: each })}</option>)}
        </select>
      </div>
      {logs.isError ? (
        <Failure error={logs.error} retry={() => void logs.refetch()} />
      ) : !logs.data ? (
        <Skeleton rows={8} className="h-6" />
      ) : lines.length ? (
        <Wide label={t("Log")} className="max-h-[65dvh] overflow-y-auto">
          <LongList count={lines.length} size={33} rowKey={(index) => lines.length - index} className="text-xs divide-y divide-line" rowClass="flex items-start gap-3 px-3 py-1.5" row={(index) => {
            const each = lines[index]!;
            return <>
              <span className="whitespace-nowrap text-muted" title={each.time}>{clock(Date.parse(each.time) / 1000, true)}</span>
              <Badge tone={TONES[each.level] ?? "plain"}>{each.level}</Badge>
              <span className="min-w-0 flex-1 font-mono leading-5 break-words whitespace-pre-wrap" dir="auto">
                <span className="text-muted">{each.logger.replace(/^hob\./, "")}</span> {each.text}{" "}
                {each.trace && <Link href={`/trace/${each.trace}`} className="text-accent underline">{each.trace.slice(0, 8)}</Link>}
              </span>
            </>;
          }} />
        </Wide>
      ) : (
        <Empty icon={CircleCheck} title={t("No log entries at this level.")} />
      )}
    </>
  );
}
