"""Delivery: messages in, one turn per session at a time, replies out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names are loaded when first used, so that the settings cost no store
    from hob.bus.accept import Acceptor as Acceptor
    from hob.bus.accept import Questions as Questions
    from hob.bus.bus import Bus as Bus
    from hob.bus.bus import run_bus as run_bus
    from hob.bus.courier import Courier as Courier
    from hob.bus.directory import ChannelDirectory as ChannelDirectory
    from hob.bus.lanes import Lanes as Lanes
    from hob.bus.notices import Hub as Hub
    from hob.bus.notices import Subscription as Subscription
    from hob.bus.performing import BusContext as BusContext
    from hob.bus.settings import BusSettings as BusSettings
    from hob.bus.signals import Signal as Signal

_HOMES = {
    "accept": ("Acceptor", "Questions"),
    "bus": ("Bus", "run_bus"),
    "courier": ("Courier",),
    "directory": ("ChannelDirectory",),
    "lanes": ("Lanes",),
    "notices": ("Hub", "Subscription"),
    "performing": ("BusContext",),
    "settings": ("BusSettings",),
    "signals": ("Signal",),
}
_WHERE = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_WHERE)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
