"""Public twins and contract checks for those who build channels, models, toolsets and hooks.

Twins behave like the real thing without a network; a check is the promise of a port as a function that any
implementation is run through.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hob.testing.attacker import ObedientModel as ObedientModel
    from hob.testing.channel import MemoryChannel as MemoryChannel
    from hob.testing.channel import SpoolChannel as SpoolChannel
    from hob.testing.channel import message as message
    from hob.testing.channel_check import check_channel as check_channel
    from hob.testing.clock import ManualClock as ManualClock
    from hob.testing.faulty_vfs import FaultyDisk as FaultyDisk
    from hob.testing.media_check import check_describer as check_describer
    from hob.testing.media_check import check_embedder as check_embedder
    from hob.testing.media_check import check_speaker as check_speaker
    from hob.testing.media_check import check_transcriber as check_transcriber
    from hob.testing.memory_store import memory_store as memory_store
    from hob.testing.model import Cut as Cut
    from hob.testing.model import ScriptedModel as ScriptedModel
    from hob.testing.model import Silence as Silence
    from hob.testing.model import calls as calls
    from hob.testing.model_check import check_model as check_model
    from hob.testing.model_server import End as End
    from hob.testing.model_server import Fault as Fault
    from hob.testing.model_server import ModelServer as ModelServer
    from hob.testing.model_server import Reply as Reply
    from hob.testing.simulated import Outside as Outside
    from hob.testing.subsystem_check import check_subsystem as check_subsystem
    from hob.testing.toolset import AllowAll as AllowAll
    from hob.testing.toolset import FunctionTools as FunctionTools
    from hob.testing.toolset import tool as tool
    from hob.testing.toolset_check import check_toolset as check_toolset

_HOMES = {
    "attacker": ("ObedientModel",),
    "channel": ("MemoryChannel", "SpoolChannel", "message"),
    "channel_check": ("check_channel",),
    "clock": ("ManualClock",),
    "faulty_vfs": ("FaultyDisk",),
    "media_check": ("check_describer", "check_embedder", "check_speaker", "check_transcriber"),
    "memory_store": ("memory_store",),
    "model": ("Cut", "ScriptedModel", "Silence", "calls"),
    "model_check": ("check_model",),
    "model_server": ("End", "Fault", "ModelServer", "Reply"),
    "simulated": ("Outside",),
    "subsystem_check": ("check_subsystem",),
    "toolset": ("AllowAll", "FunctionTools", "tool"),
    "toolset_check": ("check_toolset",),
}
_WHERE = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_WHERE)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
