import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/client";
import { t, tn } from "../../i18n";
import { Button, Dialog, Failure, Skeleton } from "../../parts/basics";

/** What would go, where copies remain; then it goes. */
export function Forget({ what, onClose }: { what: { id?: string; layer?: string }; onClose: () => void }) {
  const client = useQueryClient();
  const [said, setSaid] = useState(false);
  const preview = useQuery({
    queryKey: ["forget", what, said],
    queryFn: () => call("POST /api/v1/memory/forget", { body: { ...what, said, preview: true } }),
    gcTime: 0,
  });
  const forget = useMutation({
    mutationFn: () => call("POST /api/v1/memory/forget", { body: { ...what, said, preview: false } }),
    onSuccess: () => {
      onClose();
      void client.invalidateQueries({ queryKey: ["memory"] });
    },
  });
  const told = preview.data;
  return (
    <Dialog open onClose={onClose} title={t("Forget for ever?")}>
      {preview.isError ? (
        <Failure error={preview.error} />
      ) : !told ? (
        <Skeleton rows={2} />
      ) : (
        <div className="flex flex-col gap-3">
          <p>{tn("{count} memory goes, and all that was made of it.", "{count} memories go, and all that was made of them.", told.items.length)}</p>
          <ul className="max-h-48 overflow-y-auto rounded-md bg-sunken px-3 py-2 text-sm">
            {told.items.slice(0, 50).map((each) => <li key={each.id} dir="auto" className="truncate py-0.5">{each.text}</li>)}
          </ul>
          <label className="flex items-start gap-2">
            <input type="checkbox" checked={said} onChange={(event) => setSaid(event.target.checked)} className="mt-1 size-4 accent-(--accent)" />
            <span>{t("The conversation too in which it was said")}{said && told.turns.length > 0 && ` (${told.turns.length})`}</span>
          </label>
          {told.backups.length > 0 && (
            <p className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
              {t("Copies remain in {count} backups until newer ones take their place.", { count: told.backups.length })}
            </p>
          )}
          {forget.isError && <Failure error={forget.error} />}
          <div className="flex justify-end gap-2">
            <Button onClick={onClose}>{t("Keep it")}</Button>
            <Button look="danger" icon={Trash2} disabled={!told.items.length || forget.isPending} onClick={() => forget.mutate()}>{t("Forget")}</Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
