import { useQuery } from "@tanstack/react-query";
import { KeyRound, ShieldAlert, ShieldCheck } from "lucide-react";
import { call } from "../../api/client";
import type { SandboxAnswer } from "../../api/schema";
import { t, tn } from "../../i18n";
import { Badge, Card, Empty, Failure, Section, Skeleton, When } from "../../parts/basics";
import { Told } from "../../parts/told";

/** Secrets by location and use, never their values. */
export function Secrets() {
  const told = useQuery({ queryKey: ["settings", "secrets"], queryFn: () => call("GET /api/v1/secrets") });
  if (told.isError) return <Failure error={told.error} retry={() => void told.refetch()} />;
  if (!told.data) return <Skeleton rows={3} className="h-14" />;
  const rows = told.data.secrets;
  if (!rows.length) return <Empty icon={KeyRound} title={t("No secrets configured.")}><Told text={t("Add one with `hob secrets set KEY`. It is never shown again.")} /></Empty>;
  return (
    <Section title={tn("{count} secret", "{count} secrets", rows.length)}>
      <Card className="divide-y divide-line">
        {rows.map((each) => (
          <div key={each.key} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
            <div className="min-w-0 flex-1 basis-64">
              <p className="font-mono font-medium break-words">{each.key}</p>
              <p className="text-sm text-muted"><Told text={each.about} /></p>
              {each.problem && <p role="alert" className="text-sm text-bad"><Told text={each.problem} /></p>}
            </div>
            {each.reference ? <code className="max-w-full truncate font-mono text-sm">{each.reference}</code> : <Badge tone="warn">{t("stored in the settings file")}</Badge>}
            {each.changed !== null && <When at={each.changed} className="text-xs text-muted" />}
          </div>
        ))}
      </Card>
      <p className="mt-2 text-sm text-muted"><Told text={t("Shows where each secret is stored, never its value. Change one with `hob secrets set KEY` or `hob secrets rotate KEY`.")} /></p>
    </Section>
  );
}

/** The command sandbox, and what commands may reach, read and change. */
export function Sandbox() {
  const told = useQuery({ queryKey: ["settings", "sandbox"], queryFn: () => call("GET /api/v1/sandbox") });
  if (told.isError) return <Failure error={told.error} retry={() => void told.refetch()} />;
  if (!told.data) return <Skeleton rows={4} className="h-16" />;
  const sandbox = told.data;
  return (
    <>
      <Confined sandbox={sandbox} />
      <Section title={t("Command permissions")}>
        <Card className="divide-y divide-line">
          <Names title={t("Network hosts")} names={sandbox.hosts} none={t("None.")} />
          <Names title={t("Writable")} names={[sandbox.work, ...sandbox.write]} />
          <Names title={t("Also readable")} names={sandbox.read} none={t("System programs and libraries only.")} />
          {sandbox.outgoing.length > 0 && <Names title={t("Shared beyond this machine")} names={sandbox.outgoing} />}
          <Names title={t("Write-protected")} names={sandbox.protected} none={t("None.")} />
          {sandbox.toolchains.length > 0 && <Names title={t("Developer tools")} names={sandbox.toolchains} />}
          {sandbox.environment.length > 0 && <Names title={t("Environment variables")} names={sandbox.environment} />}
        </Card>
      </Section>
      <Section title={t("Secrets injected into requests")}>
        {sandbox.credentials.length ? (
          <Card className="divide-y divide-line">
            {sandbox.credentials.map((each) => (
              <div key={each.name} className="px-4 py-2.5">
                <p><span className="font-mono font-medium">{each.name}</span> {t("only for {host}, in the {header} header", { host: each.host || "–", header: each.header })}</p>
                <p className="text-sm text-muted">{t("for {agents}, at most {count} requests per minute", { agents: each.agents.join(", "), count: each.per_minute })}</p>
              </div>
            ))}
          </Card>
        ) : (
          <p className="text-muted">{t("None. Add one under sandbox.credentials, bound to a single host.")}</p>
        )}
      </Section>
    </>
  );
}

function Confined({ sandbox }: { sandbox: SandboxAnswer }) {
  const [Icon, colour] = sandbox.confines ? [ShieldCheck, "text-good"] : [ShieldAlert, sandbox.found ? "text-warn" : "text-bad"];
  const title = !sandbox.found ? t("Commands can't run on this machine.") : sandbox.confines ? t("Commands run in a sandbox ({name}).", { name: sandbox.found }) : t("Commands are not sandboxed. Hob asks before each one.");
  return (
    <Section title={t("Command sandbox")}>
      <Card className="flex flex-wrap items-start gap-3 px-4 py-3">
        <Icon size={20} aria-hidden className={`mt-0.5 shrink-0 ${colour}`} />
        <div className="min-w-0 flex-1">
          <p className="font-medium">{title}</p>
          {sandbox.reason && <p className="text-sm break-words text-muted"><Told text={sandbox.reason} /></p>}
          {sandbox.advice && <p className="mt-1 text-sm break-words"><Told text={sandbox.advice} /></p>}
        </div>
        <code className="w-full ps-8 font-mono text-xs text-muted sm:w-auto sm:ps-0">sandbox.backend = {sandbox.backend}</code>
      </Card>
    </Section>
  );
}

function Names({ title, names, none }: { title: string; names: readonly string[]; none?: string }) {
  return (
    <div className="flex flex-wrap gap-x-4 gap-y-1 px-4 py-2.5">
      <span className="w-56 shrink-0 text-sm text-muted">{title}</span>
      <span className="flex min-w-0 flex-1 basis-56 flex-wrap gap-1.5">
        {names.length ? names.map((each) => <code key={each} className="rounded-sm bg-sunken px-1.5 font-mono text-sm break-all">{each}</code>) : <span className="text-sm">{none}</span>}
      </span>
    </div>
  );
}
