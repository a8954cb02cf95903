"""What a chat finds when it begins: the settings, the model, and what was not seen yet."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hob.app.settings.sections import read_config
from hob.cli.chat.connection import ChatConnection
from hob.cli.chat.input.input_draft import one_line
from hob.cli.chat.input.masks import secrets_out
from hob.cli.chat.unseen_messages import UnseenMessage, find_earlier
from hob.config.loading import Config
from hob.core.errors import NotConfigured
from hob.core.values import dataclass
from hob.providers.settings import ModelSettings


@dataclass(frozen=True, slots=True)
class StartupState:
    """What was found. `model` is empty where there is none; `elsewhere` counts what other conversations hold."""

    config: Config | None
    mask: Callable[[str], str]
    model: str
    models: Sequence[str]
    earlier: Sequence[UnseenMessage]
    elsewhere: Mapping[str, int]


def arrive(connection: ChatConnection, session: str) -> StartupState:
    """Look around; takes some tenths of a second."""
    try:
        config = read_config()
    except NotConfigured:  # the daemon that is attached to was started before that
        config = None
    earlier, others = find_earlier(connection, session)
    line = str(connection.look("/status").get("model", "none"))
    model = "" if line == "none" else one_line(line)
    return StartupState(config, secrets_out(config), model, _models(config), earlier, others)


def _models(config: Config | None) -> Sequence[str]:
    if config is None:
        return ()
    settings: Any = config[ModelSettings]
    named = (*settings.aliases, settings.name, *settings.fallbacks, *settings.tasks.values())
    return tuple(dict.fromkeys(name for name in named if name))
