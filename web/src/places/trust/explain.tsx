import { useMutation } from "@tanstack/react-query";
import { Scale } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/client";
import { t } from "../../i18n";
import { Badge, Button, Card, Failure } from "../../parts/basics";

const RISKS = ["low", "medium", "high"] as const;
const TONES = { allow: "good", ask: "warn", deny: "bad" } as const;

/** Explains how a call would be decided, and by which rule. Executes nothing. */
export function Explain() {
  const [tool, setTool] = useState("exec");
  const [text, setText] = useState("rm -rf build");
  const [tainted, setTainted] = useState(false);
  const ask = useMutation({ mutationFn: () => call("POST /api/v1/policy/explain", { body: { tool, arguments: text, tainted } }) });
  const told = ask.data;
  return (
    <div className="flex flex-col gap-4">
      <p className="text-muted">{t("See how a call would be decided. Nothing is executed.")}</p>
      <form className="flex flex-col gap-3" onSubmit={(event) => { event.preventDefault(); ask.mutate(); }}>
        <div className="flex flex-wrap items-end gap-3">
          <label className="flex flex-col gap-1 text-sm text-muted">{t("Tool")}
            <input value={tool} onChange={(event) => setTool(event.target.value)} className="h-10 w-44 rounded-md border border-line bg-surface px-3 font-mono text-text" />
          </label>
          <label className="flex min-w-56 flex-1 flex-col gap-1 text-sm text-muted">{t("Arguments (JSON, or just the main one)")}
            <input value={text} dir="auto" onChange={(event) => setText(event.target.value)} className="h-10 w-full rounded-md border border-line bg-surface px-3 font-mono text-text" />
          </label>
          <Button type="submit" look="main" icon={Scale} disabled={!tool.trim() || ask.isPending} className="min-h-10">{t("Check")}</Button>
        </div>
        <label className="flex items-center gap-2 text-muted">
          <input type="checkbox" checked={tainted} onChange={(event) => setTainted(event.target.checked)} className="size-4 accent-(--accent)" />
          {t("after reading content from others")}
        </label>
      </form>
      {ask.isError && <Failure error={ask.error} />}
      {told && (
        <Card className="px-5 py-4">
          <p className="flex flex-wrap items-center gap-2 text-lg font-semibold">
            <Badge tone={TONES[told.verdict as keyof typeof TONES] ?? "plain"}>{t(told.verdict)}</Badge>
            {told.told[0]?.replace(/^\w+: /, "").replace(/ \([^()]*\)$/, "")}
          </p>
          {told.reason && <p className="mt-1 text-muted">{told.reason}</p>}
          {!told.known && <p className="mt-1 text-warn">{t("There is no such tool, so the strictest rules apply.")}</p>}
          <dl className="mt-3 grid grid-cols-[auto_1fr] gap-x-6 gap-y-1 text-sm">
            <dt className="text-muted">{t("Rule")}</dt><dd className="font-mono">{told.rule}</dd>
            {told.tier !== null && <><dt className="text-muted">{t("Risk of this call")}</dt><dd>{t(RISKS[told.tier] ?? "high")}</dd></>}
            {told.acts.length > 0 && <><dt className="text-muted">{t("It would")}</dt><dd>{told.acts.join(", ")}</dd></>}
            {told.stages.map((each) => (
              <div key={each.stage} className="contents"><dt className="text-muted">{each.stage}</dt><dd>{t(each.verdict)} <code className="font-mono text-xs text-muted">{each.rule}</code></dd></div>
            ))}
          </dl>
        </Card>
      )}
    </div>
  );
}
