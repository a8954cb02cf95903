"""Replay of a turn: tools return recorded results, nothing is executed, and nothing enters the session."""

import difflib
import json
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import pairwise

from hob.agent.budget.accounting import stream_outside
from hob.agent.budget.budget import Budget
from hob.agent.prompt.tokens import estimate_messages, estimate_tokens
from hob.core.clock import Clock
from hob.core.errors import BudgetExceeded, InvalidRequest, ModelError
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, TraceId, TurnId, new_event_id, new_span_id, new_trace_id
from hob.core.models import AssistantMessage, ModelReply, ModelRequest, ToolMessage, Usage, UserMessage
from hob.core.ports.model import Model, RoutesRequests
from hob.core.steps import ModelAsked, ModelReplied, Step, ToolReceived
from hob.core.tools import ToolCall
from hob.core.translation.language import translatable
from hob.core.trust.labels import HOB_LABEL, SenderClass
from hob.core.values import dataclass
from hob.gateway.answer_types import RebuiltAnswer, ReplayAnswer, ReplayBill, ReplayedCall, ReplaySide
from hob.providers.routing.model_routes import ModelRoutes
from hob.providers.routing.rebuilt_requests import RebuiltRequests
from hob.store.store import Store

TASK = "replay"
_SESSION = SessionKey("models:replay")
_PATIENCE_SECONDS = 60.0
_EXTRA_ROUNDS = 3
"""Rounds that a replay may take beyond the recorded turn."""
_NOT_MADE = (
    "This call was not made. This is a replay: calls are answered with what the recorded turn got, and it made no such"
    " call. Answer with what you have."
)


@dataclass(frozen=True, slots=True)
class _Round:
    """A recorded model call: the number of its step, and its reply, if there was one."""

    step: int
    asked: ModelAsked
    replied: ModelReplied | None


class TurnReplay:
    """Rebuilds the requests of a turn, and sends them to another model."""

    def __init__(self, store: Store, model: Model, routes: ModelRoutes, budget: Budget, clock: Clock) -> None:
        self._store = store
        self._model = model
        self._routes = routes
        self._budget = budget
        self._clock = clock

    async def __call__(self, id: str, model: str) -> ReplayAnswer:
        """Return a turn's requests and answers, by the id of the turn, message or trace; with a model also its replay.

        Raises NotFound, and InvalidRequest if the details were erased.
        """
        turn, trace = await self._store.requests.turn(id)
        steps, requests = await self._store.journal.load_steps(turn), await self._store.requests.load(turn)
        rounds = _rounds(steps)
        if not any(each.step in requests for each in rounds):
            raise InvalidRequest(_why_gone(steps))
        then = await self._then(turn, trace, rounds)
        view: ReplayAnswer = {
            "turn": turn,
            "trace": trace,
            "rebuilt": [await self._compare_request(each, requests) for each in rounds],
            "then": then,
            "now": None,
            "difference": [],
        }
        if not model:
            return view
        joined = _joined_messages(rounds, requests)
        now = await self._ask(requests[min(requests)], model, _RecordedResults(rounds, steps, requests), joined)
        before, after = then["text"].splitlines(), now["text"].splitlines()
        difference = [*difflib.unified_diff(before, after, then["model"], now["model"], lineterm="")]
        return {**view, "now": now, "difference": difference}

    async def _compare_request(self, each: _Round, requests: Mapping[int, ModelRequest]) -> RebuiltAnswer:
        """Compare the bytes that the stored request would send with those that were sent."""
        replied, request = each.replied, requests.get(each.step)
        ref = replied.ref if replied is not None else each.asked.model
        row: RebuiltAnswer = {"step": each.step, "model": ref, "sent": "", "identical": None, "why": ""}
        if replied is None or not replied.sent:
            row["why"] = translatable("what was sent was not noted: no answer came, or the model is no server")
        elif request is None:
            row["why"] = translatable("the request is erased")
        else:
            try:
                same = await self._routes.another(RebuiltRequests).matches(ref, request, replied.sent)
            except ModelError as error:
                return row | {"sent": replied.sent, "why": str(error)}
            why = translatable("how the model is reached was changed since, or what it lacks was not known then")
            row |= {"sent": replied.sent, "identical": same, "why": "" if same else why}
        return row

    async def _then(self, turn: TurnId, trace: TraceId, rounds: Sequence[_Round]) -> ReplaySide:
        replies = [each.replied for each in rounds if each.replied is not None]
        events = [event for event in await self._store.timeline.trace(trace) if event.turn == turn]
        calls = [call for reply in replies for call in reply.calls]
        costs = [reply.cost for reply in replies]
        return {
            "model": (replies[-1].ref or replies[-1].model) if replies else rounds[-1].asked.model,
            "text": replies[-1].text if replies else "",
            "calls": [{"name": call.name, "arguments": call.arguments, "recorded": True} for call in calls],
            "rounds": len(rounds),
            "seconds": round(sum(event.seconds or 0.0 for event in events if event.kind is EventKind.MODEL), 3),
            "trouble": "",
            **_bill([reply.usage for reply in replies], costs),
        }

    async def _ask(
        self, request: ModelRequest, model: str, recorded: "_RecordedResults", joined: Sequence[Sequence[UserMessage]]
    ) -> ReplaySide:
        request = replace(
            request, model=model, models=(), task=TASK, cache_key=None, patience=_PATIENCE_SECONDS, local_only=False
        )
        waiting = deque(joined[1:])
        began, replies, calls, trouble = self._clock.monotonic(), list[ModelReply](), list[ReplayedCall](), ""
        try:
            while len(replies) < len(joined) + _EXTRA_ROUNDS:
                reply = await self._reply(request)
                replies.append(reply)
                more = waiting.popleft() if waiting else ()
                while not (reply.calls or more) and waiting:
                    more = waiting.popleft()
                if not (reply.calls or more):
                    break
                results = [recorded.result(call) for call in reply.calls]
                calls += [
                    {"name": call.name, "arguments": call.arguments, "recorded": not result.is_error}
                    for call, result in zip(reply.calls, results, strict=True)
                ]
                said = AssistantMessage(reply.text, reply.calls, reply.continuation)
                request = replace(request, messages=(*request.messages, said, *results, *more))
            else:
                trouble = translatable("it kept calling tools; its replay was ended")
        except (ModelError, BudgetExceeded) as error:
            trouble = str(error)
        return {
            "model": replies[-1].ref if replies else model,
            "text": replies[-1].text if replies else "",
            "calls": calls,
            "rounds": len(replies),
            "seconds": round(self._clock.monotonic() - began, 3),
            "trouble": trouble,
            **_bill(
                [reply.usage for reply in replies],
                [self._budget.cost_of_reply(reply.ref or model, reply) for reply in replies],
            ),
        }

    async def _reply(self, request: ModelRequest) -> ModelReply:
        """Ask the model. Raises ModelError, BudgetExceeded."""
        if isinstance(self._model, RoutesRequests):
            request = (await self._model.route(request)).request
        began, reply = self._clock.monotonic(), ModelReply("")

        def event_of(name: str, status: str) -> TimelineEvent:
            seconds = self._clock.monotonic() - began
            return TimelineEvent(
                new_event_id(), new_trace_id(), new_span_id(), None, self._clock.now().timestamp() - seconds,
                EventKind.MODEL, name, status, session=_SESSION, label=HOB_LABEL, seconds=seconds,
            )  # fmt: skip

        tokens = estimate_tokens(request.system) + estimate_messages(request.messages)
        async with (
            self._budget.reserve(_SESSION, SenderClass.OWNER, request, tokens) as held,
            aclosing(stream_outside(self._budget, self._model, held, event_of)) as events,
        ):
            async for event in events:
                if isinstance(event, ModelReply):
                    reply = event
        return reply


class _RecordedResults:
    """Recorded tool results of a turn, as the model saw them, by tool name and arguments."""

    def __init__(self, rounds: Sequence[_Round], steps: Sequence[Step], requests: Mapping[int, ModelRequest]) -> None:
        texts = {step.result.call: step.result.text for step in steps if isinstance(step, ToolReceived)}
        shown = [said for n in sorted(requests) for said in requests[n].messages if isinstance(said, ToolMessage)]
        texts |= {said.call: said.text for said in shown}
        self._left: dict[tuple[str, str], deque[str]] = defaultdict(deque)
        for each in rounds:
            for call in each.replied.calls if each.replied is not None else ():
                if call.id in texts:
                    self._left[_key(call)].append(texts[call.id])

    def result(self, call: ToolCall) -> ToolMessage:
        """Return the recorded result of this call. A repeated call gets the next result, or the last one again."""
        left = self._left.get(_key(call))
        if not left:
            return ToolMessage(call.id, _NOT_MADE, is_error=True)
        return ToolMessage(call.id, left.popleft() if len(left) > 1 else left[0])


def _key(call: ToolCall) -> tuple[str, str]:
    try:
        return call.name, json.dumps(json.loads(call.arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return call.name, call.arguments


def _rounds(steps: Sequence[Step]) -> list[_Round]:
    rounds: list[_Round] = []
    for n, step in enumerate(steps):
        if isinstance(step, ModelAsked):
            rounds.append(_Round(n, step, None))
        elif isinstance(step, ModelReplied) and rounds:
            rounds[-1] = replace(rounds[-1], replied=step)
    return rounds


def _joined_messages(rounds: Sequence[_Round], requests: Mapping[int, ModelRequest]) -> list[Sequence[UserMessage]]:
    """Return messages that joined the running turn, by the round whose request first included them; never the first."""
    found: list[Sequence[UserMessage]] = [()]
    for one, other in pairwise(requests.get(each.step) for each in rounds):
        new: list[UserMessage] = []
        if one is not None and other is not None:
            shown = Counter(said.text for said in one.messages if isinstance(said, UserMessage))
            for said in other.messages:
                if isinstance(said, UserMessage):
                    shown[said.text] -= 1
                    if shown[said.text] < 0:
                        new.append(said)
        found.append(new)
    return found


def _why_gone(steps: Sequence[Step]) -> str:
    if not steps:
        return translatable("the details of this turn are erased, so it cannot be replayed (retention.details_days)")
    if not any(isinstance(step, ModelAsked) for step in steps):
        return translatable("no model was asked in this turn")
    return translatable(
        "what the model was given is gone: something was erased since, or the turn is older than this release"
    )


def _bill(usages: Sequence[Usage | None], costs: Sequence[int | None]) -> ReplayBill:
    known = [cost for cost in costs if cost is not None]
    return {
        "cost_usd": sum(known) / 1_000_000 if len(known) == len(costs) else None,
        "input_tokens": sum(usage.input for usage in usages if usage is not None),
        "output_tokens": sum(usage.output for usage in usages if usage is not None),
    }
