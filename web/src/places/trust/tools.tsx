import { useMutation, useQuery } from "@tanstack/react-query";
import { Play, Wrench } from "lucide-react";
import { useState } from "react";
import { call, may } from "../../api/client";
import type { ToolAnswer } from "../../api/schema";
import { duration, t } from "../../i18n";
import { effectWord } from "../../parts/words";
import { Badge, Button, Card, Empty, Failure, Section, Skeleton } from "../../parts/basics";

const TIERS = [["good", "reads"], ["accent", "writes"], ["warn", "risky"]] as const;

/** The tools with their effects, each with a test form. */
export function Tools() {
  const tools = useQuery({ queryKey: ["tools"], queryFn: () => call("GET /api/v1/tools") });
  const [wanted, setWanted] = useState("");
  if (tools.isError) return <Failure error={tools.error} retry={() => void tools.refetch()} />;
  if (!tools.data) return <Skeleton rows={6} className="h-14" />;
  const shown = tools.data.tools.filter((each) => `${each.name} ${each.group} ${each.about}`.toLowerCase().includes(wanted.toLowerCase()));
  const groups = [...new Set(shown.map((each) => each.group))];
  return (
    <>
      <input type="search" value={wanted} onChange={(event) => setWanted(event.target.value)} aria-label={t("Find a tool")} placeholder={t("Find a tool")}
        className="mb-6 h-10 w-full rounded-md border border-line bg-surface px-3" />
      {groups.map((group) => (
        <Section key={group} title={group || t("Always available to the model")}>
          <Card className="divide-y divide-line">{shown.filter((each) => each.group === group).map((each) => <Tool key={each.name} tool={each} />)}</Card>
        </Section>
      ))}
      {!shown.length && <Empty icon={Wrench} title={t("No matching tools.")} />}
    </>
  );
}

function Tool({ tool }: { tool: ToolAnswer }) {
  const [open, setOpen] = useState(false);
  const [tone, word] = TIERS[tool.tier] ?? TIERS[2];
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)} className="px-4 py-2.5">
      <summary className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-mono font-medium">{tool.name}</span>
        <Badge tone={tone}>{t(word)}</Badge>
        <span className="min-w-0 flex-1 basis-64 text-sm text-muted">{tool.about}</span>
      </summary>
      {open && <Try tool={tool} />}
    </details>
  );
}

/** A manual call, judged like a request by the owner; one that needs approval takes a second press. */
function Try({ tool }: { tool: ToolAnswer }) {
  const [text, setText] = useState("");
  const whole = useQuery({ queryKey: ["tools", tool.name], queryFn: () => call("GET /api/v1/tools/{id}", { path: { id: tool.name } }) });
  const attempt = useMutation({
    mutationFn: (confirmed: boolean) => call("POST /api/v1/tools/{id}/test", { path: { id: tool.name }, body: { arguments: text, confirmed } }),
  });
  const told = attempt.data;
  const known = Object.keys((whole.data?.schema.properties as Record<string, unknown> | undefined) ?? {});
  return (
    <div className="flex flex-col gap-3 pt-3 text-sm">
      {tool.effects.length > 0 && <p className="text-muted">{t("Can {effects}", { effects: tool.effects.map(effectWord).join(", ") })}</p>}
      {known.length > 0 && <p className="text-muted">{t("Arguments")}: <code className="font-mono">{known.join(", ")}</code></p>}
      <form hidden={!may("admin")} className="flex flex-wrap items-end gap-3" onSubmit={(event) => { event.preventDefault(); attempt.mutate(false); }}>
        <label className="flex min-w-56 flex-1 flex-col gap-1 text-muted">{t("Arguments (JSON, or just the main one)")}
          <input value={text} dir="auto" onChange={(event) => { setText(event.target.value); attempt.reset(); }} className="h-10 w-full rounded-md border border-line bg-surface px-3 font-mono text-text" />
        </label>
        <Button needs="admin" type="submit" icon={Play} disabled={attempt.isPending} className="min-h-10">{attempt.isPending ? t("Testing…") : t("Test")}</Button>
      </form>
      {attempt.isError && <Failure error={attempt.error} />}
      {told && !told.done && (
        <div className="flex flex-wrap items-center gap-3">
          <p className="min-w-0 flex-1">{told.told[0]}</p>
          {told.verdict === "ask" && <Button look="danger" disabled={attempt.isPending} onClick={() => attempt.mutate(true)}>{t("Proceed anyway")}</Button>}
        </div>
      )}
      {told?.done && (
        <div>
          <Badge tone={told.failed ? "bad" : "good"}>{told.failed ? t("failed") : t("done")}</Badge> <span className="text-muted">{duration(told.seconds)}</span>
          <pre dir="auto" tabIndex={0} className="mt-2 max-h-80 overflow-auto rounded-md bg-sunken p-3 font-mono text-xs whitespace-pre-wrap">{told.text}</pre>
        </div>
      )}
    </div>
  );
}
