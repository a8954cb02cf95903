"""Earlier messages with unseen outcomes, shown at the start of a chat."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hob.cli.chat.connection import ChatConnection
from hob.cli.chat.sentences import say
from hob.cli.output import line, printable
from hob.core.states import FINAL_TURNS
from hob.core.values import dataclass

_OPEN = frozenset({"pending", "running", "waiting"})
_FINAL = frozenset(state.value for state in FINAL_TURNS)


@dataclass(frozen=True, slots=True)
class UnseenMessage:
    """An earlier message with an unseen outcome; `unasked` marks work that Hob started itself."""

    id: str
    title: str
    ended: bool
    unasked: bool = False

    def announce(self, language: str, *, ended: bool) -> str:
        """Return the line before its outcome; `ended`: nothing more is to come."""
        if self.unasked:
            return say("Hob reports:", language)
        told = "earlier, to “{title}”:" if ended else "Continuing your earlier message “{title}”"
        return say(told, language, title=line(self.title, 60))


def announce_elsewhere(elsewhere: Mapping[str, int], language: str) -> str:
    """Return a line about unseen outcomes in other conversations, counted by their names."""
    return say(
        "{count} unseen in other conversations: {sessions}; `hob chat --session NAME` shows them",
        language,
        count=sum(elsewhere.values()),
        sessions=printable(", ".join(elsewhere)),
    )


def unseen(row: Mapping[str, Any]) -> UnseenMessage:
    """Build the message from a row of `/unread` or `/tasks`."""
    ended, unasked = row["state"] in _FINAL, row.get("unasked", False)
    return UnseenMessage(row["id"], row["title"], ended, unasked)


def fetch_earlier(connection: ChatConnection, session: str) -> tuple[Sequence[UnseenMessage], Mapping[str, int]]:
    """Return this session's messages, oldest first, and the number of unseen outcomes per other session."""
    unread = connection.look("/unread", channel="local").get("messages", [])
    tasks = connection.look("/tasks", limit="200").get("tasks", [])
    found = [*unread, *(row for row in reversed(tasks) if row["state"] in _OPEN)]
    mine = {row["id"]: unseen(row) for row in found if row["session"] == session}
    return tuple(mine.values()), Counter(
        row["session"].removeprefix("local:") for row in unread if row["session"] != session
    )
