import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { fetchFile } from "../../api/client";
import { t } from "../../i18n";
import { Dialog } from "../../parts/basics";

/** A picture of a message. It is fetched with the login, since an address alone opens nothing. */
export function Picture({ id, mediaType }: { id: string; mediaType: string }) {
  const [open, setOpen] = useState(false);
  const blob = useQuery({ queryKey: ["media", id], queryFn: () => fetchFile(id), gcTime: 60_000 }).data;
  const [url, setUrl] = useState("");
  useEffect(() => {
    if (!blob) return;
    const made = URL.createObjectURL(new Blob([blob], { type: mediaType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob, mediaType]);
  if (!url) return <div className="skeleton h-40 w-56" />;
  if (mediaType.startsWith("audio/")) return <audio controls src={url} />;
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
