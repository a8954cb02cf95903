import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Plug } from "lucide-react";
import { useState } from "react";
import { call } from "../api/client";
import { t } from "../i18n";
import { Button } from "./basics";
import { Told } from "./told";

const OWN = "server";
/** Providers with the page on which to create a key. */
const PROVIDERS: [string, string, string][] = [
  ["anthropic", "Anthropic", "https://console.anthropic.com/settings/keys"],
  ["openai", "OpenAI", "https://platform.openai.com/api-keys"],
  ["gemini", "Google Gemini", "https://aistudio.google.com/apikey"],
  ["openrouter", "OpenRouter", "https://openrouter.ai/settings/keys"],
  ["mistral", "Mistral", "https://console.mistral.ai/api-keys"],
  ["deepseek", "DeepSeek", "https://platform.deepseek.com/api_keys"],
  ["groq", "Groq", "https://console.groq.com/keys"],
  ["xai", "xAI", "https://console.x.ai"],
];

/** Connects a model: tests a reply and a tool call, and saves the key only if both work. */
export function Connect({ onDone }: { onDone?: () => void }) {
  const client = useQueryClient();
  const [provider, setProvider] = useState("anthropic");
  const [address, setAddress] = useState("");
  const [key, setKey] = useState("");
  const [model, setModel] = useState("");
  const own = provider === OWN;
  const page = PROVIDERS.find(([id]) => id === provider)?.[2];
  const connect = useMutation({
    mutationFn: (anyway: boolean) =>
      call("POST /api/v1/models/connect", { body: { provider, base_url: own ? address.trim() : "", key: key.trim(), model: model.trim(), anyway } }),
    onSuccess: (told) => {
      if (!told.kept) return;
      setKey("");
      for (const each of ["models", "status", "settings", "tasks"]) void client.invalidateQueries({ queryKey: [each] });
      onDone?.();
    },
  });
  const told = connect.data;
  const ready = own ? address.trim() !== "" : key.trim() !== "";
  const look = "min-h-10 w-full rounded-md border border-line bg-bg px-3";
  return (
    <form className="mt-3 flex flex-col gap-4" onSubmit={(event) => { event.preventDefault(); if (ready) connect.mutate(false); }}>
      <label className="flex flex-col gap-1 text-sm">
        {t("1. Choose a provider")}
        <select value={provider} onChange={(event) => { setProvider(event.target.value); connect.reset(); }} className={look}>
          {PROVIDERS.map(([id, name]) => <option key={id} value={id}>{name}</option>)}
          <option value={OWN}>{t("My own server (OpenAI-compatible)")}</option>
        </select>
      </label>
      {own && (
        <label className="flex flex-col gap-1 text-sm">
          {t("Server address")}
          <input value={address} inputMode="url" placeholder="http://127.0.0.1:8000/v1" onChange={(event) => setAddress(event.target.value)} className={`${look} font-mono`} />
        </label>
      )}
      <div className="flex flex-col gap-1 text-sm">
        <label htmlFor="model-key">{own ? t("2. API key, if required") : t("2. API key")}</label>
        <input id="model-key" type="password" autoComplete="off" value={key} onChange={(event) => setKey(event.target.value)} className={`${look} font-mono`} />
        {page && <a href={page} target="_blank" rel="noreferrer" className="self-start text-accent underline underline-offset-2">{t("Get a key")}</a>}
      </div>
      <label className="flex flex-col gap-1 text-sm">
        {t("Model (empty for the default)")}
        <input value={model} onChange={(event) => setModel(event.target.value)} className={`${look} font-mono`} />
      </label>
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" look="main" icon={Plug} disabled={!ready || connect.isPending}>{connect.isPending ? t("Testing a reply and a tool call…") : t("3. Test and connect")}</Button>
        <p className="min-w-48 flex-1 text-sm text-muted">{t("The key is saved only if the model answers, in a file that only you can read.")}</p>
      </div>
      <div aria-live="polite" className="text-sm">
        {connect.isError && <p className="text-bad"><Told text={connect.error.message} /></p>}
        {told?.kept && <p className="text-good">{t("{model} is connected.", { model: told.model })}</p>}
        {told && !told.kept && (
          <>
            <p className="text-bad"><Told text={told.trouble} /></p>
            {told.tools === false ? (
              <Button className="mt-2" disabled={connect.isPending} onClick={() => connect.mutate(true)}>{t("Use it anyway")}</Button>
            ) : (
              <p className="text-muted">{t("Nothing was saved. Fix this and try again.")}</p>
            )}
          </>
        )}
      </div>
    </form>
  );
}
