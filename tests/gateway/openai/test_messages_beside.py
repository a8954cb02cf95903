"""Messages that a turn sends beside its answer are in the text that OpenAI's clients show."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hob.core.models import ModelReply
from hob.testing.model import Line, calls
from tests.gateway.conftest import machine
from tests.gateway.openai.conftest import ask, client_of, user

OPEN = calls(("load_tools", '{"names": ["messages"]}'))
WEATHER: Any = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
LOOK = calls(("get_weather", "{}"))


def message(text: str, **more: Any) -> ModelReply:
    return calls(("message", json.dumps({"action": "send", "text": text, **more})))


def sending(home: Path, *script: Line) -> Any:
    free = {"HOB_POLICY_MODE": "full", "HOB_POLICY_AUTONOMY": "autonomous"}
    return machine(home / "home", *script, HOB_WORKSPACE_PATH=str(home / "workspace"), **free)


async def streamed(chunks: AsyncIterator[Any]) -> str:
    return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks if chunk.choices])


TEA = message("Tea is ready.")
CUPS = message("Which cup?", options=["Blue", "Red"])
SAID = "Tea is ready.\n\nWhich cup?\n1. Blue\n2. Red\n\nEnjoy."


@pytest.mark.parametrize("stream", [False, True])
async def test_messages_precede_the_answer(tmp_path: Path, stream: bool) -> None:
    async with sending(tmp_path, OPEN, TEA, CUPS, "Enjoy.") as hob:
        answer = await ask(client_of(hob), "tea", stream=stream)
        if stream:
            assert await streamed(answer) == SAID
        else:
            assert answer.choices[0].message.content == SAID
            assert [each["text"] for each in answer.hob["messages"]] == ["Tea is ready.", "Which cup?"]


@pytest.mark.parametrize("stream", [False, True])
async def test_messages_precede_a_response_and_are_retrieved_with_it(tmp_path: Path, stream: bool) -> None:
    async with sending(tmp_path, OPEN, TEA, CUPS, "Enjoy.") as hob:
        client = client_of(hob)
        if stream:
            async with client.responses.stream(model="hob", input="tea") as events:
                answer: Any = await events.get_final_response()
        else:
            answer = await client.responses.create(model="hob", input="tea")
        assert answer.output_text == SAID
        assert (await client.responses.retrieve(answer.id)).output_text == SAID


async def test_file_is_named_with_its_address(tmp_path: Path) -> None:
    async with sending(tmp_path, OPEN, message("The menu:", file="menu.txt"), "Enjoy.") as hob:
        work = tmp_path / "workspace" / "work"
        work.mkdir(parents=True, exist_ok=True)
        (work / "menu.txt").write_text("soup")
        answer = await ask(client_of(hob), "what is there to eat?")
        (file,) = answer.hob["messages"][0]["attachments"]
        assert answer.choices[0].message.content == f"The menu:\n[menu.txt] {file['url']}\n\nEnjoy."


@pytest.mark.parametrize("stream", [False, True])
async def test_repeated_request_has_the_same_content(tmp_path: Path, stream: bool) -> None:
    async with sending(tmp_path, OPEN, TEA, CUPS, "Enjoy.") as hob:
        client, again = client_of(hob), {"Idempotency-Key": "tea"}
        first = await ask(client, "tea", extra_headers=again)
        answer = await ask(client, "tea", extra_headers=again, stream=stream)
        assert (await streamed(answer) if stream else answer.choices[0].message.content) == SAID
        assert first.choices[0].message.content == SAID


@pytest.mark.parametrize("stream", [False, True])
async def test_each_answer_has_the_messages_since_the_clients_last_calls(tmp_path: Path, stream: bool) -> None:
    async with sending(tmp_path, OPEN, TEA, LOOK, message("It rains."), "Stay in.") as hob:
        client, messages = client_of(hob), [user("tea")]
        first = await ask(client, *messages, tools=[WEATHER])
        said = first.choices[0].message
        assert said.content == "Tea is ready."
        (call,) = said.tool_calls
        messages += [said.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.id, "content": "rain"}]
        for _ in range(2):
            answer = await ask(client, *messages, tools=[WEATHER], stream=stream)
            text = await streamed(answer) if stream else answer.choices[0].message.content
            assert text == "It rains.\n\nStay in."


async def test_answer_in_a_requested_form_stands_alone(tmp_path: Path) -> None:
    async with sending(tmp_path, OPEN, TEA, '{"cup": 1}') as hob:
        client = client_of(hob)
        answer = await ask(client, "tea", response_format={"type": "json_object"})
        assert answer.choices[0].message.content == '{"cup": 1}'
        assert [each["text"] for each in answer.hob["messages"]] == ["Tea is ready."]
        assert (await client.responses.retrieve(f"resp_{answer.hob['id']}")).output_text == '{"cup": 1}'


@pytest.mark.parametrize("stream", [False, True])
async def test_messages_precede_a_question(tmp_path: Path, stream: bool) -> None:
    question = calls(("ask_user", '{"question": "Which cup?", "options": ["Blue", "Red"]}'))
    async with sending(tmp_path, OPEN, TEA, question) as hob:
        answer = await ask(client_of(hob), "tea", stream=stream)
        text = await streamed(answer) if stream else answer.choices[0].message.content
        assert text == "Tea is ready.\n\nWhich cup?\n1. Blue\n2. Red"
