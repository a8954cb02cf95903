"""A memory layer: the lines of a file are remembered for a month, shown in their own colour."""

from dataclasses import dataclass
from pathlib import Path

from hob.core.settings import setting
from hob.plugin import Lazy, MemoryLayer, Open, Subsystem


@dataclass(frozen=True)
class LogbookSettings:
    """`[logbook]` in config.toml."""

    file: Path = setting(Path("~/logbook.txt"), "The file, one entry on a line.")


@Lazy
def _open() -> Open:
    from hob_logbook.keeping import open_logbook

    return open_logbook


LOGBOOK = Subsystem(
    name="logbook",
    settings={"logbook": LogbookSettings},
    layers=(MemoryLayer("logbook", "entries of the logbook", days=30, colour="#84cc16"),),
    open=_open,
)
