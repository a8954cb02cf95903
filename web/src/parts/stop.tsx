import { useMutation, useQueryClient } from "@tanstack/react-query";
import { OctagonX } from "lucide-react";
import { useState } from "react";
import { call } from "../api/client";
import { t } from "../i18n";
import { Button } from "./basics";

/** Ends every turn that runs, waits or stands in a queue; asks once. */
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
    <Button look="danger" icon={OctagonX} disabled={stop.isPending} onBlur={() => setSure(false)} onClick={() => (sure ? stop.mutate() : setSure(true))}>
      {sure ? t("Yes, stop all {count}", { count }) : t("Stop everything")}
    </Button>
  );
}
