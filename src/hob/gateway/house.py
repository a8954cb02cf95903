"""How Hob's house is, for its owner: the port behind the routes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol


class LogFilter(NamedTuple):
    """Which lines of the log: at least that weighty, with this text, of this trace; the newest `limit`."""

    level: str = "info"
    text: str = ""
    trace: str = ""
    limit: int = 200


class House(Protocol):
    """Looks at log, health, channels and plug-ins; changes nothing."""

    async def logs(self, wanted: LogFilter) -> Sequence[Mapping[str, Any]]:
        """Lines of the log, the newest last."""

    async def examine(self, *, online: bool) -> Mapping[str, Any]:
        """What `hob doctor` finds; with `online` it asks models and other servers too."""

    async def channels(self) -> Sequence[Mapping[str, Any]]:
        """The channels that run, and what each still owes."""

    async def plugins(self) -> Sequence[Mapping[str, Any]]:
        """The plug-ins that are installed here."""


class HouseAtHand(NamedTuple):
    """Leads to it; loaded when somebody looks."""

    get: Callable[[], House]
