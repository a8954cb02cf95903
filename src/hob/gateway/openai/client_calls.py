"""Calls of the client's own tools, and the results that it sends back.

Call ids name the waiting turn, so any request that brings the results resumes it: after a lost answer, after a restart
of Hob or the client, and however often it is repeated.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hob.core.errors import NotFound
from hob.core.ids import CallId, TurnId
from hob.core.ports.accept import Accepted
from hob.core.states import TurnState
from hob.core.steps import ModelReplied, ResultAwaited, ToolReceived
from hob.core.tools import ToolCall, ToolResult
from hob.core.turns import WaitsFor
from hob.gateway.api import Api
from hob.gateway.auth.callers import ApiCaller
from hob.gateway.chat.inbound import is_own
from hob.gateway.chat.outcome import find_accepted
from hob.gateway.openai.conversation import CLIENT_LABEL, plain_text
from hob.gateway.openai.errors import wrong

_MAX_CHARACTERS = 1_000_000


async def open_calls(api: Api, turn: TurnId) -> tuple[str, tuple[ToolCall, ...]]:
    """Return the model's text before the client's open calls, and the calls with ids that name the turn."""
    text, calls, waiting = "", dict[CallId, ToolCall](), dict[CallId, None]()
    for step in await api.store.journal.load_steps(turn):
        match step:
            case ModelReplied():
                text, calls = step.text, {call.id: call for call in step.calls}
            case ResultAwaited(call, on) if on == WaitsFor.CLIENT:
                waiting[call] = None
            case ToolReceived(result):
                waiting.pop(result.call, None)
            case _:
                pass
    found = (calls[id] for id in waiting if id in calls)
    return text, tuple(ToolCall(CallId(f"{turn}.{call.id}"), call.name, call.arguments) for call in found)


def results_of(messages: Sequence[Any], param: str) -> Mapping[str, str]:
    """Return the tool results at the end of a conversation, by call id."""
    found: dict[str, str] = {}
    for place in range(len(messages) - 1, -1, -1):
        each = messages[place]
        if not isinstance(each, dict):
            break
        if each.get("role") == "tool":
            id, content = each.get("tool_call_id"), each.get("content")
        elif each.get("type") == "function_call_output":
            id, content = each.get("call_id"), each.get("output")
        else:
            break
        if not isinstance(id, str):
            raise wrong(f"{param}[{place}]", "a result names its call: `tool_call_id`, or `call_id`")
        found.setdefault(id, plain_text(content, f"{param}[{place}]")[:_MAX_CHARACTERS])
    return found


async def resume(api: Api, caller: ApiCaller, results: Mapping[str, str], param: str) -> Accepted:
    """Give the results to the waiting turn, once. Return the message that the turn works on.

    Raises HttpRefusal, NotFound, StoreErrors.
    """
    turns = {id.partition(".")[0] for id in results}
    row = await api.store.turns.find(turns.pop()) if len(turns) == 1 else None
    if row is None or not is_own(caller, row.session) or not all("." in id for id in results):
        why = "these results belong to no call of Hob's; send the conversation up to the user's last message"
        raise wrong(param, why)
    if row.state is TurnState.PARKED and row.waits_for is WaitsFor.CLIENT:
        _, calls = await open_calls(api, row.id)
        if missing := [call.id for call in calls if call.id not in results]:
            raise wrong(param, f"there is no result for {', '.join(missing)}; send one for each call")
        made = [ToolResult(CallId(id.partition(".")[2]), text, CLIENT_LABEL) for id, text in results.items()]
        await api.store.late_results.put(row.id, *made)
        await api.operations.wake(row.id)
    first = await api.store.inbox.first_of(row.id)
    if first is None:
        raise NotFound("what these results were for was erased")
    return await find_accepted(api, first)
