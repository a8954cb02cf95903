"""Model answers are cleaned before anyone sees them."""

from collections.abc import AsyncGenerator

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import CallId
from hob.core.models import (
    CallStarted,
    KeepAlive,
    ModelEvent,
    ModelReply,
    ModelRequest,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolMessage,
    Usage,
    UserMessage,
)
from hob.core.tools import ToolCall
from hob.guard.screening.model_calls.sanitizer import Sanitizer
from hob.guard.screening.model_calls.settings import ImagePolicy, SanitizerSettings

KEY = "sk-proj-Ab3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
ASKED = ModelRequest("m", "", (UserMessage("Show me a picture from example.org"),))


async def answer(pieces: list[str], reply: ModelReply | None = None) -> AsyncGenerator[ModelEvent]:
    for piece in pieces:
        yield TextDelta(piece)
    yield reply or ModelReply("".join(pieces))


async def clean(
    pieces: list[str], reply: ModelReply | None = None, *, asked: ModelRequest = ASKED, **settings: object
) -> tuple[list[ModelEvent], ModelReply]:
    sanitizer = Sanitizer(SanitizerSettings(**settings))  # type: ignore[arg-type]
    events = [event async for event in sanitizer.clean(asked, answer(pieces, reply))]
    last = events.pop()
    assert isinstance(last, ModelReply)
    return events, last


def shown(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def by_letter(text: str) -> list[str]:
    return list(text)


async def test_ordinary_answer_passes_piece_by_piece() -> None:
    events, reply = await clean(["Good ", "morning", "!"])
    assert events == [TextDelta("Good "), TextDelta("morning"), TextDelta("!")]
    assert reply == ModelReply("Good morning!")


def test_sanitizer_without_rules_is_inactive() -> None:
    assert not Sanitizer(SanitizerSettings(artefacts=False)).active
    assert Sanitizer(SanitizerSettings()).active
    assert Sanitizer(SanitizerSettings(artefacts=False, max_chars=1)).active
    assert Sanitizer(SanitizerSettings(artefacts=False, images=ImagePolicy.DEFUSE)).active


@pytest.mark.parametrize("cut", [by_letter, lambda text: [text]])
async def test_leading_think_block_becomes_reasoning(cut: object) -> None:
    assert callable(cut)
    events, reply = await clean(cut("\n<think>first a, then b</think>\n\nThe answer is <b>."))
    assert shown(events) == reply.text == "The answer is <b>."
    assert reply.reasoning == "first a, then b"
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == "first a, then b"


async def test_unclosed_think_block_is_not_an_answer() -> None:
    _, reply = await clean(["<think>hmm", " and so on"])
    assert reply.text == ""
    assert reply.reasoning == "hmm and so on"


@pytest.mark.parametrize(
    "text",
    ["Models write <think>…</think> first.", "<thin ice>", "a < b", "Use <|im_end|> to end a turn.", "</s> is one"],
)
async def test_answer_about_end_marks_keeps_them(text: str) -> None:
    events, reply = await clean(by_letter(text))
    assert shown(events) == reply.text == text


@pytest.mark.parametrize("mark", ["<|im_end|>", "</s>\n", "<|eot_id|><|endoftext|>", "<end_of_turn>\n"])
async def test_trailing_end_marks_are_removed(mark: str) -> None:
    events, reply = await clean(by_letter(f"Done.{mark}"))
    assert shown(events) == reply.text == "Done."


async def test_withheld_answer_is_not_shown_at_all() -> None:
    sanitizer = Sanitizer(SanitizerSettings(deny=["(?i)top secret"]))
    reply = ModelReply("It is top SECRET.", reasoning="hm", usage=Usage(3, 4), attempts=2)
    events: list[ModelEvent] = []

    async def listen() -> None:
        async for event in sanitizer.clean(ASKED, answer(["It is top ", "SECRET."], reply)):
            events.append(event)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(ModelError) as caught:
        await listen()
    assert caught.value.fault is ModelFault.FILTERED
    assert caught.value.attempts == 2
    assert events == [KeepAlive(), KeepAlive(), ModelReply("", usage=Usage(3, 4), stop=StopReason.FILTER, attempts=2)]


async def test_denied_words_in_call_arguments_withhold_the_answer() -> None:
    reply = ModelReply("ok", (ToolCall(CallId("c"), "run", '{"x": "forbidden"}'),))
    with pytest.raises(ModelError):
        await clean(["ok"], reply, deny=["forbidden"])


async def test_answer_without_denied_words_is_complete() -> None:
    events, reply = await clean(["all ", "fine"], deny=["forbidden"])
    assert shown(events) == reply.text == "all fine"


@pytest.mark.parametrize("cut", [by_letter, lambda text: [text]])
async def test_secrets_written_by_a_model_are_never_shown(cut: object) -> None:
    assert callable(cut)
    text = f"Here it is:\n{KEY}\nand password = hunter2xyz, good luck"
    events, reply = await clean(cut(text), secrets=True)
    assert shown(events) == reply.text
    assert reply.text == "Here it is:\n[api key removed]\nand password = [password removed], good luck"


async def test_secrets_are_removed_from_arguments_and_reasoning() -> None:
    reply = ModelReply("ok", (ToolCall(CallId("c"), "run", f'{{"a": ["{KEY}"], "n": 1}}'),), reasoning=f"use {KEY}")
    _, cleaned = await clean(["ok"], reply, secrets=True)
    assert cleaned.calls[0].arguments == '{"a": ["[api key removed]"], "n": 1}'
    assert cleaned.reasoning == "use [api key removed]"


async def test_arguments_without_findings_are_unchanged_byte_for_byte() -> None:
    reply = ModelReply("ok", (ToolCall(CallId("c"), "run", '{ "a":1,"b": "\\u00e4" }'),))
    _, cleaned = await clean(["ok"], reply, secrets=True, pii=True)
    assert cleaned.calls == reply.calls


async def test_held_back_text_is_bounded() -> None:
    sanitizer = Sanitizer(SanitizerSettings(secrets=True))
    came = gone = 0
    pieces = [f"word{n} " for n in range(2_000)]
    async for event in sanitizer.clean(ASKED, answer(pieces)):
        if isinstance(event, TextDelta):
            gone += len(event.text)
            came = min(gone + 700, 100_000)
    assert came > 0
    assert gone == len("".join(pieces))


@pytest.mark.parametrize("cut", [by_letter, lambda text: [text]])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("![cat](https://evil.test/a.png?d=1)", "cat (image: `https://evil.test/a.png?d=1`)"),
        ("see ![](//evil.test/x) ok", "see (image: `//evil.test/x`) ok"),
        ("![a](&#104;ttps://evil.test/x)", "a (image: `&#104;ttps://evil.test/x`)"),
        ("![a][1]\n\n[1]: https://evil.test", "[a][1]\n\n[1]: https://evil.test"),
        ('<IMG alt="a" src="https://evil.test/x">', "(image: `https://evil.test/x`)"),
        ("![a](https://example.org@evil.test/x)", "a (image: `https://example.org@evil.test/x`)"),
        ("![a](https://example.org.evil.test/x)", "a (image: `https://example.org.evil.test/x`)"),
        ("![a](https://example.org/cat.png)", "![a](https://example.org/cat.png)"),
        ("![a](https://img.example.org/cat.png)", "![a](https://img.example.org/cat.png)"),
        ("![a](data:image/png;base64,AAAA)", "![a](data:image/png;base64,AAAA)"),
        ("wow! [a](https://evil.test) <imgx> ![", "wow! [a](https://evil.test) <imgx> ["),
    ],
)
async def test_image_from_an_unnamed_host_is_not_loaded(text: str, expected: str, cut: object) -> None:
    assert callable(cut)
    events, reply = await clean(cut(text), images=ImagePolicy.DEFUSE)
    assert shown(events) == reply.text == expected


async def test_host_named_only_by_a_tool_does_not_count() -> None:
    asked = ModelRequest(
        "m",
        "",
        (
            UserMessage("look\n\n<untrusted-0123456789 from=web>\nevil.test\n</untrusted-0123456789>"),
            ToolMessage(CallId("c"), "evil.test"),
        ),
    )
    _, reply = await clean(["![a](https://evil.test/x)"], asked=asked, images=ImagePolicy.DEFUSE)
    assert reply.text == "a (image: `https://evil.test/x`)"


@pytest.mark.parametrize("cut", [by_letter, lambda text: [text]])
async def test_overlong_answer_ends_with_the_suffix(cut: object) -> None:
    assert callable(cut)
    events, reply = await clean(cut("one two three"), max_chars=7, suffix="…")
    assert shown(events) == reply.text == "one two…"
    _, whole = await clean(cut("one two"), max_chars=7, suffix="…")
    assert whole.text == "one two"


async def test_other_events_keep_their_position() -> None:
    async def events() -> AsyncGenerator[ModelEvent]:
        yield ReasoningDelta("hm")
        yield TextDelta("a")
        yield KeepAlive()
        yield CallStarted("run")
        yield ModelReply("a", reasoning="hm")

    found = [event async for event in Sanitizer(SanitizerSettings()).clean(ASKED, events())]
    assert found == [
        ReasoningDelta("hm"),
        TextDelta("a"),
        KeepAlive(),
        CallStarted("run"),
        ModelReply("a", reasoning="hm"),
    ]


async def test_answer_without_deltas_is_cleaned_too() -> None:
    events, reply = await clean([], ModelReply("<think>x</think>Done.</s>"))
    assert (shown(events), reply.text, reply.reasoning) == ("Done.", "Done.", "x")
