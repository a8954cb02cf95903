"""Settings of the log, of backups (how often, how many are kept) and of retention."""

from hob.core.settings import setting
from hob.core.values import dataclass

LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What Hob writes to `logs/hob.log` in its home. Changes apply while Hob runs (`hob secrets reload`)."""

    level: str = setting(
        "info", "How much is logged: error least, debug most. Only debug logs texts of messages.", one_of=LEVELS
    )
    format: str = setting("text", "Format of a line: plain text or JSON.", one_of=("text", "json"))
    file_bytes: int = setting(5_000_000, "Bytes after which a new file is started.", at_least=1_000)
    files: int = setting(5, "Number of full files to keep beside it.", at_least=0, at_most=1_000)


@dataclass(frozen=True, slots=True)
class BackupSettings:
    """The daily backup into `backups/` in the home. Changes apply while Hob runs (`hob secrets reload`)."""

    daily: bool = setting(True, "Make one every day; a missed one is made at the next start.")
    hour: int = setting(4, "The hour of the day from which it is made.", at_least=0, at_most=23)
    keep: int = setting(7, "Number of daily backups to keep.", at_least=1, at_most=1_000)


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How many days records are kept; 0: for ever. Changes apply while Hob runs (`hob secrets reload`).

    Conversations, their costs and all decisions are always kept; `hob erase` erases them.
    """

    details_days: int = setting(
        0,
        "Days to keep details of finished turns: the input and output of models and tools; 0: for ever.",
        at_least=0,
    )
    once_days: int = setting(
        7,
        "Days to keep requests of programs that named no conversation, with their answers; 0: for ever.",
        at_least=0,
    )
    blobs_days: int = setting(0, "Days to keep files of messages and long outputs; 0: for ever.", at_least=0)
    uploads_days: int = setting(1, "Days to keep uploaded files that no message used; 0: for ever.", at_least=0)
    logs_days: int = setting(30, "Days to keep full log files; 0: for ever.", at_least=0)
    snapshots_days: int = setting(
        0,
        "Days for which commands' changes to files can be undone, for at most 100 turns; 0: only that limit.",
        at_least=0,
    )
