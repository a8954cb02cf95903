"""However a stream is cut and whatever a model writes, its calls are the same and nothing else is lost or made."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.providers.text_tools.blocks import CLOSERS, OPENERS
from hob.providers.text_tools.call_reader import CallReader
from hob.providers.text_tools.calls import WrittenCall
from tests.growth import grows_with_its_size

TOOLS: dict[str, dict[str, Any]] = {
    "read": {"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}}},
    "clock": {"type": "object", "properties": {}},
}
ARGUMENTS = '{"path": "a.txt"}'
CALL = f'{{"name": "read", "arguments": {ARGUMENTS}}}'

pieces = st.sampled_from(
    [
        *OPENERS,
        *CLOSERS,
        *(CALL, f"[{CALL}]", ARGUMENTS, '{"name": "read", "arguments": {"path": "</tool_call>`"}}'),
        *('{"name": "read", "arguments": {"path": "a}', '{"name": "erase", "arguments": {}}', '{"name":', '"'),
        *("```json\n", "```tool_code\n", "```python\n", "\n```\n", "\r\n", " ", "\n", "{", "}", "[", "'", "\\"),
        *("read", "clock", "read(", "read()", 'read(path="x")', "print(", "print(clock())", "(", "function"),
        *("[ARGS]", "[CALL_ID]1", "<function=read>", "<parameter=path>", "</parameter>", "<arg_key>path</arg_key>"),
        *("<arg_value>1</arg_value>", "call:read{path:<escape>x<escape>}", "<think>", "</think>", "f", "word"),
    ]
)
answers = st.lists(pieces | st.text(max_size=3), max_size=12).map("".join)
right = st.sampled_from(
    [
        f"<tool_call>{CALL}</tool_call>",
        f"```json\n{CALL}\n```",
        f"[TOOL_CALLS][{CALL}]",
        f"[TOOL_CALLS]read[ARGS]{ARGUMENTS}",
        f"<|python_tag|>{CALL}",
        f"functools[{CALL}]",
        "<tool_call><function=read><parameter=path>a.txt</parameter></function></tool_call>",
        "<tool_call>read\n<arg_key>path</arg_key><arg_value>a.txt</arg_value></tool_call>",
        "<start_function_call>call:read{path:<escape>a.txt<escape>}<end_function_call>",
    ]
)
innocent = st.text(st.characters(exclude_characters="<[{`f"), max_size=200)


def hear(parts: list[str]) -> tuple[str, list[WrittenCall]]:
    reader = CallReader(TOOLS)
    shown = [reader.feed(part) for part in parts]
    shown.append(reader.finish())
    return "".join(shown), reader.calls


@st.composite
def cuts(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> tuple[str, list[str]]:
    text = draw(texts)
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=20)))
    return text, [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


@given(cuts(answers))
def test_cuts_of_the_stream_make_no_difference(cut: tuple[str, list[str]]) -> None:
    text, parts = cut
    whole = hear([text])
    assert hear(parts) == whole
    assert hear(list(text)) == whole


@given(answers)
def test_answer_without_calls_passes_unchanged_and_calls_are_of_tools_that_were_offered(text: str) -> None:
    shown, calls = hear([text])
    assert all(call.name in TOOLS for call in calls)
    if calls:
        assert text.startswith(shown)
    else:
        assert shown == text


@given(cuts(st.builds("{0}{1}{2}".format, innocent, right, answers)))
def test_call_is_found_behind_any_text_and_never_shown(cut: tuple[str, list[str]]) -> None:
    text, parts = cut
    shown, calls = hear(parts)
    assert calls[0] == WrittenCall("read", ARGUMENTS)
    assert "read" not in shown.removeprefix(text[: len(shown)])
    assert text.startswith(shown)


@given(path=st.text(max_size=100), cut=st.integers(1, 50))
def test_argument_arrives_whatever_it_holds(path: str, cut: int) -> None:
    arguments = json.dumps({"path": path})
    text = f'<tool_call>{{"name": "read", "arguments": {arguments}}}</tool_call>'
    assert hear([text[at : at + cut] for at in range(0, len(text), cut)]) == ("", [WrittenCall("read", arguments)])


@given(innocent)
def test_plain_text_is_told_at_once(text: str) -> None:
    reader = CallReader(TOOLS)
    assert reader.feed(text) == text.rstrip()


@pytest.mark.slow
@pytest.mark.parametrize("piece", [*OPENERS, '<tool_call>{"name": "read", "', "```json\n{", "[", "{", '"', "\\", "`"])
def test_hostile_repetition_is_read_in_time(piece: str) -> None:
    def work(size: int) -> None:
        text = piece * (size // len(piece))
        shown, _ = hear([text[at : at + 4_000] for at in range(0, len(text), 4_000)])
        assert text.startswith(shown)

    grows_with_its_size(work, 25_000, minimum=0.01)
