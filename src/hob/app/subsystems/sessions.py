"""Slash commands that need more than their own session."""

from collections.abc import Awaitable, Callable

from hob.agent.commands.table import CommandTiming, SlashCommand
from hob.app.subsystem import FeatureCommand, Subsystem
from hob.core.lazy import Lazy
from hob.core.trust.scopes import TokenScope


@Lazy
def _fork() -> Callable[..., Awaitable[str]]:
    from hob.app.sessions.owner_sessions import fork

    return fork


SESSIONS = Subsystem(
    name="sessions",
    one_shot=True,
    slash_commands=(
        FeatureCommand(
            SlashCommand(
                "fork",
                CommandTiming.LANE,
                "/fork",
                "go on in a copy of this conversation",
                owner=True,
                scope=TokenScope.ADMIN,
            ),
            _fork,
        ),
    ),
)
