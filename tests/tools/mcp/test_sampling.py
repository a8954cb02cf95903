"""Sampling: the text that servers get, and the errors of those that may not sample."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from mcp_types import CreateMessageRequestParams, CreateMessageResult, ErrorData, ImageContent, SamplingMessage
from mcp_types import TextContent as Text

from hob.core.errors import HobError, ToolFailed
from hob.tools.mcp.connector import connection_to
from hob.tools.mcp.sampling import Sampling
from tests.bus.bench import until
from tests.tools.mcp.reaching import a_task, a_turn, environment_of, ours

pytestmark = pytest.mark.slow  # each test starts a sandboxed program

BOTH = pytest.mark.parametrize("protocol", ["2025-11-25", "2026-07-28"])


class Model:
    """Answers servers and records the requests."""

    def __init__(self, answer: str | HobError | None = "Leaves unfold") -> None:
        self.asked: list[tuple[str, int, str, int]] = []
        self.answer = answer

    async def sample(self, server: str, tokens: int, system: str, question: str, maximum: int) -> str:
        self.asked.append((server, tokens, question, maximum))
        assert f"A program, {server}, asks" in system
        if self.answer is None:
            await asyncio.Event().wait()
        if isinstance(self.answer, HobError):
            raise self.answer
        return str(self.answer)


async def poem(folder: Path, protocol: str, model: Model, tokens: int = 1000) -> str:
    server = replace(ours(), sampling=tokens)
    connection = connection_to("notes", server, replace(environment_of(folder / "home"), sample=model.sample), protocol)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(connection.run())
        try:
            result = await connection.call("get_poem", {"name": "tea"}, a_turn(), a_task())
        finally:
            running.cancel()
    return result.content[0].text  # type: ignore[no-any-return]


@BOTH
async def test_permitted_server_gets_the_models_answer(tmp_path: Path, protocol: str) -> None:
    model = Model()
    assert await poem(tmp_path, protocol, model) == "tea: Leaves unfold"
    assert model.asked == [("notes", 1000, "A line about Buy green tea.", 60)]


@BOTH
async def test_server_without_sampling_is_refused(tmp_path: Path, protocol: str) -> None:
    model = Model()
    try:
        assert "Leaves" not in await poem(tmp_path, protocol, model, tokens=0)
    except* ToolFailed:
        pass
    assert model.asked == []


@BOTH
async def test_server_learns_why_sampling_is_refused(tmp_path: Path, protocol: str) -> None:
    try:
        said = await poem(tmp_path, protocol, Model(HobError("0 are left today")))
    except* ToolFailed as error:
        said = str(error.exceptions[0])
    assert "0 are left today" in said


async def test_sampling_request_ends_with_its_call() -> None:
    model = Model(None)
    sampling = Sampling("notes", 9, model.sample)
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(sampling.answer(request(Text(type="text", text="hi"))))
        await until(lambda: bool(model.asked))
        sampling.give_up()
    assert "is over" in refusal(asked.result())


async def test_messages_are_labelled_by_role_and_pictures_and_tools_refused() -> None:
    model = Model()
    sampling = Sampling("notes", 9, model.sample)
    wanted = request(Text(type="text", text="hi"))
    await sampling.answer(wanted.model_copy(update={"system_prompt": "Rhyme."}))
    assert model.asked[-1][2] == "instructions: Rhyme.\n\nuser: hi"
    assert "no image" in refusal(await sampling.answer(request(ImageContent(type="image", data="", mime_type="a/b"))))
    assert "tools" in refusal(await sampling.answer(wanted.model_copy(update={"tools": [object()]})))


def request(content: Text | ImageContent) -> CreateMessageRequestParams:
    return CreateMessageRequestParams(messages=[SamplingMessage(role="user", content=content)], max_tokens=9)


def refusal(answer: CreateMessageResult | ErrorData) -> str:
    assert isinstance(answer, ErrorData)
    return str(answer.message)
