import { useMutation, useQueryClient } from "@tanstack/react-query";
import { OctagonX, Play } from "lucide-react";
import { useState } from "react";
import { call } from "../api/client";
import { exact, t } from "../i18n";
import { Button } from "./basics";

/** Ends every turn that runs, waits or stands in a queue, and holds what Hob would do by itself; asks once. */
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
      {!sure ? t("Stop everything") : count ? t("Yes, stop all {count}", { count }) : t("Yes, hold what is self-made")}
    </Button>
  );
}

/** Says that everything self-made is held, with the way on. */
export function Held({ since }: { since: number }) {
  const client = useQueryClient();
  const lift = useMutation({
    mutationFn: () => call("POST /api/v1/resume"),
    onSettled: () => { for (const key of ["tasks", "status"]) void client.invalidateQueries({ queryKey: [key] }); },
  });
  return (
    <div role="status" className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line bg-warn-soft px-4 py-2 text-sm">
      <p className="min-w-0 flex-1"><strong className="text-warn">{t("Everything is stopped.")}</strong> {t("What Hob does by itself is held since {time}; what you write is answered.", { time: exact(since) })}</p>
      {lift.isError && <span role="alert" className="text-bad">{lift.error.message}</span>}
      <Button needs="admin" icon={Play} disabled={lift.isPending} onClick={() => lift.mutate()}>{t("Go on")}</Button>
    </div>
  );
}
