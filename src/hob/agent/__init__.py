"""One turn: what is asked, what is done, what is said. Imports the core only."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names are loaded when first used, so that settings and commands cost no driver
    from hob.agent.commands import SlashCommands as SlashCommands
    from hob.agent.compaction import Compacted as Compacted
    from hob.agent.compaction import Compactor as Compactor
    from hob.agent.compaction import NotCompacted as NotCompacted
    from hob.agent.context_room import ContextRoom as ContextRoom
    from hob.agent.driver import Driver as Driver
    from hob.agent.hooks import Hooks as Hooks
    from hob.agent.inspection import Inspector as Inspector
    from hob.agent.leeway import Leeway as Leeway
    from hob.agent.leeway import Scale as Scale
    from hob.agent.limits import SpendingSettings as SpendingSettings
    from hob.agent.parts import Parts as Parts
    from hob.agent.prompt import Prompt as Prompt
    from hob.agent.prompt import PromptBuilder as PromptBuilder
    from hob.agent.prompt import Section as Section
    from hob.agent.reading_back import ReadingBack as ReadingBack
    from hob.agent.sessions import named_key as named_key
    from hob.agent.sessions import reset_due as reset_due
    from hob.agent.sessions import session_of as session_of
    from hob.agent.sessions import thread_session as thread_session
    from hob.agent.sessions import zone_of as zone_of
    from hob.agent.settings import AgentSettings as AgentSettings
    from hob.agent.spending import Budget as Budget
    from hob.agent.taking_back import TakenBack as TakenBack

_HOMES = {
    "commands": ("SlashCommands",),
    "compaction": ("Compacted", "Compactor", "NotCompacted"),
    "context_room": ("ContextRoom",),
    "driver": ("Driver",),
    "hooks": ("Hooks",),
    "inspection": ("Inspector",),
    "leeway": ("Leeway", "Scale"),
    "limits": ("SpendingSettings",),
    "parts": ("Parts",),
    "prompt": ("Prompt", "PromptBuilder", "Section"),
    "reading_back": ("ReadingBack",),
    "sessions": ("named_key", "reset_due", "session_of", "thread_session", "zone_of"),
    "settings": ("AgentSettings",),
    "spending": ("Budget",),
    "taking_back": ("TakenBack",),
}
_WHERE = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_WHERE)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
