"""Memory: what Hob remembers of conversations and files."""

from collections.abc import Awaitable, Callable

from hob.agent.commands.table import CommandTiming, SlashCommand
from hob.app.subsystem import Endpoints, FeatureCommand, Open, Subsystem
from hob.core.lazy import Lazy
from hob.core.trust.scopes import TokenScope
from hob.gateway.lazy_ports import MemoryControls
from hob.memory.er1.settings import Er1Settings
from hob.memory.settings import MemorySettings

Run = Callable[..., Awaitable[str]]


@Lazy
def _open() -> Open:
    from hob.app.memory.opening import open_memory

    return open_memory


@Lazy
def _endpoints() -> Endpoints:
    from hob.gateway.routes.memory import ENDPOINTS

    return ENDPOINTS


@Lazy
def _api_v1() -> Endpoints:
    from hob.gateway.dashboard.memory import ENDPOINTS

    return ENDPOINTS


@Lazy
def _remember() -> Run:
    from hob.app.memory.commands import remember

    return remember


@Lazy
def _forget() -> Run:
    from hob.app.memory.commands import forget

    return forget


@Lazy
def _look() -> Run:
    from hob.app.memory.commands import look

    return look


@Lazy
def _goals() -> Run:
    from hob.app.memory.commands import goals

    return goals


@Lazy
def _private() -> Run:
    from hob.app.memory.commands import private

    return private


def _row(name: str, usage: str, text: str, scope: TokenScope = TokenScope.ADMIN) -> SlashCommand:
    return SlashCommand(name, CommandTiming.LANE, usage, text, owner=True, scope=scope)


MEMORY = Subsystem(
    name="memory",
    settings={"memory": MemorySettings, "er1": Er1Settings},
    one_shot=True,
    endpoints=_endpoints,
    api_v1=_api_v1,
    open=_open,
)
MEMORY_COMMANDS = Subsystem(
    name="memory_commands",
    needs=(MemoryControls,),
    one_shot=True,
    slash_commands=(
        FeatureCommand(_row("remember", "/remember TEXT", "keep this for later"), _remember),
        FeatureCommand(_row("forget", "/forget ID|WORDS", "forget something, or look for it"), _forget),
        FeatureCommand(_row("memory", "/memory [WORDS]", "what Hob remembers, with sources"), _look),
        FeatureCommand(_row("goals", "/goals [TEXT | ID done|dropped|open [NOTE]]", "what you want to reach"), _goals),
        FeatureCommand(_row("private", "/private", "talk without being remembered", TokenScope.CHAT), _private),
    ),
)
