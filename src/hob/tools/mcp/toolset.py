"""The accepted tools of a server as a toolset."""

import base64
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, cast

from hob.core.argument_roles import ArgumentRole
from hob.core.content.images import Image
from hob.core.errors import OutcomeUnknown, ToolFailed, ToolRefused
from hob.core.ports.tools import Blobs, CallContext
from hob.core.tools import Effect, Restart, Tier, ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import Label, Origin, Trust
from hob.tools.mcp.accepted import AcceptedServer, AcceptedTool, spec_of, tool_name
from hob.tools.mcp.apps import MAX_HTML, READ, address_of, hosted, html_of, is_for, page_of
from hob.tools.mcp.ports import BegunTasks, Changed, Present
from hob.tools.mcp.settings import McpServer

MCP_LABEL = Label(Origin.MCP, Trust.UNTRUSTED)

_MAX_IMAGES = 4
_MAX_IMAGE = 8_000_000  # bytes
_RESOURCES, _PROMPTS = "resources", "prompts"
_TEXT: Mapping[str, Any] = {"type": "string"}
_READ_ONLY = re.compile(r"EROFS|read-only file system", re.IGNORECASE)
_FOLDERS = (
    "(The sandbox lets this program write to its own folder only, {data}, and to folders given with --write; the owner "
    "can point it there with --env or an argument, see `hob mcp add --help`.)"
)


class McpToolset:
    """Implements `Toolset` for one server. `connect` returns the connection; its first call loads the library."""

    def __init__(
        self,
        server: AcceptedServer,
        settings: McpServer,
        connect: Callable[[], Awaitable[Any]],
        blobs: Blobs,
        changed: Changed,
        tasks: BegunTasks,
        present: Present | None = None,
    ) -> None:
        """`present` stores pages that belong to results. Without it, they are not shown."""
        self._present = present
        self._tasks = tasks
        self._server = server
        self._connect = connect
        self._blobs = blobs
        self._changed = changed
        offered = [*_accepted_specs(server, settings)]
        self._by_name: Mapping[str, AcceptedTool] = {spec.name: tool for spec, tool in offered}
        self._all = {spec.name: spec for spec, _ in offered}
        self._specs = specs_of(server, settings)
        self._is_program = bool(settings.command)

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the accepted specs, as the same tuple each time."""
        return self._specs

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Make the call, or resume its task.

        Raises ToolFailed, UserInputNeeded, ToolRefused if the tool has changed, and OutcomeUnknown if there is nothing
        to resume.
        """
        arguments = json.loads(call.arguments or "{}")
        begun = await self._tasks.find(context.turn, call) if context.resumed else ""
        if context.resumed and not begun and self._runs_once(call.name):
            raise OutcomeUnknown
        try:
            connection = await self._connect()
            tool = self._by_name.get(call.name)
            if tool is None:
                return await self._call_builtin(call, arguments, connection)
            if not begun:
                await self._check_accepted(tool, connection)
            result = await connection.call(tool.name, arguments, context.turn, self._task_of(call, context, begun))
        except ToolFailed as error:
            if begun and self._runs_once(call.name):
                raise OutcomeUnknown from error
            raise
        return await self._to_result(tool, call, arguments, result, connection, context)

    def spec_for_page(self, tool: str) -> ToolSpec | None:
        """Return the tool that a page names by the server's own name, or by `READ`; None if there is none."""
        if tool == READ:
            return next((spec for spec in self._specs if spec.name == tool_name(self._server.name, _RESOURCES)), None)
        return next((self._all[name] for name, each in self._by_name.items() if each.name == tool), None)

    async def call_for_page(self, call: ToolCall, context: CallContext) -> Mapping[str, Any]:
        """Make a call for a page of the server and return the server's answer, `CallToolResult` or
        `ReadResourceResult`.

        Raises as `call` does.
        """
        tool, connection = self._by_name.get(call.name), await self._connect()
        arguments = json.loads(call.arguments)
        if tool is None:
            result = await connection.ask("read_resource", uri=str(arguments.get("uri", "")))
        else:
            await self._check_accepted(tool, connection)
            if not is_for("app", (await connection.tools())[tool.name]):
                raise ToolRefused(f"{self._server.name} does not let its pages call {tool.name}")
            result = await connection.call(tool.name, arguments, context.turn, self._task_of(call, context, ""))
        told = cast("Mapping[str, Any]", result.model_dump(by_alias=True, mode="json", exclude_none=True))
        if len(json.dumps(told)) > MAX_HTML:
            raise ToolFailed(f"{self._server.name} answered more than {MAX_HTML:,} characters, which no page is given")
        return told

    def _runs_once(self, name: str) -> bool:
        return any(spec.name == name and spec.restart is Restart.RESUME for spec in self._specs)

    def _task_of(self, call: ToolCall, context: CallContext, begun: str) -> Any:
        from hob.tools.mcp.tasks import TaskCall

        return TaskCall(partial(self._tasks.keep, context.turn, call), begun, context.is_shutting_down)

    async def _to_result(
        self,
        tool: AcceptedTool,
        call: ToolCall,
        arguments: Mapping[str, Any],
        result: Any,
        connection: Any,
        context: CallContext,
    ) -> ToolResult:
        """Convert the server's answer to a result for the model."""
        parts: list[str] = []
        images: list[Image] = []
        for block in result.content:
            if block.type == "image" and len(images) < _MAX_IMAGES and len(block.data) < _MAX_IMAGE:
                blob = await self._blobs.put(base64.b64decode(block.data), block.mime_type)
                images.append(Image(blob, block.mime_type))
            else:
                parts.append(_block_text(block))
        if result.structured_content is not None and not any(part.strip() for part in parts):
            parts.append(json.dumps(result.structured_content, ensure_ascii=False))
        if not result.is_error and (shown := await self._show_page(tool, arguments, result, connection, context)):
            parts.append(shown)
        if result.is_error and self._is_program and any(_READ_ONLY.search(part) for part in parts):
            parts.append(_FOLDERS)
        text = "\n".join(filter(None, parts)) or ("(a picture)" if images else "(nothing)")
        return ToolResult(call.id, text, MCP_LABEL, result.is_error, images=tuple(images))

    async def _show_page(
        self, tool: AcceptedTool, arguments: Mapping[str, Any], result: Any, connection: Any, context: CallContext
    ) -> str:
        """Present the page that belongs to the result, if there is one; return a note for the model."""
        address = address_of((await connection.tools())[tool.name]) if self._present is not None else ""
        if self._present is None or not address:
            return ""
        try:
            html = html_of(await connection.ask("read_resource", uri=address))
        except ToolFailed as error:  # the result itself is still good
            return f"(its page cannot be shown: {error})"
        if not html:
            return f"(its page cannot be shown: {address} is no page, or one that is too long)"
        told = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        page = page_of(self._server.name, tool.name, context.turn, html)
        page = await self._present(page, hosted(html, arguments, told))
        return (
            f"(the user sees it as a page in the dashboard, /canvas/{page.id}, where they can let its scripts run; "
            "what they do there, and call, you are not told)"
        )

    async def _check_accepted(self, tool: AcceptedTool, connection: Any) -> None:
        """Raise ToolRefused if the description or the inferred effects differ from what the owner accepted."""
        from hob.tools.mcp.connection import accepted_tool

        now, name = await connection.tools(), self._server.name
        if tool.name in now and tool.covers(accepted_tool(name, now[tool.name])):
            return
        if tool.name not in now:
            raise ToolFailed(f"{name} has no tool {tool.name} any more")
        known = [each for each in self._server.tools if each.name in now]
        others = [each.name for each in known if not each.covers(accepted_tool(name, now[each.name]))]
        await self._changed(name, others)
        raise ToolRefused(
            f"{tool.name} of {name} is no longer what the owner has accepted; the owner looks at it and accepts it "
            f"with `hob mcp accept {name}`"
        )

    async def _call_builtin(self, call: ToolCall, arguments: Mapping[str, Any], connection: Any) -> ToolResult:
        if call.name == tool_name(self._server.name, _RESOURCES):
            if uri := arguments.get("uri"):
                read = await connection.ask("read_resource", uri=str(uri))
                texts = [getattr(each, "text", None) or f"({each.mime_type or 'bytes'})" for each in read.contents]
            else:
                listed = await connection.ask("list_resources")
                texts = [
                    f"{each.uri}  {each.title or each.name}  {each.description or ''}" for each in listed.resources
                ]
        elif call.name == tool_name(self._server.name, _PROMPTS):
            if name := arguments.get("name"):
                values = {key: str(value) for key, value in dict(arguments.get("arguments") or {}).items()}
                got = await connection.ask("get_prompt", name=str(name), arguments=values)
                texts = [f"{each.role}: {_block_text(each.content)}" for each in got.messages]
            else:
                listed = await connection.ask("list_prompts")
                texts = [
                    f"{each.name}({', '.join(one.name for one in each.arguments or ())})  {each.description or ''}"
                    for each in listed.prompts
                ]
        else:
            raise ToolFailed(f"there is no tool {call.name}")
        return ToolResult(call.id, "\n".join(texts) or "(none)", MCP_LABEL)


def specs_of(server: AcceptedServer, settings: McpServer) -> tuple[ToolSpec, ...]:
    """Return the specs that models are offered."""
    shown = (spec for spec, tool in _accepted_specs(server, settings) if not tool.app_only)
    return (*shown, *_resource_and_prompt_specs(server, settings.timeout, remote=_is_remote(settings)))


def _accepted_specs(server: AcceptedServer, settings: McpServer) -> Iterator[tuple[ToolSpec, AcceptedTool]]:
    for tool in server.tools:
        if _is_offered(tool.name, settings.tools):
            called = settings.rename.get(tool.name, tool.name)
            yield spec_of(server.name, tool, called, settings.timeout, remote=_is_remote(settings)), tool


def _is_remote(settings: McpServer) -> bool:
    return bool(settings.url or settings.hosts)


def _is_offered(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, each) for each in patterns)


def _resource_and_prompt_specs(server: AcceptedServer, timeout: float, *, remote: bool) -> Sequence[ToolSpec]:
    """Return the specs of the tools that read the server's resources and prompts."""
    found = []
    if server.resources:
        schema = {"type": "object", "properties": {"uri": _TEXT}}
        told = f"List what {server.name} offers to read, or read one of it by its URI."
        found.append((_RESOURCES, told, schema, ArgumentRole(plain=("uri",), remote=remote)))
    if server.prompts:
        values = {"type": "object", "additionalProperties": _TEXT}
        schema = {"type": "object", "properties": {"name": _TEXT, "arguments": values}}
        told = f"List the prompts that {server.name} has ready, or fill one in."
        found.append((_PROMPTS, told, schema, ArgumentRole(plain=("name", "arguments"), remote=remote)))
    return [
        ToolSpec(
            tool_name(server.name, name),
            told,
            schema,
            tier=Tier.READ,
            effects=frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED}),
            restart=Restart.AGAIN,
            parallel=True,
            timeout=timeout,
            roles=roles,
        )
        for name, told, schema, roles in found
    ]


def _block_text(block: Any) -> str:
    """Return a content block as text."""
    match block.type:
        case "text":
            return str(block.text)
        case "resource":
            return str(getattr(block.resource, "text", None) or f"({block.resource.uri})")
        case "resource_link":
            return f"({block.uri}  {block.title or block.name})"
        case kind:
            return f"({kind}: {getattr(block, 'mime_type', '')})"
