"""Questions wait for the user or are refused if unattended; progress is only shown."""

from dataclasses import replace

import pytest

from hob.core.errors import ToolFailed, UserInputNeeded
from hob.core.events.notices import Progress
from hob.core.ports.tools import CallContext
from hob.core.tools import Restart
from hob.tools.messages.conversation import ConversationTools
from tests.tools.calling import a_call
from tests.tools.memory.test_remember import of, wrote
from tests.turns import NoticeRecorder

ATTENDED = of()
ALONE = of(replace(wrote(), background=True))


async def call(context: CallContext, name: str, **arguments: object) -> list[object]:
    seen = NoticeRecorder()
    await ConversationTools(seen).toolset.call(a_call(name, **arguments), context)
    return list(seen.seen)


async def test_question_is_passed_to_the_driver_with_numbered_options() -> None:
    with pytest.raises(UserInputNeeded) as asked:
        await call(ATTENDED, "ask_user", question=" Which one? ", options=["the red\n2. one", "none"])
    assert str(asked.value) == "Which one?\n1. the red 2. one\n2. none"


async def test_question_may_be_asked_again_after_a_crash() -> None:
    specs = {spec.name: spec for spec in ConversationTools(NoticeRecorder()).toolset.specs()}
    assert specs["ask_user"].restart is Restart.AGAIN


async def test_unattended_turn_asks_nothing() -> None:
    with pytest.raises(ToolFailed, match="the user cannot answer now"):
        await call(ALONE, "ask_user", question="Which one?")


@pytest.mark.parametrize(
    "arguments", [{"question": " "}, {"question": "?" * 2_001}, {"question": "?", "options": ["x"] * 11}]
)
async def test_question_must_be_readable(arguments: dict[str, object]) -> None:
    with pytest.raises(ToolFailed):
        await call(ATTENDED, "ask_user", **arguments)


async def test_progress_is_published_as_one_line() -> None:
    (seen,) = await call(ATTENDED, "report_progress", text="half\nof it" + "!" * 1_000, percent=140)
    assert isinstance(seen, Progress)
    assert (seen.session, seen.what, len(seen.text)) == (ATTENDED.turn.session, "progress", 507)
    assert seen.text.startswith("100 %: half of it!")
