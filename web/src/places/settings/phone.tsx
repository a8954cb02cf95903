import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Download, QrCode, Smartphone, X } from "lucide-react";
import { useEffect, useState } from "react";
import { call } from "../../api/client";
import { useSettingsChange } from "../../api/queries";
import type { PhoneAnswer } from "../../api/schema";
import { t } from "../../i18n";
import { Badge, Button, Card, Failure, Section, Skeleton } from "../../parts/basics";

/** Phone access: its addresses, and a QR code that signs a phone in. */
export function Phone() {
  const client = useQueryClient();
  const phone = useQuery({ queryKey: ["phone"], queryFn: () => call("GET /api/v1/phone") });
  const change = useSettingsChange(() => client.invalidateQueries({ queryKey: ["phone"] }));
  if (phone.isError) return <Failure error={phone.error} retry={() => void phone.refetch()} />;
  if (!phone.data) return <Skeleton rows={2} className="h-24" />;
  const { wanted, address, problem, authority, choices } = phone.data;
  return (
    <Section title={t("Use Hob on your phone")}>
      <Card className="flex flex-col gap-4 p-4">
        <div className="flex flex-wrap items-center gap-3">
          <Smartphone size={18} aria-hidden className="shrink-0 text-muted" />
          {wanted ? (
            <>
              <span className="min-w-0 flex-1 font-mono break-all">{address || wanted}</span>
              {address ? <Badge tone="good">{t("open")}</Badge> : <Badge tone="bad">{t("not open")}</Badge>}
              <Button icon={X} disabled={change.isPending} onClick={() => change.mutate({ "dashboard.phone": "" })}>{t("Close access")}</Button>
            </>
          ) : (
            <p className="min-w-56 flex-1 text-sm text-muted">
              {t("Closed. When open, signed-in devices on your network or tailnet can reach the dashboard over HTTPS, and nothing else of Hob.")}
            </p>
          )}
        </div>
        {problem && <p role="alert" className="text-sm text-bad">{problem}</p>}
        {address && <SignIn authority={authority} />}
        {!wanted && choices.map((each) => <Choice key={each.at} choice={each} busy={change.isPending} onOpen={() => change.mutate({ "dashboard.phone": each.at })} />)}
        {change.isError && <p role="alert" className="text-sm text-bad">{change.error.message}</p>}
      </Card>
    </Section>
  );
}

function Choice({ choice, busy, onOpen }: { choice: PhoneAnswer["choices"][number]; busy: boolean; onOpen: () => void }) {
  const [sure, setSure] = useState(false);
  const about = choice.at === "tailnet" ? t("Your tailnet. Every phone in it trusts the certificate.") : t("Your network. Each phone installs Hob's certificate once.");
  return (
    <div className="flex flex-wrap items-center gap-3 border-t border-line pt-3">
      <div className="min-w-48 flex-1">
        <p className="font-mono break-all">{choice.name || choice.at}</p>
        <p className="text-sm text-muted">{choice.problem || about}</p>
      </div>
      <Button look={sure ? "main" : "plain"} disabled={busy || !!choice.problem} onBlur={() => setSure(false)} onClick={() => (sure ? onOpen() : setSure(true))}>
        {sure ? t("Yes, open access") : t("Open access")}
      </Button>
    </div>
  );
}

/** The QR code. It works once and for minutes, so it is created on demand. */
function SignIn({ authority }: { authority: string }) {
  const link = useMutation({ mutationFn: () => call("POST /api/v1/phone") });
  const { reset } = link;
  const seconds = link.data?.seconds;
  useEffect(() => {
    if (!seconds) return;
    const timer = setTimeout(reset, seconds * 1000);
    return () => clearTimeout(timer);
  }, [seconds, reset]);
  return (
    <div className="flex flex-col gap-4 border-t border-line pt-4">
      {authority && (
        <div className="text-sm">
          <p>{t("Once per phone: open the address above followed by /hob-ca.crt, continue past the warning, and install the downloaded certificate. The phone must show this SHA-256; if not, someone is intercepting the connection:")}</p>
          <p className="my-2 font-mono text-xs break-all text-muted">{authority}</p>
          <a href="/hob-ca.crt" download className="inline-flex min-h-9 items-center gap-2 text-accent hover:underline">
            <Download size={16} aria-hidden /> {t("Download the certificate to transfer it another way")}
          </a>
        </div>
      )}
      {link.data ? (
        <div className="flex flex-wrap items-center gap-4">
          <Qr rows={link.data.qr} />
          <p className="min-w-48 flex-1 text-sm text-muted">{t("Scan this with your phone's camera. It signs in one browser, once, within five minutes.")}</p>
        </div>
      ) : (
        <Button look="main" icon={QrCode} className="self-start" disabled={link.isPending} onClick={() => link.mutate()}>{t("Show QR code")}</Button>
      )}
      {link.isError && <p role="alert" className="text-sm text-bad">{link.error.message}</p>}
    </div>
  );
}

function Qr({ rows }: { rows: readonly string[] }) {
  const path = rows.flatMap((row, y) => [...row.matchAll(/1+/g)].map((run) => `M${run.index} ${y}h${run[0].length}v1h-${run[0].length}z`)).join("");
  return (
    <svg role="img" aria-label={t("QR code")} viewBox={`0 0 ${rows.length} ${rows.length}`} shapeRendering="crispEdges" className="w-64 max-w-full rounded-md">
      <rect width="100%" height="100%" fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
