"""Settings of the database: reader threads, lock timeouts, writes per commit, backups before upgrades."""

from hob.core.settings import setting
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How the database file is written and read."""

    readers: int = setting(2, "Threads that read the database.", at_least=1, at_most=16)
    busy_seconds: float = setting(5.0, "Seconds to wait for another process's lock on the file.", at_least=0)
    group: int = setting(256, "Maximum changes written to disk together.", at_least=1)
    upgrade_backups: int = setting(2, "How many backups made before upgrades are kept.", at_least=1, at_most=50)
