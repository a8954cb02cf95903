"""POST /v1/responses and GET /v1/responses/{id} with OpenAI's own client."""

from pathlib import Path
from typing import Any

import openai
import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelReply, StopReason
from tests.gateway.conftest import Machine, machine
from tests.gateway.openai.conftest import client_of

ORDER = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
]


async def test_text_is_answered_and_can_be_retrieved(hob: Machine) -> None:
    client = client_of(hob)
    answer = await client.responses.create(model="hob", input="hi", instructions="Be brief.")
    assert answer.output_text.startswith("You said: ")
    assert (answer.status, answer.usage is not None and answer.usage.output_tokens > 0) == ("completed", True)
    assert (await client.responses.retrieve(answer.id)).output_text == answer.output_text
    told = hob.model.requests[0]
    assert "Be brief." not in told.system
    assert told.messages[-1].text.index("from=client") < told.messages[-1].text.index("Be brief.")


async def test_input_items_form_a_conversation(hob: Machine) -> None:
    items: Any = [
        {"role": "user", "content": "my name is Ann"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "who am I?"}]},
    ]
    await client_of(hob).responses.create(model="hob", input=items)
    told = hob.model.requests[0].messages[-1].text
    assert told.index("user: my name is Ann") < told.index("assistant: Hello") < told.rindex("who am I?")


async def test_stream_opens_and_closes_in_order(hob: Machine) -> None:
    stream = await client_of(hob).responses.create(model="hob", input="hi there", stream=True)
    events: list[Any] = [event async for event in stream]
    kinds = [event.type for event in events]
    assert list(dict.fromkeys(kinds)) == ORDER
    assert [event.sequence_number for event in events] == list(range(len(events)))
    pieces = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert pieces == events[-1].response.output_text
    assert pieces.startswith("You said: hi there")


async def test_truncated_answer_is_incomplete(tmp_path: Path) -> None:
    async with machine(tmp_path, ModelReply("Half a", stop=StopReason.LENGTH)) as hob:
        answer = await client_of(hob).responses.create(model="hob", input="hi")
        assert answer.status == "incomplete"
        assert answer.incomplete_details is not None
        assert answer.incomplete_details.reason == "max_output_tokens"


async def test_failure_is_raised_and_can_be_retrieved(tmp_path: Path) -> None:
    async with machine(tmp_path, ModelError(ModelFault.BILLING, "because")) as hob:
        client = client_of(hob)
        with pytest.raises(openai.APIStatusError) as caught:
            await client.responses.create(model="hob", input="hi")
        assert caught.value.status_code == 402
        (task,) = (await hob.tcp.get("/tasks", params={"all": "1"})).json()["tasks"]
        found = await client.responses.retrieve(f"resp_{task['id']}")
        assert (found.status, found.output_text) == ("failed", "")
        assert found.error is not None


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "c"}, "conversation"),
        ({"background": True}, "background"),
        ({"tools": [{"type": "web_search"}]}, "tools[0]"),
        ({"text": {"format": {"type": "json_schema", "name": "x"}}}, "text.format.schema"),
        ({"input": 3}, "input"),
        ({"input": [{"type": "function_call_output", "call_id": "x", "output": "y"}]}, "input"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "https://x/y.png"}]}]}, None),
    ],
)
async def test_unsupported_parameter_of_the_answer_is_refused(
    hob: Machine, more: dict[str, Any], param: str | None
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        await client_of(hob).responses.create(**{"model": "hob", "input": "hi", **more})
    assert caught.value.param == (param or "input[0].content[0].image_url")


async def test_unanswered_question_is_not_found(hob: Machine) -> None:
    for id in ("resp_m_nothing", "m_nothing"):
        with pytest.raises(openai.NotFoundError):
            await client_of(hob).responses.retrieve(id)
