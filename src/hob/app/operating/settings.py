"""What can be tuned about looking after a Hob that runs."""

from dataclasses import dataclass

from hob.core.settings import setting

LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What the daemon writes to `logs/hob.log` in its home. All of it may change at run time (SIGHUP)."""

    level: str = setting("info", "The least weight of what is written; no message's text from info up.", one_of=LEVELS)
    format: str = setting("text", "How a line is written.", one_of=("text", "json"))
    file_bytes: int = setting(5_000_000, "Bytes after which a new file is begun.", at_least=1_000)
    files: int = setting(5, "Full files that are kept beside it.", at_least=0, at_most=1_000)
