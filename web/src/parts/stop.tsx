import { useMutation, useQueryClient } from "@tanstack/react-query";
import { OctagonX, Play } from "lucide-react";
import { useState } from "react";
import { call } from "../api/client";
import { useChange } from "../api/queries";
import { moment, t } from "../i18n";
import { Button } from "./basics";

/** Stops running, waiting and queued turns and pauses Hob's own activity, after a confirmation. */
export function StopAll({ count }: { count: number }) {
  const client = useQueryClient();
  const [sure, setSure] = useState(false);
  const stop = useMutation({
    mutationFn: () => call("POST /api/v1/stop"),
    onSettled: () => {
      setSure(false);
      for (const key of ["tasks", "status", "approvals"]) void client.invalidateQueries({ queryKey: [key] });
    },
  });
  return (
    <Button needs="admin" look="danger" icon={OctagonX} disabled={stop.isPending} onBlur={() => setSure(false)} onClick={() => (sure ? stop.mutate() : setSure(true))}>
      {!sure ? t("Stop everything") : count ? t("Yes, stop all {count}", { count }) : t("Yes, pause Hob's own activity")}
    </Button>
  );
}

/** The banner while Hob's own activity is paused, with a button to resume. */
export function Held({ since }: { since: number }) {
  const lift = useChange(["tasks", "status"], () => call("POST /api/v1/resume"));
  return (
    <div role="status" className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line bg-warn-soft px-4 py-2 text-sm">
      <p className="min-w-0 flex-1"><strong className="text-warn">{t("Everything is paused.")}</strong> {t("Hob's own activity is paused since {time}. It still answers your messages.", { time: moment(since) })}</p>
      {lift.isError && <span role="alert" className="text-bad">{lift.error.message}</span>}
      <Button needs="admin" icon={Play} disabled={lift.isPending} onClick={() => lift.mutate()}>{t("Resume")}</Button>
    </div>
  );
}
