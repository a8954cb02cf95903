import { useMemo, useState } from "react";
import { useSearchParams } from "wouter";
import { useSettings, useStatus } from "../../api/queries";
import type { SettingAnswer } from "../../api/schema";
import { duration, t } from "../../i18n";
import { Badge, Card, Failure, Page, Section, Skeleton } from "../../parts/basics";

/** Every setting with its value and where that comes from. */
export function Settings() {
  const settings = useSettings();
  const status = useStatus().data;
  const [search, setSearch] = useSearchParams();
  const [wanted, setWanted] = useState(search.get("find") ?? "");
  const only = search.get("set") === "true";
  const sections = useMemo(() => {
    const found = new Map<string, SettingAnswer[]>();
    for (const each of settings.data?.settings ?? []) {
      if (only && each.layer === "default") continue;
      if (!`${each.key} ${each.doc}`.toLowerCase().includes(wanted.toLowerCase())) continue;
      const section = each.key.split(".")[0]!;
      found.set(section, [...(found.get(section) ?? []), each]);
    }
    return [...found];
  }, [settings.data, wanted, only]);
  return (
    <Page title={t("Settings")} about={status?.uptime_seconds === undefined ? undefined : t("Hob {version}, up for {time}", { version: status.version, time: duration(status.uptime_seconds) })}>
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
          {t("Only what was set")}
        </label>
      </div>
      {settings.isError ? (
        <Failure error={settings.error} retry={() => void settings.refetch()} />
      ) : settings.isPending ? (
        <Skeleton rows={8} className="h-14" />
      ) : (
        sections.map(([section, rows]) => (
          <Section key={section} title={section}>
            <Card className="divide-y divide-line">{rows.map((each) => <Row key={each.key} setting={each} />)}</Card>
          </Section>
        ))
      )}
    </Page>
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
        <Value setting={setting} />
        {setting.layer !== "default" && <Badge tone={setting.layer === "stored" ? "accent" : "plain"}>{setting.origin}</Badge>}
      </div>
    </div>
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
