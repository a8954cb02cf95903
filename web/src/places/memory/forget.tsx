import { useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/client";
import { useChange } from "../../api/queries";
import { t, tn } from "../../i18n";
import { Button, Dialog, Failure, Skeleton } from "../../parts/basics";

/** Previews what would be forgotten and where copies remain, then forgets. */
export function Forget({ what, onClose }: { what: { id?: string; layer?: string }; onClose: () => void }) {
  const [said, setSaid] = useState(false);
  const preview = useQuery({
    queryKey: ["forget", what, said],
    queryFn: () => call("POST /api/v1/memory/forget", { body: { ...what, said, preview: true } }),
    gcTime: 0,
  });
  const forget = useChange(["memory"], () => call("POST /api/v1/memory/forget", { body: { ...what, said, preview: false } }), onClose);
  const told = preview.data;
  return (
    <Dialog open onClose={onClose} title={t("Forget permanently?")}>
      {preview.isError ? (
        <Failure error={preview.error} />
      ) : !told ? (
        <Skeleton rows={2} />
      ) : (
        <div className="flex flex-col gap-3">
          <p>{tn("{count} memory will be deleted, along with everything derived from it.", "{count} memories will be deleted, along with everything derived from them.", told.count)}</p>
          <ul className="max-h-48 overflow-y-auto rounded-md bg-sunken px-3 py-2 text-sm">
            {told.items.slice(0, 50).map((each) => <li key={each.id} dir="auto" className="truncate py-0.5">{each.text}</li>)}
          </ul>
          <label className="flex items-start gap-2">
            <input type="checkbox" checked={said} onChange={(event) => setSaid(event.target.checked)} className="mt-1 size-4 accent-(--accent)" />
            <span>{t("Also erase the source conversation")}{said && told.turns.length > 0 && ` (${told.turns.length})`}</span>
          </label>
          {told.backups.length > 0 && (
            <p className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
              {t("Copies remain in {count} backups until those are rotated out.", { count: told.backups.length })}
            </p>
          )}
          {forget.isError && <Failure error={forget.error} />}
          <div className="flex justify-end gap-2">
            <Button onClick={onClose}>{t("Cancel")}</Button>
            <Button look="danger" icon={Trash2} disabled={!told.items.length || forget.isPending} onClick={() => forget.mutate()}>{t("Forget")}</Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
