import { useQuery } from "@tanstack/react-query";
import { Check, UserRound, X } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/client";
import { useChange } from "../../api/queries";
import { moment, t } from "../../i18n";
import { Badge, Button, Card, Empty, Failure, Section, Skeleton, When, useSettled } from "../../parts/basics";

/** Known senders and pairing requests. */
export function People() {
  const people = useQuery({ queryKey: ["people"], queryFn: () => call("GET /api/v1/people") });
  const asked = useQuery({ queryKey: ["pairing"], queryFn: () => call("GET /api/v1/pairing") });
  const [names, setNames] = useState<Record<string, string>>({});
  const answer = useChange(["people", "pairing"], async ({ code, yes }: { code: string; yes: boolean }): Promise<unknown> =>
    yes
      ? call("POST /api/v1/pairing/approve", { body: { code, name: names[code] ?? "" } })
      : call("POST /api/v1/pairing/deny", { body: { code } }));
  const settled = useSettled(`${asked.data?.requests.map((each) => each.code).join(" ")}`);
  if (people.isError) return <Failure error={people.error} retry={() => void people.refetch()} />;
  return (
    <>
      {!!asked.data?.requests.length && (
        <Section title={t("Pairing requests")}>
          <Card className="divide-y divide-line">
            {asked.data.requests.map((each) => (
              <div key={each.code} className="flex flex-wrap items-center gap-3 px-4 py-3">
                <div className="min-w-0 flex-1">
                  <p dir="auto" className="font-medium">{each.name || each.address}</p>
                  <p className="text-xs text-muted">{each.address} · {t("code")} <code className="font-mono">{each.code}</code> · <When at={each.asked} /> · {t("until {time}", { time: moment(each.expires) })}</p>
                </div>
                <input value={names[each.code] ?? ""} onChange={(event) => setNames({ ...names, [each.code]: event.target.value })}
                  aria-label={t("Who is this?")} placeholder={t("Who is this?")} className="h-9 w-36 rounded-md border border-line bg-bg px-2.5" />
                <Button look="main" icon={Check} disabled={!settled || answer.isPending} onClick={() => answer.mutate({ code: each.code, yes: true })}>{t("Approve")}</Button>
                <Button icon={X} disabled={answer.isPending} onClick={() => answer.mutate({ code: each.code, yes: false })}>{t("Reject")}</Button>
              </div>
            ))}
          </Card>
          {answer.isError && <Failure error={answer.error} />}
        </Section>
      )}
      <Section title={t("Known senders")}>
        {!people.data ? (
          <Skeleton rows={3} className="h-12" />
        ) : people.data.people.length ? (
          <Card className="divide-y divide-line">
            {people.data.people.map((each) => (
              <div key={each.id} className="flex min-h-14 items-center gap-3 px-4 py-2">
                <UserRound size={18} aria-hidden className="text-accent" />
                <div className="min-w-0 flex-1">
                  <p dir="auto" className="truncate font-medium">{each.name || each.id}</p>
                  <p className="truncate text-xs text-muted">{each.addresses.join(", ")}</p>
                </div>
                <Badge tone={each.class === "owner" ? "accent" : "plain"}>{t(each.class)}</Badge>
              </div>
            ))}
          </Card>
        ) : (
          <Empty icon={UserRound} title={t("Only you.")}>{t("Anyone who writes over a channel gets a code. Approve or reject them here.")}</Empty>
        )}
      </Section>
    </>
  );
}
