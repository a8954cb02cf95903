"""Calls that a server answers with a task: it is asked after until it is done, and given up with the call.

Which task it is, is kept before it is asked after: where Hob ends meanwhile, the next Hob goes on asking after it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Literal

import anyio
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientRequestContext, ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    CallToolResult,
    CreateTaskResult,
    EmptyResult,
    ErrorData,
    GetTaskPayloadRequest,
    GetTaskPayloadRequestParams,
    GetTaskResult,
    InputRequest,
    Request,
    RequestParams,
    Result,
    Task,
    Tool,
)
from pydantic import TypeAdapter, ValidationError

from hob.core.errors import OutcomeUnknown
from hob.core.values import dataclass

_SHORTEST, _LONGEST = 0.1, 30.0  # seconds between two questions, whatever the server proposes
_USUAL = 1_000  # milliseconds
_GIVING_UP = 2.0
_MAX_QUESTIONS = 20
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)
_REQUEST: TypeAdapter[InputRequest] = TypeAdapter(InputRequest)


@dataclass(frozen=True, slots=True)
class TaskCall:
    """A call that may become a task. `begun` is the task that an earlier Hob began for it, or empty.

    `keep` keeps the task beyond the end of Hob; it raises StoreErrors. `is_shutting_down` tells whether the call goes
    on in the next Hob.
    """

    keep: Callable[[str], Awaitable[None]]
    begun: str = ""
    is_shutting_down: Callable[[], bool] = bool


CURRENT: ContextVar[TaskCall] = ContextVar("mcp_task_call")
"""The call that is being made."""


class _Named(RequestParams):  # type: ignore[misc]
    task_id: str


class _Answers(_Named):
    input_responses: dict[str, Any]


class _Get(Request[_Named, Literal["tasks/get"]]):  # type: ignore[misc]
    method: Literal["tasks/get"] = "tasks/get"
    name_param = "taskId"


class _Update(Request[_Answers, Literal["tasks/update"]]):  # type: ignore[misc]
    method: Literal["tasks/update"] = "tasks/update"
    name_param = "taskId"


class _Cancel(Request[_Named, Literal["tasks/cancel"]]):  # type: ignore[misc]
    method: Literal["tasks/cancel"] = "tasks/cancel"
    name_param = "taskId"


class _Created(Result):  # type: ignore[misc]
    """A task instead of a result. `poll_interval_ms`: when the server wants to be asked after it."""

    result_type: Literal["task"]
    task_id: str
    poll_interval_ms: int | None = None


class _Task(Result):  # type: ignore[misc]
    """How a task stands."""

    task_id: str
    status: Literal["working", "input_required", "completed", "failed", "cancelled"]
    status_message: str | None = None
    poll_interval_ms: int | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    input_requests: dict[str, Any] | None = None


class ServerTasks(ClientExtension):  # type: ignore[misc]
    """Hob's side of the extension. `waits` tells whether the call that is made now waits for the user."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self, waits: Callable[[], bool]) -> None:
        self._waits = waits

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """An answer that is a task becomes what the task comes to."""
        return (ResultClaim(result_type="task", model=_Created, resolve=self.finish),)

    async def finish(self, created: _Created, context: ClaimContext) -> CallToolResult:
        """The result of a task. Raises MCPError where it has none; whoever gives the call up gives the task up."""
        call, session, asking = CURRENT.get(), context.session, _Get(params=_Named(task_id=created.task_id))
        answered: set[str] = set()
        seen: _Created | _Task = created
        try:
            await call.keep(created.task_id)
            while isinstance(seen, _Created) or seen.status in {"working", "input_required"}:
                await anyio.sleep(_pause(seen.poll_interval_ms))
                seen = await session.send_request(asking, _Task, context.read_timeout_seconds)
                await self._answer(seen, session, answered)
        except BaseException:
            await _give_up(session, created.task_id, call)
            raise
        return _outcome(seen)

    async def resume(self, session: ClientSession, seconds: float) -> CallToolResult:
        """The result of a task that an earlier Hob began. Raises MCPError; OutcomeUnknown where there is none."""
        created = _Created(result_type="task", task_id=CURRENT.get().begun)
        try:
            await session.send_request(_Get(params=_Named(task_id=created.task_id)), _Task, seconds)
        except MCPError as error:
            raise OutcomeUnknown from error
        return await self.finish(created, ClaimContext(session=session, tool_name="", read_timeout_seconds=seconds))

    async def _answer(self, task: _Task, session: ClientSession, answered: set[str]) -> None:
        """What the task wants to know is asked once, and said to it. Raises MCPError where there is no answer yet."""
        answers = {}
        for key in (task.input_requests or {}).keys() - answered:
            if len(answered) >= _MAX_QUESTIONS:
                raise MCPError(INTERNAL_ERROR, f"the task asked for more than {_MAX_QUESTIONS} things")
            answered.add(key)
            asked = _REQUEST.validate_python((task.input_requests or {})[key])
            said = await session.dispatch_input_request(ClientRequestContext(session=session, request_id=key), asked)
            if isinstance(said, ErrorData):
                raise MCPError(said.code, said.message)
            answers[key] = said.model_dump(by_alias=True, mode="json", exclude_none=True)
        if self._waits():
            raise MCPError(INTERNAL_ERROR, "the task waits for the user")
        if answers:
            params = _Answers(task_id=task.task_id, input_responses=answers)
            await session.send_request(_Update(params=params), EmptyResult)


def _outcome(task: _Task) -> CallToolResult:
    """What came of it. Raises MCPError where that is no result."""
    if task.status == "completed":
        return CallToolResult.model_validate(task.result)
    told = (task.error or {}).get("message") or task.status_message or f"the task is {task.status}"
    raise MCPError(INTERNAL_ERROR, str(told))


async def call_as_task(
    session: ClientSession, name: str, arguments: Mapping[str, Any], seconds: float
) -> CallToolResult:
    """The result of a tool that the version 2025-11-25 offers as a task alone. Raises MCPError where it has none.

    The library reads no such answer to a call, so the call is made below it.
    """
    call = CURRENT.get()
    if call.begun:
        try:
            task: Task = await session.send_request(_Get(params=_Named(task_id=call.begun)), GetTaskResult, seconds)
        except MCPError as error:
            raise OutcomeUnknown from error
    else:
        params = {"name": name, "arguments": dict(arguments), "task": {}}
        raw = await session._dispatcher.send_raw_request("tools/call", params, {"timeout": seconds})  # noqa: SLF001
        task = CreateTaskResult.model_validate(raw).task
    try:
        await call.keep(task.task_id)
        while task.status == "working":
            await anyio.sleep(_pause(task.poll_interval))
            task = await session.send_request(_Get(params=_Named(task_id=task.task_id)), GetTaskResult, seconds)
        asked = GetTaskPayloadRequest(params=GetTaskPayloadRequestParams(task_id=task.task_id))
        return await session.send_request(asked, CallToolResult, seconds)  # what it asks comes while this waits
    except BaseException:
        await _give_up(session, task.task_id, call)
        raise


def needs_task(tool: Tool) -> bool:
    """Whether a server of 2025-11-25 takes a call of the tool as a task alone."""
    return tool.execution is not None and tool.execution.task_support == "required"


def _pause(wanted: int | None) -> float:
    return min(max((wanted or _USUAL) / 1000, _SHORTEST), _LONGEST)


async def _give_up(session: ClientSession, task: str, call: TaskCall) -> None:
    """Tell the server that nobody waits for the task any more, as far as it can be told; the next Hob may."""
    if call.is_shutting_down():
        return
    with anyio.move_on_after(_GIVING_UP, shield=True), suppress(MCPError, ValidationError, *_GONE):
        await session.send_request(_Cancel(params=_Named(task_id=task)), EmptyResult)
