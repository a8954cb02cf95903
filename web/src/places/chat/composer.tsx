import { ArrowUp, Mic, Paperclip, Square, X } from "lucide-react";
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { call } from "../../api/client";
import { keep, outbox } from "../../api/outbox";
import { useOffline } from "../../api/queries";
import { t } from "../../i18n";
import { Button } from "../../parts/basics";
import { COMMANDS } from "../../parts/commands";
import { useDraft, useDraftFiles, type Attached } from "./drafts";

const LARGEST = 25_000_000;

export type Draft = { text: string; files: Attached[] };

/** Thumbnails of this page's files. */
const pictures = new Map<string, string>();

/** Whether the keyboard is on the screen, where Enter is the only way to a line break. */
const isTouch = () => matchMedia("(pointer: coarse)").matches;

/** Enter sends, Shift+Enter inserts a line break; on touch devices Enter does. */
export const sends = (event: KeyboardEvent) => event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing && !isTouch();

/** A longer pasted text is attached as a file, in characters: an input of this size answers slowly. */
const LONGEST_PASTE = 50_000;

/** The message input. Files come by drop, paste or picker. Drafts are kept. */
export function Composer({ onSend, onStop, connected, session, model }: {
  onSend: (draft: Draft) => void; onStop?: () => void; connected: boolean; session: string; model?: ReactNode;
}) {
  const kept = `hob.draft.${session}`;
  const [text, setText] = useDraft(kept, () => box.current?.focus());
  const [files, setFiles] = useDraftFiles(session);
  const [problems, setProblems] = useState<string[]>([]);
  const offline = useOffline();
  const [busy, setBusy] = useState(0);
  const box = useRef<HTMLTextAreaElement>(null);
  const choose = useRef<HTMLInputElement>(null);

  useEffect(() => {
    keep(kept, text);
    const element = box.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, 240)}px`;
  }, [text, kept]);

  useEffect(() => outbox.onRefused(session, ({ message, attachments, problem }) => {
    setText((typed) => [message, typed].filter(Boolean).join("\n\n"));
    setFiles((all) => [...(attachments ?? []), ...all]);
    setProblems([t("Not sent. {reason}", { reason: problem! })]);
  }), [session, setFiles]);

  async function take(given: Iterable<File>, voice = false) {
    const some = [...given];
    setBusy((count) => count + some.length);
    setProblems([]);
    for (const file of some) {
      try {
        if (file.size > LARGEST) throw new Error(t("it is too large. The limit is {size} MB per file.", { size: LARGEST / 1_000_000 }));
        if (!file.size) throw new Error(t("it is empty"));
        await file.slice(0, 1).arrayBuffer().catch(() => { throw new Error(t("it can't be read")); }); // a folder, or no longer there
        const { id } = await call("POST /api/v1/attachments", { body: file });
        if (file.type.startsWith("image/")) pictures.set(id, URL.createObjectURL(file));
        setFiles((all) => [...all, { id, name: file.name.slice(0, 200) || "file", voice }]);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        setProblems((all) => [...all, t("{name} was not attached: {reason}", { name: file.name, reason })]);
      }
      setBusy((count) => count - 1);
    }
  }

  function send() {
    if (busy || !(text.trim() || files.length)) return;
    if (offline) return;
    onSend({ text: text.trim(), files });
    setText("");
    setFiles(() => []);
    setProblems([]);
    box.current?.focus();
  }

  const word = text.split(/\s/)[0]!;
  const typed = text.startsWith("/") && !text.includes("\n");
  const commands = !typed ? [] : COMMANDS.filter(([usage]) => (text.includes(" ") ? usage.split(" ")[0] === word : usage.startsWith(word)));
  const [picked, setPicked] = useState(0);
  const offered = text.includes(" ") ? [] : commands; // once the command is complete, only its help stays
  const at = Math.min(picked, offered.length - 1);
  const complete = (usage: string) => {
    setText(`${usage.split(" ")[0]} `);
    setPicked(0);
    box.current?.focus();
  };
  return (
    <form
      className="mx-auto w-full max-w-3xl px-3 pb-3 sm:px-4"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void take(event.dataTransfer.files);
      }}
    >
      {commands.length > 0 && (
        <ul id="slash-commands" role="listbox" aria-label={t("Commands")} className="mb-2 max-h-56 overflow-y-auto rounded-md border border-line bg-surface p-1">
          {commands.map(([usage, what], place) => {
            const [name, ...more] = usage.split(" ");
            return (
              <li key={usage} id={`command-${place}`} role="option" aria-selected={place === at} onMouseDown={(event) => { event.preventDefault(); complete(usage); }}
                ref={place === at ? (element) => element?.scrollIntoView({ block: "nearest" }) : undefined}
                className={`flex w-full cursor-pointer flex-wrap gap-x-3 rounded-md px-3 py-1.5 ${place === at ? "bg-accent-soft" : "hover:bg-sunken"}`}>
                <code className="font-mono whitespace-nowrap text-accent">{name} <span className="text-muted">{more.join(" ")}</span></code>
                <span className="text-muted">{t(what)}</span>
              </li>
            );
          })}
        </ul>
      )}
      <div className="rounded-xl border border-line bg-surface has-[textarea:focus]:border-accent has-[textarea:focus]:ring-1 has-[textarea:focus]:ring-accent">
        {files.length > 0 && (
          <ul className="flex flex-wrap gap-2 px-3 pt-3">
            {files.map((file) => (
              <li key={file.id} className="flex items-center gap-1 rounded-full bg-sunken ps-3 text-sm">
                {pictures.has(file.id) && <img src={pictures.get(file.id)} alt="" className="-ms-2 size-8 rounded-full object-cover" />}
                <span className="max-w-48 truncate">{file.name}</span>
                <Button look="quiet" icon={X} label={t("Remove {name}", { name: file.name })} className="min-h-8 px-2"
                  onClick={() => setFiles((all) => all.filter((each) => each !== file))} />
              </li>
            ))}
          </ul>
        )}
        <textarea
          ref={box}
          rows={1}
          value={text}
          dir="auto"
          aria-label={t("Message to Hob")}
          placeholder={offline ? t("Offline. Your draft is kept but not sent.") : t("Message to Hob")}
          onChange={(event) => setText(event.target.value)}
          role="combobox"
          aria-expanded={offered.length > 0}
          aria-controls="slash-commands"
          aria-autocomplete="list"
          aria-activedescendant={offered.length ? `command-${at}` : undefined}
          onKeyDown={(event) => {
            if (offered.length && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
              event.preventDefault();
              setPicked((at + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length);
            } else if (offered.length && event.key === "Tab" && !event.shiftKey) {
              event.preventDefault();
              complete(offered[at]![0]);
            } else if (event.key === "Enter" && offered.length && offered[at]![0].split(" ")[0] !== word && !event.nativeEvent.isComposing) {
              event.preventDefault();
              complete(offered[at]![0]);
            } else if (sends(event)) {
              event.preventDefault();
              send();
            }
          }}
          onPaste={(event) => {
            const pasted = event.clipboardData.getData("text/plain");
            const given = event.clipboardData.files.length || pasted.length <= LONGEST_PASTE ? event.clipboardData.files : [new File([pasted], t("pasted text.txt"), { type: "text/plain" })];
            if (!given.length) return;
            event.preventDefault();
            void take(given);
          }}
          className="block max-h-60 w-full resize-none bg-transparent px-4 pt-3 pb-1 text-lg leading-6 outline-none! placeholder:text-muted"
        />
        {[...problems, ...(offline && text ? [t("Offline. Your draft is kept but not sent.")] : [])].map((each) => <p key={each} role="alert" className="px-4 pb-1 text-sm break-words text-bad">{each}</p>)}
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1 px-2 pb-2">
          <input ref={choose} type="file" multiple hidden onChange={(event) => void take(event.target.files ?? [])} />
          <Button look="quiet" icon={Paperclip} label={t("Add files")} className="px-2" disabled={!connected} onClick={() => choose.current?.click()} />
          <Voice disabled={!connected} onRecorded={(file) => void take([file], true)} onProblem={(problem) => setProblems([problem])} />
          {model}
          <span className="ms-auto flex items-center gap-2">
          <span className="hidden text-xs text-muted sm:inline pointer-coarse:hidden">{t("Shift+Enter for a new line")}</span>
          {onStop && <Button icon={Square} data-act="stop" disabled={!connected} onClick={onStop}>{t("Stop")}</Button>}
          <Button type="submit" look="main" icon={ArrowUp} label={t("Send")} className="px-2.5" disabled={offline || !!busy || !(text.trim() || files.length)} />
          </span>
        </div>
      </div>
    </form>
  );
}

/** A press this long records while it lasts; a shorter one starts, and the next press stops. */
const HOLD_MS = 500;

/** Records a voice note: hold, or press to start and to stop. Browsers allow it only over HTTPS and on this machine. */
function Voice({ disabled, onRecorded, onProblem }: { disabled: boolean; onRecorded: (file: File) => void; onProblem: (text: string) => void }) {
  const recorder = useRef<MediaRecorder | null>(null);
  const asked = useRef({ pending: false, wanted: false }); // for the microphone: the browser may first ask the owner
  const press = useRef({ at: 0, handled: false });
  const [since, setSince] = useState(0);
  const end = () => {
    asked.current.wanted = false;
    recorder.current?.stop();
  };
  useEffect(() => end, []);
  if (!isSecureContext || !navigator.mediaDevices || typeof MediaRecorder === "undefined") return null;
  async function begin() {
    if (recorder.current) return;
    asked.current.wanted = true;
    if (asked.current.pending) return;
    asked.current.pending = true;
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      if (!asked.current.wanted) return stream.getTracks().forEach((track) => track.stop());
      const made = new MediaRecorder(stream);
      const pieces: Blob[] = [];
      made.ondataavailable = (event) => pieces.push(event.data);
      made.onstop = () => {
        stream.getTracks().forEach((track) => track.stop());
        recorder.current = null;
        setSince(0);
        const kind = made.mimeType.split(";")[0] || "audio/webm";
        if (pieces.length) onRecorded(new File(pieces, `voice.${kind.split("/")[1] ?? "webm"}`, { type: kind }));
      };
      made.start();
      recorder.current = made;
      setSince(Date.now());
    } catch {
      onProblem(t("The microphone is blocked. Allow it in the browser's settings for this page."));
    } finally {
      asked.current.pending = false;
    }
  }
  return (
    <Button look={since ? "danger" : "quiet"} icon={since ? Square : Mic} label={since ? t("Finish voice note") : t("Record voice note")}
      aria-pressed={!!since} className={`touch-none px-2 select-none ${since ? "animate-pulse" : ""}`} disabled={disabled && !since}
      onContextMenu={(event) => event.preventDefault()} // of a long touch
      onPointerDown={(event) => {
        if (event.button) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        press.current = { at: since ? 0 : Date.now(), handled: true };
        if (!since) void begin();
      }}
      onPointerUp={() => { if (Date.now() - press.current.at >= HOLD_MS) end(); }}
      onPointerCancel={end}
      onClick={() => { // of a key or a screen reader, unless it ends a press
        if (!press.current.handled) since ? end() : void begin();
        press.current.handled = false;
      }} />
  );
}
