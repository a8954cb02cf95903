"""A connection to one server: opened by the first call, closed when idle, reopened after failures."""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import asdict, field
from typing import Any

import anyio
import httpx2
from mcp.client import Client, advertise
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    CallToolResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    Implementation,
    Tool,
    ToolListChangedNotification,
)
from pydantic import ValidationError

from hob import __version__
from hob.core.clock import Clock
from hob.core.errors import HobError, ToolFailed, UserInputNeeded
from hob.core.turns import Turn
from hob.core.values import dataclass
from hob.tools.mcp.accepted import AcceptedServer, AcceptedTool, hash_of
from hob.tools.mcp.apps import APPS, MIME, is_for
from hob.tools.mcp.effect_inference import guess_effects, guess_roles, tier_of
from hob.tools.mcp.questions import McpAnswers, McpQuestion, NotUnderstood
from hob.tools.mcp.sampling import Sampling
from hob.tools.mcp.stdio import StderrTail
from hob.tools.mcp.streams import Streams, TypedResults
from hob.tools.mcp.tasks import CURRENT, ServerTasks, TaskCall, call_as_task, needs_task
from hob.tools.messages.conversation import is_attended

log = logging.getLogger(__name__)

IDLE_SECONDS = 600.0
"""Seconds a connection stays open after its last call."""

_OPENING_SECONDS = 30.0
_LOGIN_SECONDS = 600.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0
_STEADY = 60.0  # a connection that lasted this many seconds does not count as a failure
_DEAF_SECONDS = 30.0  # seconds before subscribing again after the server ended the subscription
_MAX_PAGES = 50
_MAX_TOOLS = 1_000
_LEGACY = "2025-11-25"  # servers of this version or older are not offered a newer one again


_FAILURES = (
    *(HobError, MCPError, httpx2.HTTPError, OSError, ValueError, RuntimeError, ExceptionGroup),
    *(anyio.ClosedResourceError, anyio.BrokenResourceError),
)
"""Exceptions from a server or the MCP library that mean the server is unavailable or misbehaving."""


@dataclass(frozen=True, slots=True)
class Transport:
    """A way to reach a server: a factory of streams, called with an `ended` callback, and the tail of its stderr."""

    streams: Callable[[Callable[[], None]], AbstractAsyncContextManager[Streams]]
    words: StderrTail = field(default_factory=StderrTail)


@dataclass(slots=True)
class _Call:
    """A call in progress, and the question that the server asked during the call."""

    turn: Turn
    asking: McpQuestion | None = None
    problem: str = ""


class Connection:
    """A connection to one server. Calls need `run` to be running."""

    def __init__(
        self,
        name: str,
        way: Transport,
        clock: Clock,
        *,
        seconds: float,
        protocol: str = "",
        patient: bool = False,
        sampling: Sampling | None = None,
    ) -> None:
        """`seconds` limits each call; `protocol` is the MCP version that the server spoke before.

        `patient` means that opening waits for a person to log in. Without `sampling`, the server cannot call a model.
        """
        self._sampling = sampling
        self._name = name
        self._transport = way
        self._clock = clock
        self._seconds = seconds
        self._protocol = protocol
        self._opening = _LOGIN_SECONDS if patient else _OPENING_SECONDS
        self._answers = McpAnswers()
        self._calls: list[_Call] = []
        self._tasks = ServerTasks(lambda: any(call.asking is not None for call in self._calls))
        self._client: Client | None = None
        self._wanted = asyncio.Event()
        self._opened: asyncio.Future[Client] | None = None
        self._failures = 0
        self._not_before = 0.0
        self._used = clock.monotonic()
        self._broken = asyncio.Event()
        self._offered: Mapping[str, Tool] | None = None

    @property
    def state(self) -> str:
        """The state in words for people: `connected`, `failing` or `idle`."""
        if self._client is not None:
            return "connected"
        return "failing" if self._failures else "idle"

    async def run(self) -> None:
        """Open the connection whenever a call needs it, until cancelled."""
        while True:
            await self._wanted.wait()
            opened = self._opened
            try:
                self._broken.clear()
                async with self._open() as client:
                    self._client = client
                    began = self._clock.monotonic()
                    if opened is not None and not opened.done():
                        opened.set_result(client)
                    async with asyncio.TaskGroup() as tasks:
                        hearing = tasks.create_task(self._subscribe_to_changes(client))
                        await self._close_when_idle()
                        hearing.cancel()
                    if self._clock.monotonic() - began > _STEADY:
                        self._failures = 0
                    if self._broken.is_set():
                        self._failed(RuntimeError("it ended"), None)
            except _FAILURES as error:
                self._failed(error, opened)
            finally:
                self._client, self._opened, self._offered = None, None, None
                self._wanted.clear()

    def _failed(self, error: Exception, opened: "asyncio.Future[Client] | None") -> None:
        self._failures += 1
        self._not_before = self._clock.monotonic() + min(_FIRST_PAUSE * 2 ** (self._failures - 1), _LONGEST_PAUSE)
        told = _reason(error)
        if words := " ".join(self._transport.words.text.split())[-500:]:
            told = f"{told}; it said: {words}"
        log.warning("the MCP server %s failed: %s", self._name, told)
        if opened is not None and not opened.done():
            opened.set_exception(ToolFailed(f"the server {self._name} cannot be used: {told}"))
            opened.exception()  # mark as retrieved, because the waiting call may be gone

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[Client]:
        client = Client(
            self._streams(),
            mode="legacy" if self._protocol and self._protocol <= _LEGACY else "auto",
            client_info=Implementation(name="hob", version=__version__),
            sampling_callback=None if self._sampling is None else self._answer_sampling,
            elicitation_callback=self._answer_elicitation,
            extensions=[self._tasks, advertise(APPS, {"mimeTypes": [MIME]})],
            message_handler=self._on_notification,
            cache=None,
        )
        with anyio.fail_after(self._opening) as limit:
            async with client:
                limit.deadline = math.inf
                yield client

    @asynccontextmanager
    async def _streams(self) -> AsyncIterator[Streams]:
        async with self._transport.streams(self._broken.set) as (read, write):
            yield TypedResults(read), write

    async def _close_when_idle(self) -> None:
        """Return once the connection has been idle long enough or has broken."""
        while (left := self._used + IDLE_SECONDS - self._clock.monotonic()) > 0 or self._calls:
            try:
                async with asyncio.timeout(max(left, 1.0)):
                    await self._broken.wait()
            except TimeoutError:
                continue
            return

    async def _ready(self) -> Client:
        self._used = self._clock.monotonic()
        if self._client is not None and not self._broken.is_set():
            return self._client
        if self._client is not None:
            raise ToolFailed(f"the server {self._name} has just ended; it is started again")
        if (wait := self._not_before - self._clock.monotonic()) > 0:
            raise ToolFailed(f"the server {self._name} failed; it is tried again in {wait:.0f} s")
        if self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
            self._wanted.set()
        return await asyncio.shield(self._opened)

    async def tools(self) -> Mapping[str, Tool]:
        """Return the tools that the server offers now, by name. Raises ToolFailed."""
        client = await self._ready()
        if self._offered is None:
            found: dict[str, Tool] = {}
            cursor = None
            with self._translating_errors():
                for _ in range(_MAX_PAGES):
                    page = await client.list_tools(cursor=cursor)
                    found.update((each.name, each) for each in page.tools)
                    cursor = page.next_cursor
                    if not cursor or len(found) > _MAX_TOOLS:
                        break
            self._offered = found
        return self._offered

    async def about(self) -> AcceptedServer:
        """Return what the server says about itself, without its tools. Raises ToolFailed."""
        client = await self._ready()
        told, can = client.server_info, client.server_capabilities
        return AcceptedServer(
            self._name,
            title=(told.title or told.name) if told is not None else self._name,
            version=told.version if told is not None else "",
            protocol=client.protocol_version,
            resources=can.resources is not None,
            prompts=can.prompts is not None,
        )

    async def call(self, tool: str, arguments: Mapping[str, Any], turn: Turn, task: TaskCall) -> CallToolResult:
        """Call a tool, or resume its task. Raises ToolFailed, and UserInputNeeded if the server asks the user."""
        client = await self._ready()
        CURRENT.set(task)
        made = _Call(turn)
        self._calls.append(made)
        try:
            with self._translating_errors(made):
                offered = await self.tools() if client.protocol_version <= _LEGACY else {}
                if task.begun and client.protocol_version > _LEGACY:
                    return await self._tasks.resume(client.session, self._seconds)
                if tool in offered and needs_task(offered[tool]):
                    return await call_as_task(client.session, tool, arguments, self._seconds)
                return await client.call_tool(tool, dict(arguments), read_timeout_seconds=self._seconds)
        finally:
            self._calls.remove(made)
            self._used = self._clock.monotonic()
            if self._sampling is not None and not self._calls:
                self._sampling.give_up()

    async def ask(self, what: str, **arguments: Any) -> Any:
        """Send `list_resources`, `read_resource`, `list_prompts` or `get_prompt`. Raises ToolFailed."""
        client = await self._ready()
        with self._translating_errors():
            return await getattr(client, what)(**arguments)

    def _translating_errors(self, call: _Call | None = None) -> "_ErrorTranslation":
        return _ErrorTranslation(self, call)

    def judge(self, error: BaseException, call: _Call | None) -> HobError | None:
        """Translate an error into one of Hob's, and note whether the connection is broken. Returns None for foreign
        errors.
        """
        if call is not None and call.asking is not None:
            self._answers.asked(call.turn, call.asking)
            return UserInputNeeded("\n".join(filter(None, [call.problem, call.asking.text])), again=True)
        match error:
            case MCPError(code=code) if code == CONNECTION_CLOSED:
                self._broken.set()
                return ToolFailed(f"the server {self._name} ended; whether the call took effect is unknown")
            case MCPError():
                return ToolFailed(f"{self._name}: {error.message[:2_000]}")
            case anyio.ClosedResourceError() | anyio.BrokenResourceError() | httpx2.HTTPError():
                self._broken.set()
                return ToolFailed(f"the connection to {self._name} broke: {_reason(error)}")
            case TimeoutError():
                return ToolFailed(f"{self._name} did not answer within {self._seconds:g} s; it may have taken effect")
            case ValidationError() | RuntimeError():
                return ToolFailed(f"{self._name} answered what is no MCP: {_reason(error)[:500]}")
        return None

    async def _subscribe_to_changes(self, client: Client) -> None:
        """Subscribe to tool changes. Only the newer protocol needs this, since older servers always send them."""
        tools = client.server_capabilities.tools
        while client.protocol_version > _LEGACY and tools is not None and tools.list_changed:
            with suppress(*_FAILURES):
                async with client.listen(tools_list_changed=True) as changes:
                    self._offered = None
                    async for _ in changes:
                        self._offered = None
            await self._clock.sleep(_DEAF_SECONDS)

    async def _on_notification(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._offered = None
        await anyio.lowlevel.checkpoint()

    async def _answer_sampling(
        self, _: ClientRequestContext, wanted: CreateMessageRequestParams
    ) -> CreateMessageResult | ErrorData:
        if self._sampling is None or not self._calls:
            return ErrorData(code=INVALID_REQUEST, message="a model is asked only in the course of a call")
        return await self._sampling.answer(wanted)

    async def _answer_elicitation(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        """Ask the user on behalf of the only call in progress. With several calls, the question could belong to any of
        them.
        """
        if len(self._calls) != 1 or not is_attended(self._calls[0].turn):
            return ElicitResult(action="cancel")
        call = self._calls[0]
        if isinstance(params, ElicitRequestFormParams):
            asking = McpQuestion(self._name, params.message, params.requested_schema)
        else:
            asking = McpQuestion(self._name, params.message, url=params.url)
        answers = self._answers.find(call.turn, asking)
        if not answers:
            call.asking = asking
            return ElicitResult(action="cancel")
        try:
            content = asking.read(answers)
        except NotUnderstood as why:
            call.asking, call.problem = asking, str(why)
            return ElicitResult(action="cancel")
        if content is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=None if asking.url else content)


class _ErrorTranslation:
    """Translates errors of a request. A pending question of the server takes precedence over any error."""

    def __init__(self, connection: Connection, call: _Call | None) -> None:
        self._connection = connection
        self._call = call

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        asked = self._call is not None and self._call.asking is not None
        if isinstance(error, asyncio.CancelledError) or (error is None and not asked):
            return
        if (told := self._connection.judge(error or RuntimeError(), self._call)) is not None:
            raise told from error


def hints_of(tool: Tool) -> Mapping[str, Any]:
    """Return the server's own hints about the tool's effects."""
    return {} if tool.annotations is None else tool.annotations.model_dump(by_alias=True, exclude_none=True)


def _reason(error: BaseException) -> str:
    """Describe the innermost error in a few words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, httpx2.ConnectError) and "attempts failed" in str(error):
        return "its address does not answer; is it running?"
    if isinstance(error, TimeoutError):
        return f"it did not answer within {_OPENING_SECONDS:g} s"
    if isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
        return "it ended before it answered"
    return (str(error) or type(error).__name__)[:1_000]


def accepted_tool(server: str, tool: Tool) -> AcceptedTool:
    """Return the tool as it would be accepted now, with inferred effects and roles."""
    hints = hints_of(tool)
    effects = guess_effects(tool.name, tool.input_schema, hints)
    roles, effects = guess_roles(server, tool.name, tool.input_schema, effects)
    return AcceptedTool(
        tool.name,
        tool.description or tool.title or tool.name,
        tool.input_schema,
        hash_of(tool.name, tool.description or tool.title or "", tool.input_schema, hints),
        int(tier_of(effects)),
        tuple(sorted(effects)),
        {name: value for name, value in asdict(roles).items() if value},
        app_only=not is_for("model", tool),
    )
