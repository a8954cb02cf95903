import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
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

/** A document by its name, which opens it: text, Markdown or JSON; other kinds can only be saved. */
export function Document({ id, name }: { id: string; name: string }) {
  const [open, setOpen] = useState(false);
  const file = useQuery({ queryKey: ["document", id], queryFn: () => contentOf(id), gcTime: 60_000, retry: false, enabled: open });
  const [url, setUrl] = useState("");
  const blob = open ? file.data?.blob : undefined;
  useEffect(() => {
    if (!blob) return;
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)} className="max-w-full truncate text-accent underline"><bdi>{name}</bdi></button>
      <Dialog open={open} onClose={() => setOpen(false)} title={name} wide>
        {file.isError ? <p className="text-muted italic">{t("This file is no longer stored.")}</p> : !file.data ? <div className="skeleton h-40" /> : (
          <>
            {file.data.text === null ? <p className="text-muted">{t("This file has no preview. Save it to open it.")}</p> : <Shown name={name} text={file.data.text} />}
            {url && <a href={url} download={name} className="mt-3 inline-block text-accent underline">{t("Save {name}", { name })}</a>}
          </>
        )}
      </Dialog>
    </>
  );
}

async function contentOf(id: string): Promise<{ blob: Blob; text: string | null }> {
  const blob = await fetchFile(id);
  return { blob, text: blob.type.startsWith("text/plain") && blob.size <= LARGEST ? await blob.text() : null };
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
  const [open, setOpen] = useState(false);
  const file = useQuery({ queryKey: ["media", id], queryFn: () => fetchFile(id), gcTime: 60_000, retry: false });
  const blob = file.data;
  const [url, setUrl] = useState("");
  useEffect(() => {
    if (!blob) return;
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  if (file.isError) return <p className="text-sm text-muted italic">{t("This file is no longer stored.")}</p>;
  if (!blob || !url) return <div className="skeleton h-14 w-56" />;
  if (blob.type.startsWith("audio/")) return <audio controls src={url} className="h-10 max-w-full" aria-label={t("Voice note")} />;
  if (!blob.type.startsWith("image/")) return <a href={url} download={name} className="max-w-full truncate text-accent underline">{name ? t("Save {name}", { name }) : t("Download")}</a>;
  return (
    <>
      <button type="button" onClick={() => setOpen(true)} aria-label={t("Enlarge image")} title={name}>
        <img src={url} alt={name} className={`rounded-md ${small ? "max-h-24" : "max-h-56"}`} />
      </button>
      <Dialog open={open} onClose={() => setOpen(false)} title={t("Image")} wide>
        <img src={url} alt="" className="mx-auto max-w-full" />
      </Dialog>
    </>
  );
}
