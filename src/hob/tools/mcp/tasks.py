"""Task support: calls that a server answers with a task, which is polled until it ends.

The task id is stored before polling starts, so that the next process can continue polling. Cancelling the call cancels
the task.
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

_SHORTEST, _LONGEST = 0.1, 30.0  # limits, in seconds, of the server's poll interval
_USUAL = 1_000  # milliseconds
_GIVING_UP = 2.0
_MAX_QUESTIONS = 20
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)
_REQUEST: TypeAdapter[InputRequest] = TypeAdapter(InputRequest)


@dataclass(frozen=True, slots=True)
class TaskCall:
    """A call that may become a task. `begun` is the task that an earlier process stored for the call, or empty.

    `keep` stores the task durably and raises StoreErrors. `is_shutting_down` returns whether the call continues in the
    next process.
    """

    keep: Callable[[str], Awaitable[None]]
    begun: str = ""
    is_shutting_down: Callable[[], bool] = bool


CURRENT: ContextVar[TaskCall] = ContextVar("mcp_task_call")
"""The call in progress."""


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
    """A task in place of a result. `poll_interval_ms` is the server's wish."""

    result_type: Literal["task"]
    task_id: str
    poll_interval_ms: int | None = None


class _Task(Result):  # type: ignore[misc]
    """The status of a task."""

    task_id: str
    status: Literal["working", "input_required", "completed", "failed", "cancelled"]
    status_message: str | None = None
    poll_interval_ms: int | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    input_requests: dict[str, Any] | None = None


class ServerTasks(ClientExtension):  # type: ignore[misc]
    """Hob's side of the extension. `waits` returns whether the current call waits for the user."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self, waits: Callable[[], bool]) -> None:
        self._waits = waits

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Return the claim that resolves answers that are tasks to the tasks' results."""
        return (ResultClaim(result_type="task", model=_Created, resolve=self.finish),)

    async def finish(self, created: _Created, context: ClaimContext) -> CallToolResult:
        """Poll a task until it ends and return its result. Raises MCPError if it has none. Cancellation cancels the
        task.
        """
        call, session, asking = CURRENT.get(), context.session, _Get(params=_Named(task_id=created.task_id))
        answered: set[str] = set()
        seen: _Created | _Task = created
        try:
            await call.keep(created.task_id)
            while isinstance(seen, _Created) or seen.status in {"working", "input_required"}:
                await anyio.sleep(_poll_seconds(seen.poll_interval_ms))
                seen = await session.send_request(asking, _Task, context.read_timeout_seconds)
                await self._answer(seen, session, answered)
        except BaseException:
            await _cancel(session, created.task_id, call)
            raise
        return _result_of(seen)

    async def resume(self, session: ClientSession, seconds: float) -> CallToolResult:
        """Return the result of an earlier process's task. Raises MCPError, and OutcomeUnknown if the task is gone."""
        created = _Created(result_type="task", task_id=CURRENT.get().begun)
        try:
            await session.send_request(_Get(params=_Named(task_id=created.task_id)), _Task, seconds)
        except MCPError as error:
            raise OutcomeUnknown from error
        return await self.finish(created, ClaimContext(session=session, tool_name="", read_timeout_seconds=seconds))

    async def _answer(self, task: _Task, session: ClientSession, answered: set[str]) -> None:
        """Answer the task's questions, each once. Raises MCPError while an answer is missing."""
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


def _result_of(task: _Task) -> CallToolResult:
    """Return the result of an ended task. Raises MCPError if it has none."""
    if task.status == "completed":
        return CallToolResult.model_validate(task.result)
    told = (task.error or {}).get("message") or task.status_message or f"the task is {task.status}"
    raise MCPError(INTERNAL_ERROR, str(told))


async def call_as_task(
    session: ClientSession, name: str, arguments: Mapping[str, Any], seconds: float
) -> CallToolResult:
    """Call a tool that a 2025-11-25 server offers only as a task, and return its result. Raises MCPError.

    The request bypasses the library, which cannot parse such an answer.
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
            await anyio.sleep(_poll_seconds(task.poll_interval))
            task = await session.send_request(_Get(params=_Named(task_id=task.task_id)), GetTaskResult, seconds)
        asked = GetTaskPayloadRequest(params=GetTaskPayloadRequestParams(task_id=task.task_id))
        # the server's questions arrive during this request
        return await session.send_request(asked, CallToolResult, seconds)
    except BaseException:
        await _cancel(session, task.task_id, call)
        raise


def needs_task(tool: Tool) -> bool:
    """Return whether a 2025-11-25 server accepts calls of the tool only as tasks."""
    return tool.execution is not None and tool.execution.task_support == "required"


def _poll_seconds(wanted: int | None) -> float:
    return min(max((wanted or _USUAL) / 1000, _SHORTEST), _LONGEST)


async def _cancel(session: ClientSession, task: str, call: TaskCall) -> None:
    """Try to cancel the task at the server, unless the next process may continue it."""
    if call.is_shutting_down():
        return
    with anyio.move_on_after(_GIVING_UP, shield=True), suppress(MCPError, ValidationError, *_GONE):
        await session.send_request(_Cancel(params=_Named(task_id=task)), EmptyResult)
