"""Memory: what Hob remembers of conversations and files."""

from collections.abc import Awaitable, Callable, Mapping

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
def _commands() -> Mapping[str, Run]:
    from hob.app.memory.commands import COMMANDS

    return COMMANDS


def _command(name: str, usage: str, text: str, scope: TokenScope = TokenScope.ADMIN) -> FeatureCommand:
    row = SlashCommand(name, CommandTiming.LANE, usage, text, owner=True, scope=scope)
    return FeatureCommand(row, Lazy(lambda: _commands()[name]))


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
        _command("remember", "/remember TEXT", "keep this for later"),
        _command("forget", "/forget ID|WORDS", "forget something, or look for it"),
        _command("memory", "/memory [WORDS]", "what Hob remembers, with sources"),
        _command("goals", "/goals [TEXT | ID done|dropped|open [NOTE]]", "what you want to reach"),
        _command("private", "/private [MESSAGE]", "talk without being remembered", TokenScope.CHAT),
    ),
)
