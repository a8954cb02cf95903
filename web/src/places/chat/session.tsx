import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Archive, ArchiveRestore, Check, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { call, may } from "../../api/client";
import { t } from "../../i18n";
import { Button } from "../../parts/basics";

/** Actions on the chosen conversation: rename, archive, delete. */
export function SessionActs({ session, title, archived, onGone }: { session: string; title: string; archived: boolean; onGone: () => void }) {
  const client = useQueryClient();
  const [renaming, setRenaming] = useState(false);
  const [text, setText] = useState(title);
  const [sure, setSure] = useState(false);
  const renew = () => { for (const key of ["sessions", "history"]) void client.invalidateQueries({ queryKey: [key] }); };
  const change = useMutation({
    mutationFn: (body: { title?: string; archived?: boolean }) => call("POST /api/v1/sessions/change", { body: { session, ...body } }),
    onSuccess: (_, body) => { setRenaming(false); renew(); if (body.archived) onGone(); },
  });
  const remove = useMutation({
    mutationFn: () => call("POST /api/v1/sessions/delete", { body: { session } }),
    onSuccess: () => { renew(); onGone(); },
    onError: () => setSure(false),
  });
  if (!may("admin")) return null;
  const failed = change.error ?? remove.error;
  return (
    <div className="flex flex-col gap-1 px-1 pb-1">
      {renaming ? (
        <form className="flex gap-1" onSubmit={(event) => { event.preventDefault(); change.mutate({ title: text.trim() }); }}>
          <input autoFocus aria-label={t("Title")} value={text} maxLength={120} onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => { if (event.key === "Escape") setRenaming(false); }}
            className="h-9 min-w-0 flex-1 rounded-md border border-line bg-surface px-2.5" />
          <Button type="submit" look="main" icon={Check} label={t("Save")} disabled={change.isPending} />
        </form>
      ) : (
        <div className="flex gap-1">
          <Button look="quiet" icon={Pencil} label={t("Rename")} onClick={() => { setText(title); setRenaming(true); }} />
          <Button look="quiet" icon={archived ? ArchiveRestore : Archive} label={archived ? t("Unarchive") : t("Archive")}
            disabled={change.isPending} onClick={() => change.mutate({ archived: !archived })} />
          <Button look={sure ? "danger" : "quiet"} icon={Trash2} label={sure ? undefined : t("Delete")} disabled={remove.isPending} onBlur={() => setSure(false)}
            onClick={() => (sure ? remove.mutate() : setSure(true))}>
            {sure && t("Delete permanently")}
          </Button>
        </div>
      )}
      {failed && <p role="alert" className="text-sm text-bad">{failed.message}</p>}
    </div>
  );
}
