import { useQuery } from "@tanstack/react-query";
import { Check, CircleAlert, Undo2 } from "lucide-react";
import { call, may } from "../api/client";
import { useChange } from "../api/queries";
import { t } from "../i18n";
import { Button, Card, Skeleton, useSettled } from "./basics";
import { Diff } from "./diff";
import { Told } from "./told";

/** A changed identity file with its diff, to accept or restore. */
export function ChangedIdentity({ file }: { file: string }) {
  const files = useQuery({ queryKey: ["identity"], queryFn: () => call("GET /api/v1/identity"), enabled: may("admin") });
  const settle = useChange(["identity", "status"], ({ accept, hash }: { accept: boolean; hash: string }) =>
    call("POST /api/v1/identity/{id}", { path: { id: file }, body: { accept, hash } }));
  const found = files.data?.files.find((each) => each.name === file);
  const settled = useSettled(`${found?.hash}`);
  return (
    <Card className="overflow-hidden">
      <article aria-label={t("{file} was changed", { file })}>
        <h3 className="flex items-center gap-3 px-4 py-3">
          <CircleAlert size={18} className="shrink-0 text-warn" aria-hidden />
          {t("{file} was changed. Hob ignores it until you accept the change.", { file })}
        </h3>
        {files.isFetching && !found && <Skeleton rows={1} />}
        {found && !found.accepted && (
          <>
            {found.diff && <div className="max-h-96 overflow-y-auto border-t border-line"><Diff text={found.diff} whole /></div>}
            {found.problem && <p className="px-4 py-2 text-sm text-bad"><Told text={`${file} ${found.problem}`} /></p>}
            <div className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-3">
              {!found.problem && <Button look="main" icon={Check} data-act="allow" disabled={!settled || settle.isPending} onClick={() => settle.mutate({ accept: true, hash: found.hash })}>{t("Accept")}</Button>}
              {found.kept ? (
                <Button icon={Undo2} data-act="deny" disabled={settle.isPending} onClick={() => settle.mutate({ accept: false, hash: found.hash })}>{t("Restore the accepted version")}</Button>
              ) : (
                <span className="text-sm text-muted">{t("The previously accepted version is not available. This is the whole file.")}</span>
              )}
            </div>
          </>
        )}
        {settle.isError && <p role="alert" className="border-t border-line bg-bad-soft px-4 py-2 text-sm text-bad">{settle.error.message}</p>}
      </article>
    </Card>
  );
}
