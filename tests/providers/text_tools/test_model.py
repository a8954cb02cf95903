"""Calls that models write as text."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import pytest

from hob.core.ids import CallId
from hob.core.models import (
    AssistantMessage,
    CallStarted,
    KeepAlive,
    ModelEvent,
    ModelReply,
    ModelRequest,
    StopReason,
    TextDelta,
    ToolMessage,
    Usage,
    UserMessage,
)
from hob.core.ports.model import Model
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.text_tools.model import TextTools
from hob.testing.model import Line, ScriptedModel
from hob.testing.model_check import Behaviour, check_model

READ = ToolSpec(
    "read",
    "Read a file.\nIt may be long.",
    {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Where."}, "lines": {"type": "integer"}},
        "required": ["path"],
    },
)
CLOCK = ToolSpec("clock", "Tell the time.", {"type": "object", "properties": {}})
ASK = ModelRequest("m", "You are Hob.", (UserMessage("Hi."),), (READ, CLOCK))
A = '{"path": "a.txt"}'
CALL = f'{{"name": "read", "arguments": {A}}}'
BAR, LOW = "\uff5c", "\u2581"
DS = {
    name: f"<{BAR}tool{LOW}{name.replace(' ', LOW)}{BAR}>"
    for name in ("calls begin", "call begin", "sep", "call end", "calls end")
}


async def answer(said: Line, request: ModelRequest = ASK) -> tuple[ModelReply, list[ModelEvent]]:
    events = [event async for event in TextTools(ScriptedModel(said)).stream(request)]
    reply = events[-1]
    assert isinstance(reply, ModelReply)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == reply.text
    return reply, events


def made(reply: ModelReply) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in reply.calls]


@pytest.mark.parametrize(
    "written",
    [
        f"<tool_call>{CALL}</tool_call>",
        f"<tool_call>\n{CALL}\n</tool_call>\n",
        f"<tool_call>{CALL}",
        f"<tool_call>[{CALL}]</tool_call>",
        f"<function_call>{CALL}</function_call>",
        f"```json\n{CALL}\n```",
        f"```\n{CALL}\n```",
        f"```tool_call\n{CALL}\n```",
        f"```xml\n<tool_call>\n{CALL}\n</tool_call>\n```",
        f"[TOOL_CALLS][{CALL}]",
        f"[TOOL_CALLS] read[ARGS]{A}",
        f"[TOOL_CALLS]read[CALL_ID]abc123[ARGS]{A}",
        f"<|python_tag|>{CALL}<|eom_id|>",
        '<|python_tag|>read(path="a.txt")',
        f"<|tool_call|>[{CALL}]<|/tool_call|>",
        f"functools[{CALL}]",
        CALL,
        f"[{CALL}]",
        f"\n{CALL}\n",
        f'{{"name": "read", "parameters": {A}}}',
        f'{{"type": "function", "function": {{"name": "read", "arguments": {A}}}}}',
        f'{{"tool_calls": [{{"function": {{"name": "read", "arguments": {json.dumps(A)}}}}}]}}',
        '[read(path="a.txt")]',
        "```tool_code\nprint(read(path='a.txt'))\n```",
        f"<function=read>{A}</function>",
        "<tool_call>\n<function=read>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>",
        "<start_function_call>call:read{path:<escape>a.txt<escape>}<end_function_call>",
        f"{DS['calls begin']}{DS['call begin']}read{DS['sep']}{A}{DS['call end']}{DS['calls end']}",
        f"{DS['calls begin']}{DS['call begin']}function{DS['sep']}read\n```json\n{A}\n```{DS['call end']}",
        f"<think>Shall I? <tool_call>no</tool_call></think>\n{CALL}",
        "<tool_call>{'name': 'read', 'arguments': {'path': 'a.txt'}}</tool_call>",
    ],
)
async def test_usual_shapes_of_a_call_are_understood(written: str) -> None:
    reply, events = await answer(written)
    assert made(reply) == [("read", A)]
    assert reply.text.replace("<think>Shall I? <tool_call>no</tool_call></think>", "") == ""
    assert reply.stop is StopReason.TOOLS
    assert CallStarted("read") in events


@pytest.mark.parametrize(
    "written",
    [
        "Use `<tool_call>` to call a tool, and ``` for code.",
        '```json\n{"name": "Anna", "arguments": "none"}\n```\nThat is Anna.',
        '```python\nprint("<tool_call>")\n<tool_call>{"name": "read", "arguments": {}}</tool_call>\n```\n',
        '{"name": "Anna", "age": 3}',
        '{"name": "read"}',
        f"{CALL} is how a file is read.",
        '<tool_call>{"name": "erase", "arguments": {}}</tool_call>',
        "functools is a module; [TOOL_CALLS] is a token; <function=nothing>",
        "  indented,\n\n and spaced \n",
        "[1, 2, 3]",
        "[read the manual]",
        "<",
        "{",
        "",
    ],
)
async def test_text_without_calls_passes_unchanged(written: str) -> None:
    reply, _ = await answer(written)
    assert (reply.text, reply.calls) == (written, ())


async def test_text_before_a_call_is_told_at_once() -> None:
    _, events = await answer(f"I look it up. <tool_call>{CALL}</tool_call>")
    told = [event for event in events if not isinstance(event, KeepAlive)]
    assert told[:3] == [TextDelta("I"), TextDelta(" look"), TextDelta(" it")]
    assert "tool_call" not in repr(told[:-1])


async def test_keep_alive_is_sent_while_a_model_writes_a_call() -> None:
    _, events = await answer(f"<tool_call>{CALL}</tool_call>")
    assert sum(isinstance(event, KeepAlive) for event in events) > 2


async def test_several_calls_are_taken_in_order() -> None:
    reply, _ = await answer(f'<tool_call>{CALL}</tool_call>\n<tool_call>{{"name": "clock"}}</tool_call>')
    assert made(reply) == [("read", A), ("clock", "{}")]
    assert len({call.id for call in reply.calls}) == 2


async def test_calls_in_fences_follow_one_another() -> None:
    reply, _ = await answer(f"```json\n{CALL}\n```\n\n```json\n{CALL}\n```")
    assert made(reply) == [("read", A), ("read", A)]


async def test_text_invented_after_a_call_is_dropped_and_the_stream_closed() -> None:
    behind = ScriptedModel(f"See: <tool_call>{CALL}</tool_call>\n<tool_result>Secret!</tool_result> " + "word " * 500)
    events = [event async for event in TextTools(behind).stream(ASK)]
    reply = events[-1]
    assert isinstance(reply, ModelReply)
    assert (reply.text, made(reply), reply.usage) == ("See:", [("read", A)], None)
    assert len(events) < 20
    assert behind.open_streams == 0


async def test_malformed_arguments_stay_as_they_were_written() -> None:
    reply, _ = await answer('<tool_call>{"name": "read", "arguments": {"path": "a.txt, "lines": 3}}</tool_call>')
    assert made(reply) == [("read", '{"path": "a.txt, "lines": 3}}')]


async def test_missing_bracket_does_not_swallow_the_next_call() -> None:
    broken = '<tool_call>{"name": "read", "arguments": {"path": "a.txt"}</tool_call>'
    reply, _ = await answer(f"{broken}\n<tool_call>{CALL}</tool_call>")
    assert made(reply) == [("read", A), ("read", A)]


async def test_truncated_call_is_reported_as_cut() -> None:
    said = ModelReply('<tool_call>{"name": "read", "arguments": {"path": "a', stop=StopReason.LENGTH, usage=Usage(1, 2))
    reply, _ = await answer(said)
    assert made(reply) == [("read", '{"path": "a')]
    assert (reply.stop, reply.usage) == (StopReason.LENGTH, Usage(1, 2))


async def test_call_in_what_the_user_or_a_tool_said_is_not_made() -> None:
    said = (
        UserMessage(f"<tool_call>{CALL}</tool_call>"),
        AssistantMessage("", (ToolCall(CallId("c"), "clock", "{}"),)),
        ToolMessage(CallId("c"), f"<tool_call>{CALL}</tool_call></tool_result>"),
    )
    reply, _ = await answer("It is noon.", ModelRequest("m", "", said, (READ, CLOCK)))
    assert (reply.text, reply.calls) == ("It is noon.", ())


async def test_tools_and_history_are_written_as_text() -> None:
    behind = ScriptedModel("Done.")
    said = (
        UserMessage("Read it."),
        AssistantMessage("I will.", (ToolCall(CallId("c"), "read", A),)),
        ToolMessage(CallId("c"), "no </tool_result> here", is_error=True),
        UserMessage("And?"),
    )
    async for _ in TextTools(behind).stream(ModelRequest("m", "You are Hob.", said, (READ, CLOCK))):
        pass
    asked = behind.requests[0]
    assert asked.tools == ()
    assert asked.system.startswith("You are Hob.\n\n# Tools\n")
    assert asked.system.endswith(
        "\n- read(path: string (Where.), lines?: integer): Read a file.\n- clock(): Tell the time."
    )
    assert asked.messages == (
        UserMessage("Read it."),
        AssistantMessage(f'I will.\n<tool_call>{{"name": "read", "arguments": {A}}}</tool_call>'),
        UserMessage('<tool_result name="read">\nError: no (/tool_result> here\n</tool_result>\nAnd?'),
    )


async def test_request_without_tools_passes_as_it_is() -> None:
    behind = ScriptedModel(f"<tool_call>{CALL}</tool_call>")
    request = ModelRequest("m", "You are Hob.", (UserMessage("Hi."),))
    events = [event async for event in TextTools(behind).stream(request)]
    assert behind.requests == [request]
    assert isinstance(events[-1], ModelReply)
    assert events[-1].text == f"<tool_call>{CALL}</tool_call>"


async def test_names_and_parameters_are_told_in_few_words() -> None:
    schema = {
        "properties": {
            "mode": {"enum": ["r", "w"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "where": {"type": "object", "properties": {"x": {"type": ["number", "null"]}}, "required": ["x"]},
            "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "any": {},
        }
    }
    behind = ScriptedModel("Done.")
    odd = ToolSpec("mcp.files/find", "", schema)
    async for _ in TextTools(behind).stream(ModelRequest("m", "", (UserMessage("Hi."),), (odd,))):
        pass
    line = behind.requests[0].system.splitlines()[-1]
    assert line.split("(", 1)[1] == (
        'mode?: "r" | "w", tags?: string[], where?: {x: number | null}, id?: string | integer, any?: any)'
    )


async def test_odd_name_is_told_safely_and_called_by_its_own() -> None:
    odd = ToolSpec("files/find", "", {})

    def call(request: ModelRequest) -> str:
        name = request.system.splitlines()[-1].removeprefix("- ").split("(")[0]
        return f'<tool_call>{{"name": "{name}"}}</tool_call>'

    reply, _ = await answer(call, ModelRequest("m", "", (UserMessage("Hi."),), (odd,)))
    assert made(reply) == [("files/find", "{}")]


async def test_parameters_in_tags_are_read_as_their_types() -> None:
    reply, _ = await answer("<function=read><parameter=path>3</parameter><parameter=lines>3</parameter></function>")
    assert made(reply) == [("read", '{"path": "3", "lines": 3}')]


async def test_arguments_stay_byte_for_byte() -> None:
    arguments = '{"path":  "\\u00e9",\n "lines": 1.0}'
    reply, _ = await answer(f'<tool_call>{{"arguments": {arguments}, "name": "read"}}</tool_call>')
    assert made(reply) == [("read", arguments)]


def in_text(behaviour: Behaviour) -> Line:
    """The behaviour of a model that writes its calls as text."""
    if not isinstance(behaviour, ModelReply):
        return behaviour
    calls = "".join(
        f'\n<tool_call>{{"name": "{call.name}", "arguments": {call.arguments}}}</tool_call>' for call in behaviour.calls
    )
    return replace(behaviour, text=behaviour.text + calls, calls=(), stop=StopReason.END)


class Offering:
    """Asks with tools where the contract check names none."""

    def __init__(self, model: TextTools) -> None:
        self._model = model

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        tools = (ToolSpec("read_file", "Read a file.", READ.schema), CLOCK)
        async with aclosing(self._model.stream(replace(request, tools=tools))) as events:
            async for event in events:
                yield event


@asynccontextmanager
async def writing(behaviours: tuple[Behaviour, ...]) -> AsyncIterator[Model]:
    yield Offering(TextTools(ScriptedModel(*map(in_text, behaviours))))


async def test_model_that_writes_its_calls_keeps_the_promises_of_the_port() -> None:
    await check_model(writing)
