import { useQuery } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { fetchFile } from "../api/client";
import type { EventFileAnswer } from "../api/schema";
import { t } from "../i18n";
import { Dialog } from "./basics";
import { Markdown } from "./markdown";

/** The files of a message; images as thumbnails. */
export function Files({ files }: { files: EventFileAnswer[] }) {
  if (!files.length) return null;
  return (
    <div className="mb-1 flex flex-wrap items-center gap-2">
      {files.map((each) => isHeardOrSeen(each) ? <Media key={each.id} id={each.id} name={each.name} small={files.length > 1} /> : <Document key={each.id} id={each.id} name={each.name} />)}
    </div>
  );
}

const isHeardOrSeen = (file: EventFileAnswer) => /^(image|audio)\//.test(file.media_type) || !file.name;

/** The largest text that is shown, in bytes. */
const LARGEST = 500_000;

const useFile = (id: string) => useQuery({ queryKey: ["media", id], queryFn: () => fetchFile(id), gcTime: 60_000, retry: false });

/** A document by its name, which opens it: text, Markdown, JSON or PDF; other kinds can only be saved. */
export function Document({ id, name }: { id: string; name: string }) {
  return <button type="button" onClick={() => openFile({ id, name })} className="max-w-full truncate text-accent underline"><bdi>{name}</bdi></button>;
}

let opened: { id: string; name: string } | null = null;
const watching = new Set<() => void>();

function openFile(file: typeof opened) {
  opened = file;
  watching.forEach((each) => each());
}

const watch = (listener: () => void) => {
  watching.add(listener);
  return () => void watching.delete(listener);
};

/** The dialog of the file that was opened, once in each place: messages are drawn anew when their turn ends or they leave a list. */
export function OpenedFile() {
  const file = useSyncExternalStore(watch, () => opened);
  useEffect(() => () => openFile(null), []);
  return file && <FileDialog key={file.id} {...file} />;
}

function FileDialog({ id, name }: { id: string; name: string }) {
  const file = useFile(id);
  return (
    <Dialog open onClose={() => openFile(null)} title={name || t("Image")} wide>
      {file.isError ? <p className="text-muted italic">{t("This file is no longer stored.")}</p> : !file.data ? <div className="skeleton h-40" /> : <Preview blob={file.data} name={name} />}
    </Dialog>
  );
}

/** A file as far as a browser shows it, and a link that saves it. */
export function Preview({ blob, name }: { blob: Blob; name: string }) {
  const [text, setText] = useState<string | null>(null);
  const [kind, setKind] = useState("");
  useEffect(() => {
    void kindOf(blob).then(setKind);
    if (blob.type.startsWith("text/plain") && blob.size <= LARGEST) void blob.text().then(setText);
  }, [blob]);
  const url = useUrl(blob, kind);
  if (!url) return <div className="skeleton h-40" />;
  return (
    <>
      {text !== null ? <Shown name={name} text={text} />
        : kind.startsWith("image/") ? <img src={url} alt={name} className="mx-auto max-w-full" />
        : kind.startsWith("audio/") ? <audio controls src={url} className="w-full" aria-label={name} />
        : kind === PDF && navigator.pdfViewerEnabled ? <iframe src={`${url}#navpanes=0`} title={name} className="h-[65dvh] w-full rounded-md border border-line" />
        : <p className="text-muted">{t("This file has no preview. Save it to open it.")}</p>}
      <a href={url} download={name} className="mt-3 inline-block text-accent underline">{name ? t("Save {name}", { name }) : t("Download")}</a>
    </>
  );
}

const PDF = "application/pdf";

/** PDFs are recognised here, since Hob serves as plain bytes what a browser could run. */
async function kindOf(blob: Blob): Promise<string> {
  return (await blob.slice(0, 5).text()) === "%PDF-" ? PDF : blob.type;
}

/** The URL of a file of this type while it is shown; empty before. */
function useUrl(blob: Blob | undefined, kind: string): string {
  const [url, setUrl] = useState("");
  useEffect(() => {
    if (!blob || !kind) return;
    const made = URL.createObjectURL(blob.slice(0, blob.size, kind));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob, kind]);
  return url;
}

function Shown({ name, text }: { name: string; text: string }) {
  if (/\.(md|markdown)$/i.test(name)) return <div tabIndex={0}><Markdown text={text} /></div>;
  return <pre dir="auto" tabIndex={0} className="max-h-[60vh] overflow-auto rounded-md bg-sunken p-3 font-mono text-sm whitespace-pre-wrap break-words">{/\.json$/i.test(name) ? indented(text) : text}</pre>;
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** A file of a message: an image that enlarges, an audio player, or a link. It is fetched with the login, since its URL alone is not enough. */
export function Media({ id, name = "", small }: { id: string; name?: string; small?: boolean }) {
  const file = useFile(id);
  const blob = file.data;
  const url = useUrl(blob, blob?.type ?? "");
  if (file.isError) return <p className="text-sm text-muted italic">{t("This file is no longer stored.")}</p>;
  if (!blob || !url) return <div className="skeleton h-14 w-56" />;
  if (blob.type.startsWith("audio/")) return <audio controls src={url} className="h-10 max-w-full" aria-label={t("Voice note")} />;
  if (!blob.type.startsWith("image/")) return <a href={url} download={name} className="max-w-full truncate text-accent underline">{name ? t("Save {name}", { name }) : t("Download")}</a>;
  return (
    <button type="button" onClick={() => openFile({ id, name })} aria-label={t("Enlarge image")} title={name}>
      <img src={url} alt={name} className={`rounded-md ${small ? "max-h-24" : "max-h-56"}`} />
    </button>
  );
}
