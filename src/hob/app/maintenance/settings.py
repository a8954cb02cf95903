"""Settings of the log, of backups (how often, how many are kept) and of retention."""

from hob.core.settings import setting
from hob.core.values import dataclass

LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What Hob writes to `logs/hob.log` in its home. All of it may change at run time (SIGHUP)."""

    level: str = setting("info", "The least weight of what is written; no message's text from info up.", one_of=LEVELS)
    format: str = setting("text", "How a line is written.", one_of=("text", "json"))
    file_bytes: int = setting(5_000_000, "Bytes after which a new file is begun.", at_least=1_000)
    files: int = setting(5, "Full files that are kept beside it.", at_least=0, at_most=1_000)


@dataclass(frozen=True, slots=True)
class BackupSettings:
    """The daily backup into `backups/` in the home. All of it may change at run time (SIGHUP)."""

    daily: bool = setting(
        True, "Whether the daemon makes one every day; one that was missed is made at the next start."
    )
    hour: int = setting(4, "The hour of the day (local time) from which it is made.", at_least=0, at_most=23)
    keep: int = setting(7, "Daily backups that are kept.", at_least=1, at_most=1_000)


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """For how many days is kept what is only looked back at; 0 is for ever. All of it may change at run time (SIGHUP).

    What was said in conversations, what it cost and what was decided is always kept; `hob erase` forgets that.
    """

    details_days: int = setting(
        0, "Steps of turns that ended well: what models and tools were asked and gave; 0 keeps them.", at_least=0
    )
    once_days: int = setting(
        7, "What programs said without naming a conversation, and what they were answered.", at_least=0
    )
    blobs_days: int = setting(
        0, "Files of messages, and outputs too long for a conversation; 0 keeps them.", at_least=0
    )
    uploads_days: int = setting(1, "Files that were handed in and that no message has named.", at_least=0)
    logs_days: int = setting(30, "Full files of the log.", at_least=0)
    snapshots_days: int = setting(
        0, "What commands changed in files, for undoing; never more than 100 turns; 0 keeps those.", at_least=0
    )
