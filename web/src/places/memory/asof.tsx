import { X } from "lucide-react";
import { t } from "../../i18n";
import { Button } from "../../parts/basics";

/** Chooses the day as of which memory is shown; none for now. */
export function AsOf({ day, onChoose }: { day: string; onChoose: (day: string) => void }) {
  return (
    <>
      <label className="flex items-center gap-2 text-sm text-muted">
        {t("As of")}
        <input type="date" value={day} max={new Date().toLocaleDateString("sv")} onChange={(event) => onChoose(event.target.value)}
          className="h-9 rounded-md border border-line bg-surface px-2 text-text" />
      </label>
      {day && <Button look="quiet" icon={X} onClick={() => onChoose("")}>{t("Show current")}</Button>}
    </>
  );
}
