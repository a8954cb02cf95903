import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { fetchFile } from "../api/client";
import type { EventFileAnswer } from "../api/schema";
import { t } from "../i18n";
import { Dialog } from "./basics";

/** The files of a message; images as thumbnails. */
export function Files({ files }: { files: EventFileAnswer[] }) {
  if (!files.length) return null;
  return <div className="mb-1 flex flex-wrap items-center gap-2">{files.map((each) => <Media key={each.id} id={each.id} name={each.name} small={files.length > 1} />)}</div>;
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
