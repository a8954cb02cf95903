import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Undo2 } from "lucide-react";
import { useState, type ReactNode } from "react";
import { call, may } from "../api/client";
import { t, tn } from "../i18n";
import { Button, Card } from "./basics";
import { Diff, backwards, partOf } from "./diff";

/** The files that a turn changed, with their diff and undo. `onDone`: shown as a confirmation.
`path`: this file alone, with undo only if the turn changed no other. */
export function Changed({ turn, path, onDone }: { turn: string; path?: string; onDone?: () => void }) {
  const client = useQueryClient();
  const [sure, setSure] = useState(!!onDone);
  const preview = useQuery({
    queryKey: ["undo", turn],
    queryFn: () => call("POST /api/v1/undo", { body: { id: turn, preview: true } }),
    retry: false,
    enabled: may("admin"),
  });
  const undo = useMutation({
    mutationFn: () => call("POST /api/v1/undo", { body: { id: turn } }),
    onSuccess: onDone,
    onSettled: () => {
      setSure(!!onDone);
      for (const key of ["undo", "repo"]) void client.invalidateQueries({ queryKey: [key] });
    },
  });
  const told = preview.data;
  const diff = told?.diff && path !== undefined ? partOf(told.diff, path) : told?.diff;
  const count = told ? told.restored.length + told.kept.length : 0;
  if (path !== undefined && !diff) return null;
  if (!told || !(told.restored.length || told.kept.length)) {
    return onDone && !preview.isPending ? <p className="text-muted">{t("This turn changed no files that can be restored.")}</p> : null;
  }
  return (
    <Block title={onDone ? tn("{count} file would be restored", "{count} files would be restored", told.restored.length) : tn("{count} file was changed", "{count} files were changed", path === undefined ? count : 1)}>
      {diff && <Diff text={onDone ? diff : backwards(diff)} />}
      {(path === undefined || count === 1) && <div className="flex flex-wrap items-center gap-3 border-t border-line px-4 py-2.5">
        <span className="min-w-0 flex-1 text-sm text-muted">{onDone ? t("This is what undoing would change. Later changes are never overwritten.") : t("Undo restores the previous version. Later changes are never overwritten.")}</span>
        {undo.isError && <span role="alert" className="text-sm text-bad">{undo.error.message}</span>}
        <Button look="danger" icon={Undo2} data-act="undo" disabled={undo.isPending} onClick={() => (sure ? undo.mutate() : setSure(true))} autoFocus={!!onDone} onBlur={() => setSure(!!onDone)}>
          {sure ? t("Restore") : t("Undo")}
        </Button>
      </div>}
    </Block>
  );
}

/** A collapsible part of a page. */
export function Block({ title, children, folded }: { title: string; children: ReactNode; folded?: boolean }) {
  return (
    <details open={!folded}>
      <summary className="mb-1.5 text-sm font-semibold text-muted">{title}</summary>
      <Card className="overflow-hidden">{children}</Card>
    </details>
  );
}
