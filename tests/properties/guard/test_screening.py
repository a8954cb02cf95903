"""For any text, nothing that was found leaves, and everything is restored."""

import itertools
from collections.abc import AsyncGenerator, Iterable

from hypothesis import example, given
from hypothesis import strategies as st

from hob.core.models import AssistantMessage, ModelEvent, ModelReply, ModelRequest, TextDelta, UserMessage
from hob.core.screening.detectors import find_sensitive
from hob.core.screening.kinds import SensitiveKind
from hob.guard.screening.model_calls.prompt_guard import Placeholders, PromptGuard, Restorer, restore_values
from hob.guard.screening.model_calls.sanitizer import (
    EndMarkFilter,
    ImageFilter,
    LengthLimit,
    RedactionFilter,
    Sanitizer,
    ThinkingFilter,
)
from hob.guard.screening.model_calls.settings import PromptGuardSettings, SanitizerSettings, ScreeningAction
from hob.guard.screening.model_texts import TextStream

ALL = frozenset(SensitiveKind)
KEY = b"key"
BODY = "Ab3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
SAMPLES = [
    "anna@firma.de", "+49 171 1234567", "0171 1234567", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00",
    "123-45-6789", "86095742719", "8.8.8.8", f"sk-proj-{BODY}", "AKIAIOSFODNN7EXAMPLE", "password = ", "hunter2xyz",
    "token: ", "9f86d081884c7d659a2feaa0c55ad015", "Bearer ", "://u:pa55word@h", "-----BEGIN PRIVATE KEY-----\n",
    f"{BODY}\n", "-----END PRIVATE KEY-----", "[EMAIL-abcdefghij]", "[TEXT-", "[", "]", "-", " ", "\n", '"', "\\",
    "\u0130", "<think>", "</think>", "<|im_end|>", "</s>", "<", "![a](https://evil.test/x)", "![", "<img src=//a.b>",
    "](", ")", "!", "word",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(SAMPLES), st.text(max_size=8)), max_size=12).map("".join)
PLACES = st.lists(st.integers(0, 400), max_size=8)


def cut(text: str, places: Iterable[int]) -> list[str]:
    edges = [0, *sorted({place % (len(text) + 1) for place in places}), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges)]


def run(stage: TextStream, pieces: Iterable[str]) -> str:
    return "".join(stage.feed(piece) for piece in pieces) + stage.finish()


@given(TEXTS, PLACES)
@example("[EMAIL-abcdefghij]", [3])
def test_redacted_values_are_restored_however_the_text_is_split(text: str, places: list[int]) -> None:
    placeholders = Placeholders(KEY)
    taken = placeholders.redact(text, find_sensitive(text, ALL))
    assert restore_values(taken, placeholders.restore) == text
    assert run(Restorer(placeholders.restore), cut(taken, places)) == text


@given(TEXTS, PLACES)
def test_restoring_gives_the_same_at_once_and_in_pieces(text: str, places: list[int]) -> None:
    restore = {"[EMAIL-abcdefghij]": "[EMAIL-", "[TEXT-aaaaaaaaaa]": "x"}
    assert run(Restorer(restore), cut(text, places)) == restore_values(text, restore)


@given(TEXTS)
def test_findings_are_ordered_disjoint_and_within_the_text(text: str) -> None:
    found = find_sensitive(text, ALL)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))


@given(TEXTS)
def test_cleaned_text_has_no_findings(text: str) -> None:
    taken = Placeholders(KEY).redact(text, find_sensitive(text, ALL))
    assert [taken[each.start : each.end] for each in find_sensitive(taken, ALL)] == []


@given(st.lists(TEXTS, min_size=1, max_size=5), TEXTS)
def test_request_contains_no_value_that_was_found(texts: list[str], system: str) -> None:
    messages = tuple(UserMessage(text) if n % 2 == 0 else AssistantMessage(text) for n, text in enumerate(texts))
    guard = PromptGuard(PromptGuardSettings(secrets=ScreeningAction.REDACT, pii=ScreeningAction.REDACT), KEY)
    screened = guard.screen(ModelRequest("m", system, messages))
    for message, cleaned in zip(messages, screened.request.messages, strict=True):
        assert restore_values(cleaned.text, screened.restore) == message.text
        assert find_sensitive(cleaned.text, ALL) == ()
    again = guard.screen(ModelRequest("m", system, messages))
    assert again.restore == screened.restore
    assert again.request == screened.request


@given(TEXTS, PLACES)
def test_stage_output_does_not_depend_on_the_split(text: str, places: list[int]) -> None:
    for make in (ThinkingFilter, EndMarkFilter, lambda: ImageFilter("https://a.b"), lambda: LengthLimit(9, "…")):
        stage: TextStream = make()
        assert run(stage, cut(text, places)) == run(make(), [text])


@given(TEXTS, PLACES)
def test_no_finding_is_shown_however_the_answer_is_split(text: str, places: list[int]) -> None:
    shown = run(RedactionFilter(ALL), cut(text, places))
    for each in find_sensitive(text, ALL):
        value = text[each.start : each.end]
        assert shown.count(value) <= text.count(value) - 1 or len(value) < 8


@given(TEXTS, PLACES)
async def test_recorded_text_is_the_shown_text(text: str, places: list[int]) -> None:
    async def answer() -> AsyncGenerator[ModelEvent]:
        for piece in cut(text, places):
            yield TextDelta(piece)
        yield ModelReply(text)

    settings = SanitizerSettings(secrets=True, pii=True, max_chars=200)
    asked = ModelRequest("m", "", (UserMessage("hi"),))
    events = [event async for event in Sanitizer(settings).clean(asked, answer())]
    last = events[-1]
    assert isinstance(last, ModelReply)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == last.text
