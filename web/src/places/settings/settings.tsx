import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Check, ChevronRight, Undo2 } from "lucide-react";
import { useMemo, useState } from "react";
import { useSearchParams } from "wouter";
import { call } from "../../api/client";
import { useSettings, useSettingsChange, useStatus } from "../../api/queries";
import type { SettingAnswer } from "../../api/schema";
import { decimal, duration, t, tn } from "../../i18n";
import { Badge, Button, Card, Failure, Page, Section, Skeleton, Tabs, Wide } from "../../parts/basics";
import { groupWord } from "../../parts/words";
import { Delivery } from "./delivery";
import { Channels, Doctor, Logs, Models, Plugins } from "./house";
import { Phone } from "./phone";

const TABS = ["settings", "models", "channels", "delivery", "phone", "plugins", "log", "doctor"] as const;
type Tab = (typeof TABS)[number];

/** Settings, models, channels, log and doctor. */
export function Settings() {
  const status = useStatus().data;
  const [search, setSearch] = useSearchParams();
  const tab = TABS.find((each) => each === search.get("tab")) ?? "settings";
  const words: Record<Tab, string> = {
    settings: t("Settings"), models: t("Models"), channels: t("Channels"), delivery: t("Delivery"), phone: t("Phone"), plugins: t("Plug-ins"), log: t("Log"), doctor: t("Doctor"),
  };
  return (
    <Page title={t("Settings")} about={status?.uptime_seconds === undefined ? "" : t("Hob {version}, up for {time}", { version: status.version, time: duration(status.uptime_seconds) })}>
      <div className="mb-6">
        <Tabs label={t("View")} chosen={tab} onChoose={(chosen) => setSearch(chosen === "settings" ? {} : { tab: chosen }, { replace: true })}
          tabs={TABS.map((each) => [each, words[each]] as const)} />
      </div>
      {tab === "settings" && <AllSettings />}
      {tab === "models" && <Models />}
      {tab === "channels" && <Channels />}
      {tab === "delivery" && <Delivery />}
      {tab === "phone" && <Phone />}
      {tab === "plugins" && <Plugins />}
      {tab === "log" && <Logs />}
      {tab === "doctor" && <Doctor />}
    </Page>
  );
}

/** Every setting with its value and origin. */
function AllSettings() {
  const settings = useSettings();
  const [search, setSearch] = useSearchParams();
  const [wanted, setWanted] = useState(search.get("find") ?? "");
  const [live, setLive] = useState(false);
  const [raw, setRaw] = useState(false);
  const only = search.get("set") === "true";
  const sections = useMemo(() => {
    const found = new Map<string, SettingAnswer[]>();
    for (const each of settings.data?.settings ?? []) {
      if (only && each.layer === "default") continue;
      if (live && !each.changeable) continue;
      const section = each.key.split(".")[0]!;
      if (!`${each.key} ${groupWord(section)} ${each.doc}`.toLowerCase().includes(wanted.toLowerCase())) continue;
      found.set(section, [...(found.get(section) ?? []), each]);
    }
    return [...found];
  }, [settings.data, wanted, only, live]);
  return (
    <>
      <div className="mb-6 flex flex-wrap gap-3">
        <input
          type="search"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
          aria-label={t("Find a setting")}
          placeholder={t("Find a setting")}
          className="h-10 min-w-48 flex-1 rounded-md border border-line bg-surface px-3"
        />
        <label className="flex min-h-10 items-center gap-2 text-muted">
          <input type="checkbox" checked={only} onChange={(event) => setSearch(event.target.checked ? { set: "true" } : {}, { replace: true })} className="size-4 accent-(--accent)" />
          {t("Changed from default")}
        </label>
        <label className="flex min-h-10 items-center gap-2 text-muted">
          <input type="checkbox" checked={live} onChange={(event) => setLive(event.target.checked)} className="size-4 accent-(--accent)" />
          {t("Editable here")}
        </label>
        <label className="flex min-h-10 items-center gap-2 text-muted">
          <input type="checkbox" checked={raw} onChange={(event) => setRaw(event.target.checked)} className="size-4 accent-(--accent)" />
          {t("Raw")}
        </label>
      </div>
      {settings.isError ? (
        <Failure error={settings.error} retry={() => void settings.refetch()} />
      ) : settings.isPending ? (
        <Skeleton rows={8} className="h-14" />
      ) : raw ? (
        <Raw settings={settings.data.settings} />
      ) : (
        <Card className="divide-y divide-line">
          {sections.map(([section, rows]) => <Group key={section} name={section} settings={rows} found={only || live || wanted !== ""} />)}
        </Card>
      )}
    </>
  );
}

/** The settings file's own text, and what outranks it. */
function Raw({ settings }: { settings: readonly SettingAnswer[] }) {
  const file = useQuery({ queryKey: ["settings", "file"], queryFn: () => call("GET /api/v1/settings/file") });
  const parts = [["environment", t("From the environment")], ["stored", t("Changed while Hob runs")], ["flag", t("From the command line")]] as const;
  if (file.isError) return <Failure error={file.error} retry={() => void file.refetch()} />;
  if (!file.data) return <Skeleton rows={8} className="h-5" />;
  return (
    <>
      <p className="mb-4 text-muted">{t("Each part outranks those above it. Secrets are hidden.")}</p>
      <Section title={file.data.path}>
        {file.data.text === null ? <p className="text-muted">{t("There is no settings file.")}</p> : <Text label={file.data.path} text={file.data.text} />}
      </Section>
      {parts.map(([layer, title]) => {
        const some = settings.filter((each) => each.layer === layer);
        return some.length > 0 && <Section key={layer} title={title}><Text label={title} text={some.map(lineOf).join("\n")} /></Section>;
      })}
    </>
  );
}

const Text = ({ label, text }: { label: string; text: string }) => (
  <Wide label={label}><pre dir="auto" className="p-4 font-mono text-xs leading-5">{text}</pre></Wide>
);

const lineOf = ({ key, value, secret, origin }: SettingAnswer) => `${key} = ${secret ? "•••" : toml(value)}  # ${origin}`;

function toml(value: unknown): string {
  if (value === null || value === undefined) return `""`;
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).filter(([, each]) => each !== null).map(([name, each]) => ` ${/^[\w-]+$/.test(name) ? name : JSON.stringify(name)} = ${toml(each)}`).join(",")} }`;
}

/** A section of the settings, rendered when opened or found. */
function Group({ name, settings, found }: { name: string; settings: SettingAnswer[]; found: boolean }) {
  const [opened, setOpened] = useState(false);
  const open = opened || found;
  const set = settings.filter((each) => each.layer !== "default").length;
  return (
    <details open={open} onToggle={(event) => setOpened(event.currentTarget.open && !found)} className="group">
      <summary className="flex min-h-11 items-center gap-3 px-4 py-2">
        <ChevronRight size={16} aria-hidden className="shrink-0 text-muted group-open:rotate-90" />
        <h2 className="min-w-0 font-semibold break-words">{groupWord(name)}</h2>
        {groupWord(name) !== name && <code aria-hidden className="hidden font-mono text-xs text-muted sm:inline">{name}</code>}
        <span className={`ms-auto text-sm whitespace-nowrap text-muted ${set ? "hidden sm:inline" : ""}`}>{tn("{count} setting", "{count} settings", settings.length)}</span>
        {set > 0 && <span className="ms-auto shrink-0 sm:ms-0"><Badge>{t("{count} set", { count: set })}</Badge></span>}
      </summary>
      {open && <div className="divide-y divide-line border-t border-line">{settings.map((each) => <Row key={each.key} setting={each} />)}</div>}
    </details>
  );
}

function Row({ setting }: { setting: SettingAnswer }) {
  return (
    <div className="flex flex-wrap items-start gap-x-6 gap-y-1 px-4 py-2.5">
      <div className="min-w-56 flex-1">
        <p className="font-mono font-medium">{setting.key}</p>
        <p className="text-sm text-muted">{setting.doc}</p>
      </div>
      <div className="ms-auto flex max-w-full flex-col items-end gap-1">
        {setting.changeable ? <Editor key={textOf(setting.value)} setting={setting} /> : <Value setting={setting} />}
        {setting.layer !== "default" && <Badge tone={setting.layer === "stored" ? "accent" : "plain"}>{t(setting.origin)}</Badge>}
      </div>
    </div>
  );
}

/** How a value is edited: a list with one entry per line, unless its entries are tables. */
const isLines = (value: unknown): value is unknown[] => Array.isArray(value) && value.every((each) => typeof each !== "object");
const textOf = (value: unknown) =>
  value === null || value === undefined ? "" : isLines(value) ? value.join("\n") : typeof value === "object" ? JSON.stringify(value) : String(value);

/** A setting that can be changed at run time: saved at once, validated by Hob, and resettable. */
function Editor({ setting }: { setting: SettingAnswer }) {
  const client = useQueryClient();
  const float = setting.kind === "float" && (typeof setting.value !== "object" || setting.value === null);
  const written = (value: unknown) => (float ? textOf(value).replace(".", decimal()) : textOf(value));
  const kept = written(setting.value);
  const [text, setText] = useState(kept);
  const change = useSettingsChange((told) => {
    setText(written(told.settings.find((each) => each.key === setting.key)?.value));
    void client.invalidateQueries({ queryKey: ["usage"] });
  });
  const lines = isLines(setting.value);
  const changed = text !== kept;
  const save = () => change.mutate({ [setting.key]: lines ? text.split("\n").map((each) => each.trim()).filter(Boolean) : (float ? text.replace(decimal(), ".") : text) || null });
  const look = "w-48 max-w-full rounded-md border border-line bg-bg px-2.5 font-mono";
  return (
    <form
      className="flex flex-col items-end gap-1"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div className="flex flex-wrap items-start justify-end gap-2">
        {changed && <Button type="submit" look="main" icon={Check} disabled={change.isPending}>{t("Save")}</Button>}
        {!changed && setting.layer === "stored" && (
          <Button look="quiet" icon={Undo2} disabled={change.isPending} onClick={() => change.mutate({ [setting.key]: null })}>{t("Reset")}</Button>
        )}
        {setting.kind === "bool" && typeof setting.value === "boolean" ? (
          <label className="flex min-h-9 items-center gap-2">
            <input type="checkbox" aria-label={setting.key} checked={change.isPending ? change.variables[setting.key] === true : setting.value} disabled={change.isPending} onChange={(event) => change.mutate({ [setting.key]: event.target.checked })} className="size-4 accent-(--accent)" />
            <span aria-hidden>{setting.value ? t("on") : t("off")}</span>
          </label>
        ) : lines ? (
          <textarea aria-label={setting.key} value={text} dir="auto" rows={Math.min(8, text.split("\n").length + 1)} placeholder={t("one per line")}
            onChange={(event) => setText(event.target.value)} className={`${look} py-1.5`} />
        ) : setting.one_of.length ? (
          <select aria-label={setting.key} value={text} onChange={(event) => setText(event.target.value)} className={`h-9 ${look}`}>
            {setting.one_of.map((each) => <option key={each} value={each}>{each || t("not set")}</option>)}
          </select>
        ) : (
          <input
            aria-label={setting.key}
            value={text}
            inputMode={float || setting.kind === "int" ? "decimal" : "text"}
            placeholder={t("not set")}
            onChange={(event) => setText(event.target.value)}
            className={`h-9 ${look}`}
          />
        )}
      </div>
      {change.isError && <p role="alert" className="max-w-80 text-sm text-bad">{change.error.message}</p>}
    </form>
  );
}

function Value({ setting }: { setting: SettingAnswer }) {
  if (setting.secret) return <span className="text-muted">{t("secret, hidden")}</span>;
  const value = setting.value;
  const empty = value === null || value === "" || (typeof value === "object" && !Object.keys(value as object).length);
  if (empty) return <span className="text-muted">{t("not set")}</span>;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return <code className="max-w-80 truncate font-mono" title={text}>{text}</code>;
}
