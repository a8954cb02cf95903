import { Plug, RotateCcw } from "lucide-react";
import { Link } from "wouter";
import { call, may } from "../api/client";
import { useChange } from "../api/queries";
import { t } from "../i18n";
import { Button } from "./basics";
import { Told } from "./told";
import { WORDS, wordOf } from "./words";

/** Failures that need a fix before a retry makes sense. */
const CONNECTION = ["no_model", "auth", "model_settings", "model_not_found"];

/** Retries a message; hidden if the login may not. */
export function TryAgain({ id, onDone }: { id: string; onDone?: () => void }) {
  const retry = useChange(["tasks"], () => call("POST /api/v1/retry/{id}", { path: { id } }), onDone);
  return (
    <>
      <Button needs="admin" icon={RotateCcw} disabled={retry.isPending || retry.isSuccess} onClick={() => retry.mutate()}>{t("Try again")}</Button>
      {retry.isError && <span role="alert" className="text-sm text-bad"><Told text={retry.error.message} /></span>}
    </>
  );
}

/** A link to the models if the failure is about one. */
export function ToModels({ code }: { code: string }) {
  if (!CONNECTION.includes(code) || !may("admin")) return null;
  return (
    <Link href="/settings?tab=models" className="inline-flex min-h-9 items-center gap-2 rounded-md bg-accent px-3 font-medium text-on-accent">
      <Plug size={16} aria-hidden /> {code === "no_model" ? t("Connect a model") : t("View models")}
    </Link>
  );
}

/** A link to the limits if the failure is about one. */
export function ToLimits({ code }: { code: string }) {
  if (code !== "budget" || !may("admin")) return null;
  return <Link href="/settings?find=spending." className="inline-flex min-h-9 items-center rounded-md bg-accent px-3 font-medium text-on-accent">{t("Change limit")}</Link>;
}

/** An unanswered message: the reason and the next step. */
export function Unanswered({ id, code, message, onRetried }: { id: string; code: string; message: string; onRetried?: () => void }) {
  const kept = code === "no_model";
  return (
    <div role="alert" className="rounded-md border border-line bg-bad-soft px-4 py-3">
      <p className="font-medium text-bad">{WORDS[code] ? t("No answer: {why}.", { why: wordOf(code) }) : t("No answer.")}</p>
      <p className="text-sm whitespace-pre-line">{kept ? t("Your message is kept and will be answered once a model is connected.") : <Told text={message} />}</p>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <ToModels code={code} />
        <ToLimits code={code} />
        {id && !kept && <TryAgain id={id} onDone={onRetried} />}
      </div>
    </div>
  );
}
