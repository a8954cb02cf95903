import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { fetchFile } from "../api/client";
import { t } from "../i18n";
import { Dialog } from "./basics";

/** A file of a message: a picture that opens large, sound with its controls, or a link. It is fetched with the login, since an address alone opens nothing. */
export function Media({ id }: { id: string }) {
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
  if (file.isError) return <p className="text-sm text-muted italic">{t("The file is not kept any more.")}</p>;
  if (!blob || !url) return <div className="skeleton h-14 w-56" />;
  if (blob.type.startsWith("audio/")) return <audio controls src={url} className="h-10 max-w-full" aria-label={t("Voice note")} />;
  if (!blob.type.startsWith("image/")) return <a href={url} download className="text-accent underline">{t("Save the file")}</a>;
  return (
    <>
      <button type="button" onClick={() => setOpen(true)} aria-label={t("Enlarge the picture")}>
        <img src={url} alt="" className="max-h-56 rounded-md" />
      </button>
      <Dialog open={open} onClose={() => setOpen(false)} title={t("Picture")} wide>
        <img src={url} alt="" className="mx-auto max-w-full" />
      </Dialog>
    </>
  );
}
