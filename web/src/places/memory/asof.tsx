import { X } from "lucide-react";
import { t } from "../../i18n";
import { Button } from "../../parts/basics";

/** A day in the past as which memory is looked at; without one it is now. */
export function AsOf({ day, onChoose }: { day: string; onChoose: (day: string) => void }) {
  return (
    <>
      <label className="flex items-center gap-2 text-sm text-muted">
        {t("As of")}
        <input type="date" value={day} max={new Date().toLocaleDateString("sv")} onChange={(event) => onChoose(event.target.value)}
          className="h-9 rounded-md border border-line bg-surface px-2 text-text" />
      </label>
      {day && <Button look="quiet" icon={X} onClick={() => onChoose("")}>{t("Back to now")}</Button>}
    </>
  );
}
