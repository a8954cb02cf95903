import { useQueryClient, type InfiniteData } from "@tanstack/react-query";
import { ArrowDown, Sparkles, Wrench, X } from "lucide-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { Problem, call, may } from "../../api/client";
import { live, type Message } from "../../api/live";
import { outbox, randomKey } from "../../api/outbox";
import { historyPart, questionsIn, readAnew, useApprovals, useConnection, useHistory, useModels, useSessions, useTasks, type Place } from "../../api/queries";
import type { EntryAnswer, HistoryAnswer, SentMessageAnswer, TasksAnswer } from "../../api/schema";
import { t } from "../../i18n";
import { ApprovalCard } from "../../parts/approval";
import { Button, Empty, Failure, Skeleton } from "../../parts/basics";
import { Markdown } from "../../parts/markdown";
import { OpenedFile } from "../../parts/media";
import { Asked, QuestionCard, optionText, questionText } from "../../parts/question";
import { Unanswered } from "../../parts/unanswered";
import { Composer, type Draft } from "./composer";
import { growingOf, useGrowing, type Growing } from "./growing";
import { useReader } from "./reader";
import { Edit, Entries, Mine } from "./said";
import { Sent } from "./sent";

/** Prefix of conversations that memory ignores. */
const PRIVATE = "private-";

export function Conversation({ session }: { session: string }) {
  const client = useQueryClient();
  const history = useHistory(session);
  const connection = useConnection();
  const asked = (useApprovals().data?.approvals ?? []).filter((each) => each.session === session);
  const { growing, setGrowing, told: announced, tell, seen } = useGrowing(session);
  const latest = !history.hasPreviousPage;
  const entries = useMemo(() => history.data?.pages.flatMap((_, place, all) => all.at(-1 - place)!.entries) ?? [], [history.data]);
  const messages = useMemo(() => history.data?.pages.flatMap((page) => page.messages) ?? [], [history.data]);
  const open = useTasks().data?.tasks.filter((each) => each.session === session) ?? [];
  const unreachable = !!history.error && !(history.error instanceof Problem) && connection.state === "lost";
  const isNew = history.error instanceof Problem && history.error.status === 404;

  const change = useCallback((key: string, with_: (one: Growing) => Partial<Growing>) => {
    setGrowing((all) => all.map((one) => (one.key === key ? { ...one, ...with_(one) } : one)));
  }, [setGrowing]);

  const hear = useCallback(
    (key: string) => (message: Message) => {
      const text = String(message.text ?? "");
      switch (message.type) {
        case "accepted":
          seen.add(String(message.id));
          return change(key, () => ({ id: String(message.id), trace: String(message.trace_id), steps: [] }));
        case "refused": // its text is in the composer again
          return setGrowing((all) => all.filter((one) => one.key !== key).map((one) => (one.replied && all.some((each) => each.key === key && each.replies === one.replied) ? { ...one, replied: undefined } : one)));
        case "delta":
          return change(key, (one) => (one.replied ? {} : { answer: (one.answer || (one.late ? "… " : "")) + text }));
        case "retracted":
          return change(key, () => ({ answer: "", late: false }));
        case "message": {
          const sent = message.message as SentMessageAnswer;
          return change(key, (one) => ({ sent: [...(one.sent ?? []).filter((each) => each.id !== sent.id), sent] }));
        }
        case "progress":
          if (message.what === "settled") return;
          return change(key, (one) => ({ steps: [...one.steps, [message.name, text].filter(Boolean).join(" ")].slice(-6) }));
        case "question":
          for (const each of ["approvals", "tasks"]) void client.invalidateQueries({ queryKey: [each] });
          return;
        case "result": {
          const error = message.error as { code: string; message: string } | undefined;
          const told = spoken(String(message.reply ?? error?.message ?? message.notice ?? ""));
          if (told) tell(told);
          void client.invalidateQueries({ queryKey: ["sessions"] });
          return void readAnew(client, ["history", session]).then(async () => {
            const shown = client.getQueryData<InfiniteData<HistoryAnswer>>(["history", session])?.pages[0];
            const kept = (typeof shown?.after === "number" ? await historyPart(session).catch(() => shown) : shown)?.entries ?? [];
            const reply = String(message.reply ?? "");
            // a message that joined another one's turn is in the history under that one's trace
            if (error) change(key, (one) => ({ problem: error.message, fault: error.code, over: true, ...(message.merged_into ? { trace: kept.findLast((each) => each.role === "user" && each.text === one.text)?.trace_id ?? one.trace } : {}) }));
            else if (reply && !kept.some((each) => each.role === "assistant" && each.text === reply)) change(key, () => ({ answer: reply, steps: [], over: true, aside: true }));
            else setGrowing((all) => all.filter((one) => one.key !== key));
          });
        }
        case "lost": // the answer arrives with the history after reconnecting
          return change(key, (one) => (one.id ? { cut: true, steps: [t("Connection lost. The answer appears once the connection is back.")] } : {}));
        case "error": {
          const error = message.error as { code: string; message: string };
          if (error.code === "not_found" && seen.has(key)) return setGrowing((all) => all.filter((one) => one.key !== key)); // not this login's
          if (error.code === "offline") return change(key, () => ({ cut: true }));
          return change(key, () => ({ problem: error.message, over: true }));
        }
      }
    },
    [change, client, seen, session, setGrowing, tell],
  );

  const [, go] = useLocation();
  const [forked, setForked] = useState("");
  const goTo = useCallback(
    (into: string, text = "", files: Draft["files"] = []) => {
      if (text) sessionStorage.setItem(`hob.send.${into}`, JSON.stringify({ text, files }));
      void client.invalidateQueries({ queryKey: ["sessions"] });
      go(`/chat?session=${encodeURIComponent(into)}`);
    },
    [client, go],
  );
  const fork = useCallback(async () => {
    try {
      goTo((await call("POST /api/v1/sessions/fork", { body: { session } })).session);
    } catch (error) {
      setForked(error instanceof Error ? error.message : String(error));
    }
  }, [goTo, session]);

  const send = useCallback(
    (draft: Draft) => {
      setForked("");
      if (draft.text === "/fork") return void fork(); // moves this page to the copy, and no other client
      if (/^\/private(\s|$)/.test(draft.text)) return goTo(`api:${PRIVATE}${randomKey().slice(0, 6)}`, draft.text.slice(8).trim());
      const one = { key: randomKey(), session, message: draft.text, ...(draft.files.length ? { attachments: draft.files.map(({ id, name, voice }) => ({ id, name, voice })) } : {}) };
      const asked = draft.text.startsWith("/") ? undefined : questionsIn(client.getQueryData<TasksAnswer>(["tasks"])?.tasks ?? []).find((each) => each.session === session);
      setGrowing((all) => [
        ...all.filter((one) => !one.over).map((one) => (asked && !one.replied && (one.id === asked.id || one.replies) ? { ...one, replied: asked, steps: [] } : one)),
        growingOf(one, asked),
      ]);
      outbox.send(one, hear(one.key));
    },
    [client, fork, goTo, hear, session, setGrowing],
  );

  useEffect(() => {
    const pending = outbox.pending(session);
    // one accepted since this was drawn had no listener: it is among the open tasks, or in the history
    setGrowing((all) => all.filter((one) => one.id || one.over || pending.some(({ key }) => key === one.key)));
    for (const { key } of pending) outbox.follow(key, hear(key));
  }, [hear, session, setGrowing]);

  const choose = useCallback((text: string) => send({ text, files: [] }), [send]);
  const isAsked = asked.length > 0;
  const press = useCallback((option: string) => choose(optionText(option, isAsked)), [choose, isAsked]);

  useOpen(session, growing, seen, (late) => {
    setGrowing((all) => [...all, ...late]);
    for (const one of late) live.ask({ type: "follow", id: one.id }, hear(one.key));
  });

  const edit = useCallback(
    async (entry: EntryAnswer, text: string, files?: Draft["files"]) => {
      let into = `${session}-${randomKey().slice(0, 6)}`; // before the first message there is nothing to fork
      try {
        into = (await call("POST /api/v1/sessions/fork", { body: { session, before: entry.n } })).session;
      } catch (error) {
        if (!(error instanceof Problem && error.status === 400)) return setForked(error instanceof Error ? error.message : String(error));
      }
      goTo(into, text, files);
    },
    [goTo, session],
  );
  useEffect(() => {
    const draft = sessionStorage.getItem(`hob.send.${session}`);
    if (!draft || connection.state !== "open") return;
    sessionStorage.removeItem(`hob.send.${session}`);
    send(JSON.parse(draft) as Draft);
  }, [connection.state, send, session]);

  // after reconnecting, follow pending messages again by id
  useEffect(() => {
    if (connection.state !== "open") return;
    for (const one of growing) {
      if (!one.cut || one.over) continue;
      change(one.key, () => ({ cut: false, answer: "", steps: [] }));
      live.ask({ type: "follow", id: one.id }, hear(one.key));
    }
  }, [connection.state, growing, change, hear]);

  const working = growing.filter((one) => !one.over);
  const active = working.findLast((one) => one.replies) ?? working.find((one) => !one.replied);
  const questions = questionsIn(open).filter((each) => !growing.some((one) => one.replied && one.replied.id === each.id && one.replied.updated === each.updated));
  const idle = !history.isFetchingNextPage && !history.isFetchingPreviousPage && !history.isError;
  const { box, atEnd, toEnd, hold } = useReader({
    latest, entries, changes: [entries, growing, asked.length, questions.length],
    older: () => { if (idle && history.hasNextPage) void history.fetchNextPage(); },
    newer: () => { if (idle && !latest) void history.fetchPreviousPage(); },
  });
  const toLatest = useCallback(async () => {
    if (!latest) {
      const page = await historyPart(session);
      await client.cancelQueries({ queryKey: ["history", session] });
      client.setQueryData<InfiniteData<HistoryAnswer, Place>>(["history", session], { pages: [page], pageParams: [{}] });
    }
    toEnd();
  }, [client, latest, session, toEnd]);
  const tasks = open.filter((each) => each.state !== "pending");
  const stop = () => { // queued messages continue, as after /stop
    for (const id of tasks.length ? tasks.map((each) => each.id) : [working[0]?.id]) if (id) live.ask({ type: "stop", id }, () => undefined);
  };
  const isKept = (one: Growing) => entries.some((each) => each.role === "assistant" && each.trace_id === one.trace && each.text === one.answer);
  const kept = useMemo(() => new Set(entries.filter((each) => each.role === "user").map((each) => each.trace_id)), [entries]);

  return (
    <Edit value={edit}>
      <div ref={box} className="relative min-h-0 flex-1 overflow-y-auto" data-testid="conversation" role="region" aria-label={t("Conversation")} tabIndex={0}>
        <h1 className="sr-only">{t("Conversation")} {session}</h1>
        <div className="mx-auto flex max-w-3xl flex-col gap-5 px-4 py-6">
          {(history.isPending || unreachable) && <Skeleton rows={3} className="h-16" />}
          {history.hasNextPage && <Button className="self-center" disabled={history.isFetchingNextPage} onClick={() => { hold(); void history.fetchNextPage(); }}>{t("Load earlier messages")}</Button>}
          {history.isError && !isNew && !unreachable && <Failure error={history.error} retry={() => void history.refetch()} />}
          {!history.isPending && !entries.length && !growing.length && (isNew || history.isSuccess) && (
            <Empty icon={Sparkles} title={t("What can Hob do for you?")}>
              {session.startsWith(`api:${PRIVATE}`) && <p>{t("Off the record: Hob remembers nothing from this conversation.")}</p>}
              {t("Ask a question, drop a file, or type / for commands. Hob asks before it does anything that can't be undone.")}
            </Empty>
          )}
          <Entries entries={latest && growing.some((one) => one.fault) && entries.at(-1)?.origin === "hob" ? entries.slice(0, -1) : entries} messages={messages} onChoose={press} latest={latest} />
          {!latest && <Button className="self-center" disabled={history.isFetchingPreviousPage} onClick={() => { hold(); void history.fetchPreviousPage(); }}>{t("Load later messages")}</Button>}
          {latest && growing.map((one) => (
            <div key={one.key} className="flex flex-col gap-5">
              {!(one.trace && kept.has(one.trace)) && <Mine text={one.text} files={one.files} />}
              {!one.id && !one.over && connection.state !== "open" && <p className="-mt-3 text-end text-xs text-muted">{t("Not confirmed yet. It is sent again once the connection is back.")}</p>}
              {one.steps.length > 0 && !one.over && !questions.length && (
                <p className="flex items-center gap-2 text-sm text-muted">
                  <Wrench size={14} aria-hidden /> {one.steps.at(-1)}
                </p>
              )}
              {one.sent?.filter((each) => !messages.some((kept) => kept.id === each.id)).map((each) => <Sent key={each.id} message={each} onChoose={press} />)}
              {one.answer && !isKept(one) && (one.over || working.findLast((each) => each.answer === one.answer) === one) && <Markdown text={one.answer} />}
              {one.replied && <Asked text={questionText(one.replied)} options={one.replied.choices} />}
              {one.aside && <p className="-mt-3 text-xs text-muted">{t("Only shown here, not part of the conversation.")}</p>}
              {one.id && !one.answer && !one.over && !one.replied && active !== one && (
                <p className="-mt-3 flex items-center justify-end gap-2 text-xs text-muted">
                  {t("queued")}
                  <button type="button" disabled={connection.state !== "open"} className="inline-flex items-center gap-1 hover:text-text disabled:opacity-45" onClick={() => {
                    live.ask({ type: "stop", id: one.id }, () => undefined);
                    setGrowing((all) => all.filter((each) => each.key !== one.key));
                  }}>
                    <X size={12} aria-hidden /> {t("Remove")}
                  </button>
                </p>
              )}
              {!one.answer && !one.over && !asked.length && !questions.length && active === one && (one.id || connection.state === "open") && <Thinking />}
              {one.problem && (one.fault ? <Unanswered id={one.id} code={one.fault} message={one.problem} onRetried={() => seen.delete(one.id)} /> : <Failure title={t("No answer.")} error={one.problem} />)}
            </div>
          ))}
          {latest && asked.length > 0 && <h2 className="sr-only">{t("Needs you")}</h2>}
          {latest && asked.map((each) => <ApprovalCard key={each.id} approval={each} />)}
          {latest && questions.map((each) => <QuestionCard key={`${each.id} ${each.updated}`} task={each} onAnswer={choose} />)}
          {forked && <Failure title={t("Not sent.")} error={forked} />}
        </div>
      </div>
      {!atEnd && (
        <div className="relative mx-auto">
          <Button icon={ArrowDown} onClick={() => void toLatest()} className="absolute bottom-2 -translate-x-1/2 whitespace-nowrap shadow-(--shadow)">{t("Jump to latest")}</Button>
        </div>
      )}
      <OpenedFile />
      <div className="sr-only" aria-live="polite"><p key={announced.count}>{announced.text}</p></div>
      {!may("chat") ? <p className="border-t border-line px-4 py-3 text-center text-sm text-muted">{t("Read-only access")}</p> : <Composer onSend={(draft) => { void toLatest().catch(() => undefined); send(draft); }} onStop={working.length ? stop : undefined} connected={connection.state === "open"} session={session}
        model={<><ModelChoice session={session} connected={connection.state === "open"} /><PermissionChoice session={session} connected={connection.state === "open"} /></>} />}
    </Edit>
  );
}

/** Follows unanswered messages of this conversation that another page sent, or this one before a reload. */
function useOpen(session: string, growing: Growing[], seen: Set<string>, onFound: (found: Growing[]) => void) {
  const connected = useConnection().state === "open";
  const tasks = useTasks().data?.tasks;
  const unnamed = growing.some((one) => !one.id && !one.over); // it may be one of them
  useEffect(() => {
    const found = (tasks ?? []).filter((each) => each.session === session && !seen.has(each.id));
    if (!connected || unnamed || !found.length) return;
    for (const each of found) seen.add(each.id);
    void call("GET /api/v1/timeline", { query: { session, kind: "inbound", limit: 100 } }).then(({ events }) => {
      const said = new Map(events.map((each) => [each.trace_id, each])); // a task holds only the beginning
      onFound(found.reverse().map((each) => ({
        key: each.id, id: each.id, trace: each.trace_id, text: said.get(each.trace_id)?.text ?? each.title, files: said.get(each.trace_id)?.files, answer: "", steps: [], problem: "", over: false, late: each.state === "running",
      })));
    });
  });
}

/** The text without Markdown syntax, for screen readers. */
const spoken = (text: string) => text.replace(/```\w*|[*_`#|]+/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");

function Thinking() {
  return (
    <p role="status" className="flex items-center gap-1.5 text-muted" aria-label={t("Hob is working on it")}>
      {[0, 1, 2].map((dot) => (
        <span key={dot} aria-hidden className="size-1.5 animate-pulse rounded-full bg-muted" style={{ animationDelay: `${dot * 160}ms` }} />
      ))}
    </p>
  );
}

/** Chooses the model of this conversation. */
function ModelChoice({ session, connected }: { session: string; connected: boolean }) {
  const client = useQueryClient();
  const models = useModels().data?.models ?? [];
  const chosen = useSessions().data?.sessions.find((each) => each.session === session)?.model ?? "";
  if (models.length < 2 && !chosen) return null;
  const choose = (name: string) =>
    live.ask({ type: "send", key: randomKey(), message: `/model ${name || "default"}`, session }, (message) => {
      if (message.type === "result") void client.invalidateQueries({ queryKey: ["sessions"] });
    });
  return (
    <select aria-label={t("Model")} title={t("Model")} value={chosen} disabled={!connected} onChange={(event) => choose(event.target.value)}
      className="h-9 max-w-40 rounded-md bg-transparent px-1.5 text-xs text-muted hover:bg-sunken">
      <option value="">{t("default model")}</option>
      {[...new Set([...models, ...(chosen ? [chosen] : [])])].map((each) => <option key={each} value={each}>{each}</option>)}
    </select>
  );
}

const LEVELS = ["read-only", "guarded", "workspace", "full"];

/** Chooses the permission mode of this conversation. */
function PermissionChoice({ session, connected }: { session: string; connected: boolean }) {
  const client = useQueryClient();
  const chosen = useSessions().data?.sessions.find((each) => each.session === session)?.permission ?? "";
  const [told, setTold] = useState("");
  const choose = (level: string) =>
    live.ask({ type: "send", key: randomKey(), message: `/permission ${level || "default"}`, session }, (message) => {
      if (message.type !== "result") return;
      setTold(String(message.reply ?? ""));
      void client.invalidateQueries({ queryKey: ["sessions"] });
    });
  return (
    <>
      <select aria-label={t("Permission mode")} title={told || t("Permission mode")} value={chosen} disabled={!connected} onChange={(event) => choose(event.target.value)}
        className="h-9 max-w-48 rounded-md bg-transparent px-1.5 text-xs text-muted hover:bg-sunken">
        <option value="">{t("default permissions")}</option>
        {LEVELS.map((each) => <option key={each} value={each}>{t(each)}</option>)}
      </select>
      {told && <span role="status" className="sr-only">{told}</span>}
    </>
  );
}

