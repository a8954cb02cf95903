"""The status bar: conversation, model, progress and cost."""

from collections.abc import Mapping
from typing import Any

from hob.cli.chat.connection import ChatConnection
from hob.cli.chat.conversation import Conversation
from hob.cli.chat.input.input_draft import one_line
from hob.cli.chat.message import MessageProgress
from hob.cli.chat.sentences import say
from hob.core.money import MICRO, price
from hob.core.translation.language import join_texts, translatable, translated

_DAYS = "31"  # sums over more days take too long for a bar


class StatusBar:
    """Data of the bar. `read` asks the daemon in a thread; `take` stores the result."""

    def __init__(self, connection: ChatConnection, session: str) -> None:
        self._connection = connection
        self._session = session
        self.model = ""
        self._spent = ""

    def read(self, session: str) -> Mapping[str, Any]:
        """Fetch the session's state."""
        prompt = self._connection.look("/prompt", session=session)
        usage = self._connection.look("/usage", days=_DAYS, by="session")
        rows = usage.get("rows", ())
        return {
            "session": session,
            "model": prompt.get("model", ""),
            "row": next((row for row in rows if row["key"] == session), {}),
            "sessions": [row["key"].removeprefix("local:") for row in rows if row["key"].startswith("local:")],
        }

    def take(self, seen: Mapping[str, Any]) -> None:
        """Store fetched state."""
        self._session = seen["session"]
        self.model = one_line(seen["model"])
        row = seen["row"]
        unknown = "+?" if row.get("unknown_calls") else ""
        self._spent = join_texts("", (price(round(row["cost_usd"] * MICRO)), unknown)) if row else ""

    def bar(self, conversation: Conversation) -> str:
        """Render the bar."""
        language = conversation.language
        parts = [one_line(self._session.removeprefix("local:")), self.model, _state(conversation)]
        if self._spent:
            parts.append(say("spent {cost}", language, cost=translated(self._spent, language)))
        return " · ".join(part for part in parts if part)


def _state(conversation: Conversation) -> str:
    language = conversation.language
    moving = [message for message in conversation.active if not message.is_waiting]
    if conversation.stopping and moving:
        return say(translatable("stopping"), language)
    if not moving:
        resting = [message for message in conversation.active if message.doing is MessageProgress.ASKING]
        told = (resting or conversation.active)[:1]
        return told[0].describe(language) if told else say(translatable("ready"), language)
    order = (
        MessageProgress.LOST,
        MessageProgress.WRITING,
        MessageProgress.CALLING,
        MessageProgress.THINKING,
        MessageProgress.SENDING,
    )
    notifier = min(moving, key=lambda message: (not message.calls, order.index(message.doing)))
    others = len(moving) - 1
    waiting = ", " + say("{count} waiting", language, count=others) if others else ""
    return notifier.describe(language) + waiting
