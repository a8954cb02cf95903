import { useMutation, useQuery } from "@tanstack/react-query";
import { Check, Columns2, Play, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/client";
import { useModels } from "../../api/queries";
import type { ReplaySide } from "../../api/schema";
import { duration, money, number, percent, t } from "../../i18n";
import { Badge, Button, Card, Failure, Skeleton } from "../../parts/basics";
import { brief } from "../../parts/brief";
import { Diff } from "../../parts/diff";
import { Markdown } from "../../parts/markdown";

/** Replay with another model: tools return recorded results, nothing is executed. */
export function Replay({ turn }: { turn: string }) {
  const models = useModels();
  const [model, setModel] = useState("");
  const kept = useQuery({
    queryKey: ["replay", turn],
    queryFn: () => call("POST /api/v1/replay", { body: { id: turn } }),
    retry: false,
  });
  const again = useMutation({ mutationFn: (name: string) => call("POST /api/v1/replay", { body: { id: turn, model: name } }) });
  const names = models.data?.models ?? [];
  const seen = again.data ?? kept.data;
  return (
    <section aria-label={t("Replay")} className="mb-6 flex flex-col gap-4">
      <h2 className="flex items-center gap-2 text-lg font-semibold"><Columns2 size={18} aria-hidden /> {t("Replay with another model")}</h2>
      {kept.isPending && <Skeleton rows={2} className="h-12" />}
      {kept.isError && <Failure error={kept.error} />}
      {kept.data && (
        <>
          <p className="text-sm text-muted">
            {t("Tools are not executed: they return their recorded results, and memory stays as it was. Nothing is added to the conversation. The cost counts as “replay”.")}
          </p>
          <form
            className="flex flex-wrap items-end gap-3"
            onSubmit={(event) => { event.preventDefault(); if (model.trim()) again.mutate(model.trim()); }}
          >
            <label className="flex min-w-0 flex-1 flex-col gap-1 text-sm sm:max-w-sm">
              {t("Model")}
              <input list="replay-models" value={model} onChange={(event) => setModel(event.target.value)} placeholder={kept.data.then.model}
                className="min-h-9 rounded-md border border-line bg-surface px-3 font-mono text-sm" />
            </label>
            <datalist id="replay-models">{names.map((name) => <option key={name} value={name} />)}</datalist>
            <Button icon={Play} type="submit" disabled={!model.trim() || again.isPending}>{again.isPending ? t("Replaying…") : t("Replay")}</Button>
          </form>
          {again.isError && <Failure error={again.error} />}
        </>
      )}
      {seen && (
        <>
          <div className={`grid gap-4 ${seen.now ? "lg:grid-cols-2" : ""}`}>
            <Side title={t("Original")} side={seen.then} />
            {seen.now && <Side title={t("Now")} side={seen.now} before={seen.then} />}
          </div>
          {seen.difference.length > 0 && <Card className="overflow-hidden"><Diff text={seen.difference.join("\n")} /></Card>}
          <ul className="flex flex-col gap-1 text-sm">
            {seen.rebuilt.map((each, place) => (
              <li key={each.step} className="flex flex-wrap items-center gap-2">
                <Badge tone={each.identical ? "good" : "warn"}>
                  {each.identical ? <Check size={12} aria-hidden /> : <TriangleAlert size={12} aria-hidden />}{" "}
                  {each.identical ? t("identical") : each.identical === false ? t("not identical") : t("can't be verified")}
                </Badge>
                <span>{t("Request {step} to {model}", { step: place + 1, model: each.model })}</span>
                {each.sent && <code className="truncate font-mono text-xs text-muted" title={each.sent}>SHA-256 {each.sent.slice(0, 16)}…</code>}
                {each.why && <span className="text-muted">{t(each.why)}</span>}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Side({ title, side, before }: { title: string; side: ReplaySide; before?: ReplaySide }) {
  const facts: [string, string, string][] = [
    [t("Cost"), money(side.cost_usd), before && before.cost_usd !== null && side.cost_usd !== null ? change(side.cost_usd, before.cost_usd) : ""],
    [t("Time"), duration(side.seconds), before ? change(side.seconds, before.seconds) : ""],
    [t("Tokens"), number(side.input_tokens + side.output_tokens), before ? change(side.input_tokens + side.output_tokens, before.input_tokens + before.output_tokens) : ""],
  ];
  return (
    <Card className="flex min-w-0 flex-col gap-3 p-4">
      <h3 className="flex flex-wrap items-baseline gap-2"><span className="font-semibold">{title}</span> <code className="min-w-0 font-mono text-sm break-all text-muted">{side.model}</code></h3>
      <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm text-muted">
        {facts.map(([name, value, more]) => (
          <div key={name} className="flex gap-2"><dt>{name}</dt><dd className="font-medium text-text">{value} <span className="font-normal text-muted">{more}</span></dd></div>
        ))}
        <div className="flex gap-2"><dt>{t("Model calls")}</dt><dd className="font-medium text-text">{number(side.rounds)}</dd></div>
      </dl>
      {side.calls.map((each, place) => (
        <p key={place} className="min-w-0 font-mono text-xs break-words">
          <span className="font-semibold">{each.name}</span> <span title={each.arguments}>{brief(each.arguments)}</span> {!each.recorded && <Badge tone="warn">{t("not in the original turn, so not answered")}</Badge>}
        </p>
      ))}
      {side.trouble && <p role="alert" className="text-sm text-bad">{t(side.trouble)}</p>}
      {side.text ? <Markdown text={side.text} /> : <p className="text-muted italic">{t("no text")}</p>}
    </Card>
  );
}

const change = (now: number, then: number) => (then ? `(${now >= then ? "+" : "−"}${percent(Math.abs(now - then), then)})` : "");
