"""What an answer took is known, as far as it was heard, although it came to nothing."""

import json

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ExtraCall, ModelReply, ModelRequest, Usage, UserMessage
from hob.providers.cli.claude import ClaudeDecoder
from hob.providers.cli.events import CliFailed
from hob.providers.http.decoder import Decoder
from hob.providers.routing.failover import ModelRoute
from hob.providers.routing.failover_model import Failover
from hob.providers.wires.anthropic.wire import AnthropicDecoder as Anthropic
from hob.providers.wires.gemini.wire import GeminiDecoder as Gemini
from hob.providers.wires.ollama.wire import OllamaDecoder as Ollama
from hob.providers.wires.openai_chat.wire import ChatDecoder as Chat
from hob.providers.wires.openai_responses.wire import ResponsesDecoder as Responses
from hob.testing.clock import ManualClock
from hob.testing.model import ScriptedModel
from tests.providers.hearing import failure, sse

BEGUN = {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 90_000, "output_tokens": 1}}}
TEXT = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x" * 300}}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
CUT_OFF = {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}], "usage": {"prompt_tokens": 90_000}}
BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 70}}
FAILED = {
    "type": "response.failed",
    "response": {"error": {"code": "server_error", "message": "no"}, "usage": {"input_tokens": 5, "output_tokens": 6}},
}
NOTHING = {"message": {"content": ""}, "done": True, "prompt_eval_count": 8, "eval_count": 9}


@pytest.mark.parametrize(
    ("decoder", "data", "fault", "usage"),
    [
        (Anthropic(), sse(BEGUN, TEXT), ModelFault.CUT, Usage(90_000, 150)),  # its output is guessed
        (Anthropic(), sse(BEGUN, OVERLOADED), ModelFault.OVERLOAD, Usage(90_000, 1)),
        (Anthropic(), sse(BEGUN) + b"data: {broken\n\n", ModelFault.GARBAGE, Usage(90_000, 1)),
        (Chat(), sse(CUT_OFF) + b"data: [DONE]\n\n", ModelFault.EMPTY, Usage(90_000, 0)),
        (Gemini(), sse(BLOCKED), ModelFault.FILTERED, Usage(70, 0)),
        (Responses(), sse(FAILED), ModelFault.OVERLOAD, Usage(5, 6)),
        (Ollama(), json.dumps(NOTHING).encode() + b"\n", ModelFault.EMPTY, Usage(8, 9)),
        (Chat(), b'data: {"choices": []}\n\n', ModelFault.CUT, None),
    ],
    ids=["cut", "error", "broken", "empty", "withheld", "failed", "nothing said", "never counted"],
)
def test_failure_tells_what_was_counted(decoder: Decoder, data: bytes, fault: ModelFault, usage: Usage | None) -> None:
    error = failure(decoder, data)
    assert (error.fault, error.usage, error.cost) == (fault, usage, None)


def test_charge_named_by_the_server_comes_with_the_failure() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "cost": 0.25}
    assert failure(Chat(), sse({"choices": [{"finish_reason": "stop"}], "usage": usage})).cost == 250_000


@pytest.mark.parametrize("page", [b"<html>Log in", b"Service under construction\n"])
def test_answer_of_no_model_costs_nothing(page: bytes) -> None:
    error = failure(Chat(), page)
    assert (error.fault, error.cost) == (ModelFault.GARBAGE, 0)


def test_claude_code_tells_what_its_failure_cost() -> None:
    line = {"type": "result", "is_error": True, "result": "API Error: 529 overloaded", "total_cost_usd": 0.02}
    (event,) = ClaudeDecoder().feed(line)
    assert isinstance(event, CliFailed)
    assert event.cost == 20_000


async def told(*script: ModelError | str) -> tuple[list[ExtraCall], ModelReply | ModelError]:
    """The calls told beside an answer of the models `a/x` and, from the second line on, `b/y`; and how it ended."""
    first, *others = script
    models = {"a/x": ScriptedModel(first), "b/y": ScriptedModel(*others)}
    failover = Failover(
        lambda ref: (ModelRoute(ref, ref),), lambda route: models[route.ref], ManualClock(jump=True), draw=lambda: 0.0
    )
    refs = tuple(models)[: len(script)]
    request = ModelRequest("", "", (UserMessage("hi"),), models=refs, patience=0)
    extra: list[ExtraCall] = []
    try:
        async for event in failover.stream(request):
            if isinstance(event, ExtraCall):
                extra.append(event)
            if isinstance(event, ModelReply):
                return extra, event
    except ModelError as error:
        return extra, error
    raise AssertionError("it ended in nothing")


async def test_attempt_that_may_have_to_be_paid_is_told_before_the_next() -> None:
    extra, reply = await told(ModelError(ModelFault.CUT, usage=Usage(5, 6)), "whole")
    assert extra == [ExtraCall("a/x", ModelFault.CUT, Usage(5, 6))]
    assert isinstance(reply, ModelReply)


@pytest.mark.parametrize("error", [ModelError(ModelFault.AUTH), ModelError(ModelFault.GARBAGE, cost=0)])
async def test_rejected_request_is_not_reported(error: ModelError) -> None:
    extra, _ = await told(error, "whole")
    assert extra == []


async def test_usage_of_the_last_attempt_is_reported_and_its_error_leaves_nothing_to_pay() -> None:
    """Its fault is that of the model that was wanted most, which says nothing of what is to be paid for the last."""
    extra, error = await told(ModelError(ModelFault.AUTH), ModelError(ModelFault.CUT))
    assert extra == [ExtraCall("b/y", ModelFault.CUT, has_next=False)]
    assert isinstance(error, ModelError)
    assert (error.fault, error.usage, error.cost) == (ModelFault.AUTH, None, 0)
