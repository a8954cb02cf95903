"""What a chat finds when it begins: the settings, the model, and what was not seen yet."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hob.app.chat.connection import Connection
from hob.app.chat.drafts import one_line
from hob.app.chat.masking import secrets_out
from hob.app.sections import read_config
from hob.config import Config
from hob.core.errors import NotConfigured
from hob.gateway.views import FINAL
from hob.providers import ModelSettings

_OPEN = frozenset({"pending", "running", "waiting"})


@dataclass(frozen=True, slots=True)
class Earlier:
    """A message of before whose outcome nobody has seen."""

    id: str
    title: str
    ended: bool


@dataclass(frozen=True, slots=True)
class Arrival:
    """What was found. `model` is empty where there is none; `elsewhere` counts what other conversations hold."""

    config: Config | None
    mask: Callable[[str], str]
    model: str
    models: Sequence[str]
    earlier: Sequence[Earlier]
    elsewhere: Mapping[str, int]


def arrive(connection: Connection, session: str) -> Arrival:
    """Look around; takes some tenths of a second."""
    try:
        config = read_config()
    except NotConfigured:  # the daemon that is attached to was started before that
        config = None
    unread = connection.look("/unread", channel="local").get("messages", [])
    tasks = connection.look("/tasks", limit="200").get("tasks", [])
    found = [*unread, *(row for row in reversed(tasks) if row["state"] in _OPEN)]
    mine = {
        row["id"]: Earlier(row["id"], row["title"], ended=row["state"] in FINAL)
        for row in found
        if row["session"] == session
    }
    others = Counter(row["session"].removeprefix("local:") for row in unread if row["session"] != session)
    line = str(connection.look("/status").get("model", "none"))
    model = "" if line == "none" else one_line(line)
    return Arrival(config, secrets_out(config), model, _models(config), tuple(mine.values()), others)


def _models(config: Config | None) -> Sequence[str]:
    if config is None:
        return ()
    settings: Any = config[ModelSettings]
    named = (*settings.aliases, settings.name, *settings.fallbacks, *settings.tasks.values())
    return tuple(dict.fromkeys(name for name in named if name))
