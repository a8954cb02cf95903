"""Whatever a session contains, the request fits, is paired, and reveals no mark."""

import re
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.agent.prompt.builder import PromptBuilder
from hob.agent.prompt.context_room import ContextRoom
from hob.agent.prompt.rendering import Marks
from hob.agent.prompt.tokens import estimate_messages, estimate_tokens
from hob.agent.settings import AgentSettings
from hob.core.content.files import BootstrapFile
from hob.core.ids import CallId, InboundId, SessionKey, SpanId, TraceId, TurnId
from hob.core.messages import Address, Inbound, Quoted, Sender
from hob.core.models import (
    AssistantMessage,
    ModelProfile,
    ModelRequest,
    Role,
    ToolMessage,
    TranscriptEntry,
    UserMessage,
)
from hob.core.steps import ModelAsked, ModelReplied, Noted, Step, ToolReceived
from hob.core.tools import ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import OWNER_LABEL, Label, Origin, SenderClass, Trust
from hob.core.turns import Summary, TranscriptView, Turn
from hob.providers.schemas.dialects import make_safe_names
from hob.providers.text_tools.model import write_tools
from hob.testing.clock import ManualClock
from tests.growth import grows_with_its_size

WEB = Label(Origin.WEB, Trust.UNTRUSTED)
START = ManualClock().now().timestamp()

words = st.builds(
    lambda piece, count: piece * count,
    st.sampled_from(["a ", "word ", "漢", "😀", "é", "<untrusted-", "</context>", "\n"]),
    st.integers(0, 4_000),
)
labels = st.sampled_from([OWNER_LABEL, WEB])
call_ids = st.sampled_from([CallId("c1"), CallId("c2"), CallId("c3")])
calls = st.lists(st.builds(ToolCall, call_ids, st.just("x"), words), max_size=3, unique_by=lambda call: call.id)


@st.composite
def entries(draw: st.DrawFn) -> TranscriptEntry:
    """Draw any entry, paired or not: a crash or an older release may have left anything."""
    role: Role = draw(st.sampled_from(["user", "assistant", "tool"]))
    entry = TranscriptEntry(1, role, draw(words), draw(labels), draw(st.sampled_from(["t1", "t2", "t3"])), START)
    if role == "assistant":
        return replace(entry, calls=tuple(draw(calls)))
    return replace(entry, call=draw(call_ids)) if role == "tool" else entry


rounds = st.builds(
    lambda made, results: (
        ModelAsked("m", "", 1),
        ModelReplied("", tuple(made)),
        *(ToolReceived(ToolResult(call, text, WEB)) for call, text in results),
    ),
    calls,
    st.lists(st.tuples(call_ids, words), max_size=3),
)
steps = st.lists(rounds | st.builds(lambda text: (Noted(text),), words), max_size=8)


@st.composite
def views(draw: st.DrawFn) -> TranscriptView:
    shown = tuple(draw(st.lists(entries(), max_size=50)))
    summary = draw(st.none() | st.builds(Summary, st.just(3), words, labels))
    parked = tuple(draw(st.lists(words, max_size=20)))
    return TranscriptView(shown, summary, len(shown) + draw(st.integers(0, 100)), parked)


class Files:
    def __init__(self, texts: list[str]) -> None:
        self._files = tuple(
            BootstrapFile(name, text, "") for name, text in zip(("AGENTS.md", "MEMORY.md"), texts, strict=False)
        )

    def load(self) -> tuple[BootstrapFile, ...]:
        return self._files


def check_pairs(request: ModelRequest) -> None:
    expected: list[CallId] = []
    for message in request.messages:
        match message:
            case ToolMessage():
                assert message.call == expected.pop(0)
            case AssistantMessage():
                assert expected == []
                expected = [call.id for call in message.calls]
            case UserMessage():
                assert expected == []
    assert expected == []
    kinds = [type(message) for message in request.messages]
    assert (UserMessage, UserMessage) not in list(pairwise(kinds))
    assert kinds[0] is UserMessage


@given(
    view=views(),
    said=st.lists(words, min_size=1, max_size=4),
    quoted=st.lists(words, max_size=3),
    done=steps,
    files=st.lists(words, max_size=2),
    context=st.sampled_from([2_000, 4_000, 16_000, 128_000]),
    keep=st.none() | st.integers(0, 60),
)
async def test_request_never_exceeds_the_budget_and_is_paired(
    view: TranscriptView,
    said: list[str],
    quoted: list[str],
    done: list[tuple[Step, ...]],
    files: list[str],
    context: int,
    keep: int | None,
) -> None:
    settings = AgentSettings(context_tokens=context)
    parts = tuple(Quoted(text) for text in quoted)
    sender = Sender("s", "", SenderClass.OWNER)
    inbounds = tuple(
        Inbound(InboundId("m"), "k", Address("local", "x"), sender, text, OWNER_LABEL, TraceId("x"), quoted=parts)
        for text in said
    )
    turn = Turn(TurnId("t9"), SessionKey("local:x"), TraceId("x"), SpanId("y"), inbounds)
    prompts = PromptBuilder(settings, ManualClock(), Files(files), None, b"salt")
    journal = tuple(step for group in done for step in group)
    prompt = await prompts.build(turn, journal, view, (), "m", keep=keep, patience=8)
    request = prompt.request
    tokens = estimate_tokens(request.system) + estimate_messages(request.messages)
    assert tokens <= prompt.input_estimate <= context - request.max_tokens
    check_pairs(request)
    again = await prompts.build(turn, journal, view, (), "m", keep=keep, patience=8)
    assert again.request == request


adversary = st.lists(
    st.sampled_from(
        [
            "</",
            "<",
            "untrusted",
            "-",
            "\uff1c",
            "/",
            "\u200b",
            "UNTRUSTED",
            " ",
            "context>",
            "\n",
            "x",
            "\u00ad",
            "\u2039",
        ]
    )
    | st.text(max_size=5),
    max_size=40,
).map("".join)


@given(text=adversary, leaked=st.booleans())
def test_no_text_can_close_its_marks(text: str, leaked: bool) -> None:
    marks = Marks(b"salt")
    name = marks.name_for("t1")
    wrapped = marks.wrap(text + (f"</{name}>" if leaked else ""), WEB, "t1")
    assert wrapped.count(name) == 2
    inside = wrapped.split("\n", 1)[1].rsplit("\n", 1)[0]
    assert not re.search("[<\uff1c\u2039]\\s*/?\\s*(untrusted|context)", inside, re.IGNORECASE)


disguised = st.tuples(
    st.sampled_from(["<", "\uff1c", "\u3008", "&lt;", "&#60;", "\\u003c", "%3C", "<\\/", "\u226a", "&#x3C;"]),
    st.sampled_from(["", "/", " / ", "\u200d/", "\u2044", "\n", "-- "]),
    st.sampled_from(["untrusted-", "context"]),
    st.randoms(use_true_random=False),
)


@given(disguised=disguised, leaked=st.booleans(), before=adversary, after=adversary)
def test_no_disguise_opens_or_closes_marks(
    disguised: tuple[str, str, str, Random], leaked: bool, before: str, after: str
) -> None:
    bracket, slash, word, random = disguised
    other = Marks(b"salt").name_for("t0")  # of an earlier turn, which the model may have quoted to somebody
    word = other if leaked else word
    dressed = "".join(random.choice(_dresses(letter)) for letter in word)
    forged = f"{bracket}{slash}{dressed}>"
    wrapped = Marks(b"salt").wrap(f"{before}{forged}{after}", WEB, "t1")
    inside = wrapped.split("\n", 1)[1].rsplit("\n", 1)[0]
    assert f"{bracket}{slash}{dressed[:7]}" not in inside


def _dresses(letter: str) -> list[str]:
    """Return ways to write a letter so that it looks the same."""
    wide = chr(ord(letter) + 0xFEE0)
    alike = dict(zip("aceopxystun", "\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0455\u0442\u057d\u0578", strict=True))
    return [
        letter,
        letter.upper(),
        wide,
        alike.get(letter, letter),
        letter + "\u200d",
        letter + "\u0301",
        letter + "\ufe0f",
    ]


@pytest.mark.parametrize(
    "text", ["a < b and c > d", "List<User>", "<code>x</code>", "caf\u00e9 \u00ab oui \u00bb", "if (a<c) \U0001f600"]
)
def test_other_brackets_are_unchanged(text: str) -> None:
    assert Marks(b"salt").wrap(text, WEB, "t1").split("\n")[1] == text


@pytest.mark.slow
def test_worst_text_is_disarmed_in_linear_time() -> None:
    marks = Marks(b"salt")
    for piece in ("<", "\u00ab", "< /", "<\u200d", "<u", "&lt", "<c\u0301"):
        grows_with_its_size(lambda size, piece=piece: marks.wrap(piece * size, WEB, "t1"), 2_500, minimum=0.002)  # type: ignore[misc]


@given(st.text(max_size=20), st.text(max_size=20))
def test_marks_differ_between_turns_and_homes(one: str, other: str) -> None:
    assert (Marks(b"a").name_for(one) == Marks(b"a").name_for(other)) is (one == other)
    assert Marks(b"a").name_for(one) != Marks(b"b").name_for(one)


class Profile:
    def __init__(self, profile: ModelProfile) -> None:
        self._profile = profile

    def find_profile(self, model: str) -> ModelProfile:
        return self._profile


specs = st.lists(
    st.builds(
        lambda number, text: ToolSpec(f"tool{number}", text, {"type": "object"}), st.integers(0, 30), st.text() | words
    ),
    max_size=12,
    unique_by=lambda spec: spec.name,
)


@given(
    view=views(),
    said=words,
    done=steps,
    files=st.lists(words, max_size=2),
    tools=specs,
    window=st.none() | st.integers(0, 40_000),
    maximum=st.integers(1_500, 4_000),
)
async def test_small_models_request_fits_with_few_tools(
    view: TranscriptView,
    said: str,
    done: list[tuple[Step, ...]],
    files: list[str],
    tools: list[ToolSpec],
    window: int | None,
    maximum: int,
) -> None:
    settings = AgentSettings(small_prompt_tokens=maximum)
    room = ContextRoom(Profile(ModelProfile(context_tokens=window, small=True)))
    prompts = PromptBuilder(settings, ManualClock(), Files(files), None, b"salt", room)
    sender, trace = Sender("s", "", SenderClass.OWNER), TraceId("x")
    inbound = Inbound(InboundId("m"), "k", Address("local", "x"), sender, said, OWNER_LABEL, trace)
    turn = Turn(TurnId("t9"), SessionKey("local:x"), trace, SpanId("y"), (inbound,))
    journal = tuple(step for group in done for step in group)
    prompt = await prompts.build(turn, journal, view, tuple(tools), "m", patience=8)
    request = prompt.request
    as_text = write_tools(request.tools, make_safe_names(request.tools)) if request.tools else ""
    told = estimate_tokens(request.system) + estimate_messages(request.messages)
    assert told + estimate_tokens(as_text) <= maximum
    assert prompt.input_estimate <= maximum
    assert prompt.input_estimate + request.max_tokens <= max(2_000, window or 128_000)
    assert len(request.tools) <= 5
    check_pairs(request)
