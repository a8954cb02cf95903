"""The tools `ask_user` and `report_progress`, for talking to the person whom the turn serves."""

from collections.abc import Callable, Sequence

from hob.core.content.fallbacks import number_options
from hob.core.errors import InvalidCall, UserInputNeeded
from hob.core.events.notices import Progress
from hob.core.ports.notices import Notices
from hob.core.ports.tools import CallContext
from hob.core.trust.labels import HOB_LABEL
from hob.core.turns import Turn
from hob.tools.messages.specs import ASK_USER, REPORT_PROGRESS
from hob.tools.registry.declaration import Tools, implements

_LONGEST = 2_000
_LONGEST_OPTION = 100
_MAX_OPTIONS = 10
_SHOWN = 500


def is_attended(turn: Turn) -> bool:
    """Return whether a person waits for the turn and can answer questions."""
    return not all(inbound.background for inbound in turn.inbounds)


class ConversationTools:
    """The tools. `can_ask` returns whether somebody can answer a question of the turn."""

    def __init__(self, notices: Notices, can_ask: Callable[[Turn], bool] = is_attended) -> None:
        self._notices = notices
        self._can_ask = can_ask
        self.toolset = Tools(self.ask_user, self.report_progress)

    @implements(ASK_USER, HOB_LABEL)
    async def ask_user(
        self,
        question: str,
        context: CallContext,
        options: Sequence[str] = (),
    ) -> str:
        question = question.strip()
        if not question or len(question) > _LONGEST:
            raise InvalidCall(f"a question has 1 to {_LONGEST:,} characters, not {len(question):,}.")
        lines = [" ".join(option.split()) for option in options]
        if len(lines) > _MAX_OPTIONS or any(not 0 < len(line) <= _LONGEST_OPTION for line in lines):
            raise InvalidCall(f"at most {_MAX_OPTIONS} options of 1 to {_LONGEST_OPTION} characters can be offered.")
        if not self._can_ask(context.turn):
            raise InvalidCall("the user cannot answer now: continue with what you know and end with open questions.")
        raise UserInputNeeded("\n".join([question, *number_options(lines)]))

    @implements(REPORT_PROGRESS, HOB_LABEL)
    async def report_progress(
        self,
        text: str,
        context: CallContext,
        percent: int | None = None,
    ) -> str:
        shown = " ".join(text.split())[:_SHOWN]
        if not shown:
            raise InvalidCall("the text is empty.")
        if percent is not None:
            shown = f"{min(max(percent, 0), 100)} %: {shown}"
        turn = context.turn
        self._notices.publish(Progress(turn.trace, turn.session, "progress", text=shown))
        return "Shown to the user."
