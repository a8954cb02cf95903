"""A result that the request already contains is referred to and not repeated."""

from hob.agent.prompt.repeats import without_repeats
from hob.core.ids import CallId
from hob.core.models import TranscriptEntry
from hob.core.tools import ToolCall
from tests.agent.prompting import MODEL, START, WEB

LONG = "word " * 200


def read(n: int, text: str = LONG, arguments: str = '{"path": "a"}') -> list[TranscriptEntry]:
    call = ToolCall(CallId(f"c{n}"), "read", arguments)
    return [
        TranscriptEntry(n, "assistant", "", MODEL, "t1", START, calls=(call,)),
        TranscriptEntry(n + 1, "tool", text, WEB, "t1", START, call=call.id),
    ]


def results(*parts: list[TranscriptEntry]) -> list[str]:
    return [entry.text for part in without_repeats(*parts) for entry in part if entry.role == "tool"]


def test_repeated_result_refers_to_the_first() -> None:
    reference = "[the same 1,000 characters as read gave for this call above]"
    assert results(read(1), read(3)) == [LONG, reference]
    assert results([*read(1), *read(3), *read(5)]) == [LONG, reference, reference]


def test_reference_keeps_its_label() -> None:
    _, (_, second) = without_repeats(read(1), read(3))
    assert second.label == WEB


def test_changed_result_or_result_of_another_call_is_shown() -> None:
    assert results(read(1), read(3, LONG + "!")) == [LONG, LONG + "!"]
    assert results(read(1), read(3, arguments='{"path": "b"}')) == [LONG, LONG]


def test_argument_order_does_not_make_another_call() -> None:
    parts = read(1, arguments='{"a": 1, "b": 2}'), read(3, arguments='{"b": 2, "a": 1}')
    assert results(*parts)[1].startswith("[the same")


def test_short_result_is_shown_again() -> None:
    assert results(read(1, "ok"), read(3, "ok")) == ["ok", "ok"]


def test_omitted_result_is_not_referred_to() -> None:
    assert results(read(1, "[result of 1000 characters left out]"), read(3)) == [
        "[result of 1000 characters left out]",
        LONG,
    ]
