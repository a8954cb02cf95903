"""Maintenance: the daily backup and retention."""

from hob.app.maintenance.settings import BackupSettings, LogSettings, RetentionSettings
from hob.app.plugins import MANIFESTS
from hob.app.subsystem import KeptFiles, Open, Subsystem
from hob.app.tools.undo_port import UndoneFiles
from hob.core.lazy import Lazy


@Lazy
def _open() -> Open:
    from hob.app.maintenance.upkeep import open_maintenance

    return open_maintenance


MAINTENANCE = Subsystem(
    name="maintenance",
    settings={"logs": LogSettings, "backups": BackupSettings, "retention": RetentionSettings},
    needs=(UndoneFiles,),
    one_shot=True,
    files=(
        KeptFiles("backups", "the daily backups"),
        KeptFiles("logs", "the log"),
        KeptFiles(MANIFESTS, "which plug-ins are on, and what was confirmed of them", in_backups=True),
    ),
    open=_open,
)
