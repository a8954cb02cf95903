"""Messages that a turn sent to its own conversation beside the answer, as texts: OpenAI's clients show nothing else."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from hob.core.content.capabilities import TEXT_ONLY
from hob.core.content.fallbacks import apply_fallbacks
from hob.core.ids import CallId, InboundId, OutboxId, TurnId, message_id
from hob.core.messages import Outbound
from hob.core.steps import ModelReplied, ResultAwaited, ToolReceived
from hob.core.tools import ToolCall
from hob.core.turns import WaitsFor
from hob.gateway.api import Api
from hob.gateway.openai.terms import is_checked

BETWEEN = "\n\n"
"""Separates texts of one answer."""


async def find_beside(api: Api, id: InboundId, answered: Collection[str] = ()) -> Mapping[OutboxId, str]:
    """Return the texts of the messages beside the answer, oldest first.

    A client that brings the results of its calls, `answered`, has those that were sent before. An answer in a
    requested form stands alone.
    """
    result = await api.store.results.find(id)
    if result is None or result.turn is None or not result.sent:
        return {}
    inbound = await api.store.inbox.find_inbound(id)
    if inbound is not None and is_checked(inbound.terms):
        return {}
    earlier = await _sent_before(api, result.turn, answered) if answered else ()
    found = (sent.outbound for sent in result.sent)
    return {each.id: _text_of(each) for each in found if each.id.rpartition(".")[0] not in earlier}


def _text_of(message: Outbound) -> str:
    """Return a message as text: choices as numbered lines, files as names with addresses."""
    files = (replace(file, link=f"/attachments/{file.blob}") for file in message.attachments)
    return apply_fallbacks(replace(message, attachments=tuple(files)), TEXT_ONLY).text


async def _sent_before(api: Api, turn: TurnId, answered: Collection[str]) -> Collection[str]:
    """Return the ids of the messages that the turn sent before these calls of the client were answered."""
    sent, calls, waiting = list[str](), dict[CallId, ToolCall](), set[CallId]()
    before: Collection[str] = sent
    for step in await api.store.journal.load_steps(turn):
        match step:
            case ModelReplied():
                calls = {call.id: call for call in step.calls}
            case ResultAwaited(call, on) if on == WaitsFor.CLIENT and f"{turn}.{call}" in answered:
                waiting.add(call)
            case ToolReceived(result) if result.call in waiting:
                waiting.remove(result.call)
                before = tuple(sent)
            case ToolReceived(result) if result.call in calls:
                sent.append(message_id(turn, result.call, calls[result.call].arguments))
            case _:
                pass
    return before
