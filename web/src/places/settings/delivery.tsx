import { useQuery } from "@tanstack/react-query";
import { BellOff, MessageSquare, Trash2, UserPlus } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { call } from "../../api/client";
import { useChange, useSettings, useSettingsChange } from "../../api/queries";
import type { WebUserAnswer } from "../../api/schema";
import { t } from "../../i18n";
import { Badge, Button, Card, Failure, Section, Skeleton } from "../../parts/basics";

const KEY = "delivery.silent_mode";

/** Silent mode, and web users with their linked chats. */
export function Delivery() {
  const settings = useSettings();
  const users = useQuery({ queryKey: ["webusers"], queryFn: () => call("GET /api/v1/webusers") });
  const silent = settings.data?.settings.find((each) => each.key === KEY);
  const hush = useSettingsChange();
  const [name, setName] = useState("");
  const add = useChange(["webusers"], () => call("POST /api/v1/webusers", { body: { name } }), () => setName(""));
  return (
    <>
      <Section title={t("Silent mode")}>
        <Card className="flex flex-wrap items-center gap-4 p-4">
          <BellOff size={18} aria-hidden className="shrink-0 text-muted" />
          <p className="min-w-56 flex-1 text-sm text-muted">
            {t("Nothing is sent to chats. Each held-back message appears on the timeline as skipped. Answers are shown here in the dashboard.")}
          </p>
          <label className="flex min-h-10 items-center gap-2 font-medium">
            <input type="checkbox" role="switch" className="size-5 accent-(--accent)" disabled={!silent}
              checked={hush.isPending ? hush.variables[KEY] === true : silent?.value === true} onChange={(event) => hush.mutate({ [KEY]: event.target.checked })} />
            {t("Silent mode")}
          </label>
          <SilentChannels />
          {hush.isError && <p role="alert" className="w-full text-sm text-bad">{hush.error.message}</p>}
        </Card>
      </Section>
      <Section title={t("Web users")}>
        <p className="mb-3 text-sm text-muted">
          {t("Each web user has a separate conversation. Their messages and Hob's answers also go to the linked chat.")}
        </p>
        {users.isPending && <Skeleton rows={2} className="h-16" />}
        {users.isError && <Failure error={users.error} retry={() => void users.refetch()} />}
        <ul className="flex flex-col gap-3">{users.data?.web_users.map((user) => <li key={user.id}><WebUser user={user} /></li>)}</ul>
        <form className="mt-4 flex flex-wrap items-end gap-3" onSubmit={(event) => { event.preventDefault(); if (name.trim()) add.mutate(); }}>
          <label className="flex min-w-48 flex-1 flex-col gap-1 text-sm sm:max-w-xs">
            {t("Name")}
            <input value={name} maxLength={80} onChange={(event) => setName(event.target.value)} className="min-h-10 rounded-md border border-line bg-surface px-3" />
          </label>
          <Button icon={UserPlus} type="submit" disabled={!name.trim() || add.isPending}>{t("Add")}</Button>
          {add.isError && <p role="alert" className="text-sm text-bad">{add.error.message}</p>}
        </form>
      </Section>
    </>
  );
}

/** The channels that silent mode covers; empty for all. */
function SilentChannels() {
  const kept = useSettings().data?.settings.find((each) => each.key === "delivery.silent_channels")?.value;
  const names = Array.isArray(kept) ? kept.join(", ") : "";
  const [text, setText] = useState<string | null>(null);
  const change = useSettingsChange(() => setText(null));
  const wanted = (text ?? names).split(",").map((each) => each.trim()).filter(Boolean);
  return (
    <form className="flex w-full flex-wrap items-end gap-3" onSubmit={(event) => { event.preventDefault(); change.mutate({ "delivery.silent_channels": wanted }); }}>
      <label className="flex min-w-48 flex-1 flex-col gap-1 text-sm">
        {t("Only in these channels (empty: all)")}
        <input value={text ?? names} placeholder="telegram, signal" onChange={(event) => setText(event.target.value)}
          className="min-h-10 rounded-md border border-line bg-surface px-3 font-mono" />
      </label>
      <Button type="submit" disabled={text === null || text === names || change.isPending}>{t("Save")}</Button>
      {change.isError && <p role="alert" className="w-full text-sm text-bad">{change.error.message}</p>}
    </form>
  );
}

function WebUser({ user }: { user: WebUserAnswer }) {
  const [address, setAddress] = useState(user.address);
  const [sure, setSure] = useState(false);
  const link = useChange(["webusers"], () => call("POST /api/v1/weblinks", { body: { web_user_id: user.id, address } }));
  const force = useChange(["webusers"], (on: boolean) => call("POST /api/v1/webusers/force", { body: { web_user_id: user.id, force_send: on } }));
  const remove = useChange(["webusers"], () => call("DELETE /api/v1/webusers/{id}", { path: { id: user.id } }));
  const failed = link.error ?? force.error ?? remove.error;
  return (
    <Card className="flex flex-wrap items-end gap-3 p-4">
      <div className="flex w-full flex-wrap items-center gap-3">
        <span className="font-semibold">{user.name}</span>
        {user.address ? <Badge tone="good">{t("linked")}</Badge> : <Badge>{t("no chat linked")}</Badge>}
        <Link href={`/chat?session=${encodeURIComponent(user.session)}`} className="ms-auto inline-flex min-h-9 items-center gap-2 rounded-md px-3 text-muted hover:bg-sunken">
          <MessageSquare size={16} aria-hidden /> {t("Open in chat")}
        </Link>
      </div>
      <form className="flex min-w-0 flex-1 flex-wrap items-end gap-3" onSubmit={(event) => { event.preventDefault(); link.mutate(); }}>
        <label className="flex min-w-48 flex-1 flex-col gap-1 text-sm">
          {t("Linked chat")}
          <input value={address} placeholder="telegram:12345" onChange={(event) => setAddress(event.target.value)} className="min-h-10 rounded-md border border-line bg-surface px-3 font-mono" />
        </label>
        <Button type="submit" disabled={address === user.address || link.isPending}>{address.trim() ? t("Link") : t("Unlink")}</Button>
      </form>
      <label className="flex min-h-10 items-center gap-2 text-sm">
        <input type="checkbox" className="size-4 accent-(--accent)" checked={force.isPending ? force.variables : user.force_send} onChange={(event) => force.mutate(event.target.checked)} />
        {t("Also send in silent mode")}
      </label>
      <Button look="danger" icon={Trash2} disabled={remove.isPending} onClick={() => (sure ? remove.mutate() : setSure(true))} onBlur={() => setSure(false)}>
        {sure ? t("Yes, remove") : t("Remove")}
      </Button>
      {failed && <p role="alert" className="w-full text-sm text-bad">{failed.message}</p>}
    </Card>
  );
}
