"""The tool catalog of `hob tools` and the API: list, explain and try tools."""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from time import perf_counter
from typing import Any, Protocol, cast, runtime_checkable

from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.app.trust.policy_explainer import load_guarding
from hob.bus.halt import halted_since
from hob.config.loading import Config
from hob.core.content.canvas import CanvasPage
from hob.core.errors import InvalidRequest, NotFound, ResultPending, ToolFailed, ToolRefused, UserInputNeeded
from hob.core.ids import CallId, SessionKey, new_inbound_id, new_span_id, new_trace_id, new_turn_id
from hob.core.messages import Address, Inbound, Sender
from hob.core.ports.guard import Allow, Ask
from hob.core.ports.tools import CallContext
from hob.core.spelling import close_names
from hob.core.tools import ToolCall, ToolSpec
from hob.core.translation.language import translatable
from hob.core.trust.labels import OWNER_LABEL, SenderClass, Trust
from hob.core.turns import Turn
from hob.gateway.tools import PageCall, PageCallAnswer, ToolAnswer, ToolTriedAnswer, WholeToolAnswer
from hob.guard.approvals.question_text import visible
from hob.guard.audit.entries import of_action
from hob.guard.policy.explanation import arguments_from, explain, explanation
from hob.guard.policy.hypothetical_calls import GuardSetup, HypotheticalTurn, decision_view, make_context
from hob.guard.policy.modes import Autonomy, Mode
from hob.guard.screening.masking.known_secrets import KnownSecrets
from hob.store.store import Store
from hob.tools.registry.groups import Groups

SESSION = SessionKey("local:tools")
"""The session for tools tried by the owner."""


MAX_PAGE_CALLS = 60
"""Maximum calls by pages per minute."""
_MINUTE = 60.0
_PAGE_SECONDS = 120.0


@runtime_checkable
class PageTools(Protocol):
    """Tools that pages of an MCP server may call."""

    def spec_for_page(self, tool: str) -> ToolSpec | None:
        """Return the tool that a page names, or None."""

    async def call_for_page(self, call: ToolCall, context: CallContext) -> Mapping[str, Any]:
        """Make a call and return MCP's answer. Raises ToolFailed, ToolRefused, UserInputNeeded."""


class OwnerTools:
    """Implements the gateway's `ToolCatalog`. `mask` removes known secrets from results."""

    def __init__(
        self,
        tools: Groups,
        guarding: Callable[[], Awaitable[GuardSetup]],
        store: Store,
        mask: Callable[[str], str],
    ) -> None:
        self._tools = tools
        self._guarding = guarding
        self._store = store
        self._mask = mask
        self._page_calls: deque[float] = deque()  # times in seconds

    def all(self) -> Sequence[ToolAnswer]:
        """Return every tool, the always-shown ones first."""
        return [self._view(spec) for spec in self._tools.named().values()]

    def one(self, name: str) -> WholeToolAnswer:
        """Describe a tool as models and the guard see it."""
        spec = self._spec(name)
        roles = {} if spec.roles is None else {key: value for key, value in asdict(spec.roles).items() if value}
        return {
            **self._view(spec),
            "about": spec.description,
            "schema": dict(spec.schema),
            "roles": roles,
            "restart": spec.restart,
            "timeout": spec.timeout,
            "output_cap": spec.output_cap,
            "bytes": len(json.dumps([spec.name, spec.description, spec.schema])),
        }

    async def test(self, name: str, arguments: str, *, confirmed: bool) -> ToolTriedAnswer:
        """Make one call as if the owner had asked for it, judged by the policy."""
        spec = self._spec(name)
        guarding = await self._guarding()
        arguments = _arguments(spec, arguments)
        context = make_context(guarding, HypotheticalTurn(words=arguments))
        decided, analysis = explain(guarding.policy, guarding.reader, context, name, arguments, spec)
        told = [visible(str(line)) for line in explanation(decided, analysis)]
        view = decision_view(decided, analysis)
        if not (isinstance(decided.verdict, Allow) or (confirmed and isinstance(decided.verdict, Ask))):
            return cast(ToolTriedAnswer, {**view, "told": told, "done": False})
        began = perf_counter()
        text, failed = await self._call(ToolCall(CallId("test"), name, arguments))
        await self._store.audit.add(
            of_action("tool_test", "failed" if failed else "done", SenderClass.OWNER, target=name)
        )
        seconds = round(perf_counter() - began, 3)
        return {
            **view, "told": told, "done": True, "failed": failed, "text": self._mask(text), "seconds": seconds
        }  # fmt: skip

    async def _call(self, call: ToolCall) -> tuple[str, bool]:
        group = self._tools.group_of(call.name)
        toolset = self._tools.groups[group].toolset if group else self._tools
        try:
            result = await toolset.call(call, CallContext(_turn(call.arguments), Trust.TRUSTED))
        except (ToolFailed, ToolRefused) as error:
            return str(error), True
        except (UserInputNeeded, ResultPending) as error:
            why = translatable("{name} waits for an answer: it can only be tried in a conversation", name=call.name)
            raise InvalidRequest(why) from error
        return result.text, result.is_error

    async def call_for_page(self, page_call: PageCall) -> PageCallAnswer:
        """Make a call for a page of an MCP server, judged as in a tainted turn."""
        page = await self._store.canvas.find(page_call.page, page_call.version)
        if not page.server or not page.scripts or page.hidden:
            raise InvalidRequest(translatable("only a page of an MCP server whose scripts run can call its tools"))
        if await halted_since(self._store) is not None:
            raise InvalidRequest(translatable("everything is stopped; `/resume` continues it"))
        toolset, spec = self._page_tool(page, page_call.tool)
        guarding, session = await self._guarding(), await self._store.sessions.get(page.session)
        supposed = HypotheticalTurn(
            tainted=True,
            mode=Mode(session.permission) if session.permission else None,
            autonomy=Autonomy(session.autonomy) if session.autonomy else None,
        )
        context = make_context(guarding, supposed)
        decided, analysis = explain(guarding.policy, guarding.reader, context, spec.name, page_call.arguments, spec)
        told = [visible(str(line)) for line in explanation(decided, analysis)]
        view = {
            **decision_view(decided, analysis),
            "told": told,
            "tool": spec.name,
            "shown": _shown(page_call.arguments),
        }
        if not (isinstance(decided.verdict, Allow) or (page_call.confirmed and isinstance(decided.verdict, Ask))):
            return cast(PageCallAnswer, {**view, "done": False})
        self._count_page_call()
        call = ToolCall(CallId("page"), spec.name, page_call.arguments)
        result = await self._call_for_page(toolset, call, replace(_turn(""), session=page.session))
        await self._store.audit.add(
            of_action("app_call", "failed" if result.get("isError") else "done", SenderClass.OWNER, target=spec.name)
        )
        return cast(PageCallAnswer, {**view, "done": True, "result": json.loads(self._mask(json.dumps(result)))})

    def _page_tool(self, page: CanvasPage, tool: str) -> tuple[PageTools, ToolSpec]:
        group = self._tools.groups.get(f"mcp_{page.server}")
        toolset: object = group.toolset if group is not None else None
        if isinstance(toolset, PageTools) and (spec := toolset.spec_for_page(tool)) is not None:
            return toolset, spec
        raise NotFound(translatable("the MCP server {server} offers no tool {tool}", server=page.server, tool=tool))

    async def _call_for_page(self, toolset: PageTools, call: ToolCall, turn: Turn) -> Mapping[str, Any]:
        try:
            async with asyncio.timeout(_PAGE_SECONDS):
                return await toolset.call_for_page(call, CallContext(turn))
        except (ToolFailed, ToolRefused) as error:
            return _page_error(str(error))
        except TimeoutError:
            return _page_error(f"no answer within {_PAGE_SECONDS:g} s; it may have taken effect")
        except UserInputNeeded:
            return _page_error("the server asks something, which it can do in a conversation alone")

    def _count_page_call(self) -> None:
        """Count a call by a page. Raises InvalidRequest above the limit, since a script could call forever."""
        now = perf_counter()
        while self._page_calls and now - self._page_calls[0] > _MINUTE:
            self._page_calls.popleft()
        if len(self._page_calls) >= MAX_PAGE_CALLS:
            raise InvalidRequest(translatable("pages call at most {maximum} tools a minute", maximum=MAX_PAGE_CALLS))
        self._page_calls.append(now)

    def _view(self, spec: ToolSpec) -> ToolAnswer:
        return {
            "name": spec.name,
            "group": self._tools.group_of(spec.name),
            "about": spec.description.partition("\n")[0],
            "tier": int(spec.tier),
            "effects": sorted(spec.effects),
        }

    def _spec(self, name: str) -> ToolSpec:
        specs = self._tools.named()
        if name in specs:
            return specs[name]
        close = ", ".join(close_names(name, specs))
        raise NotFound(
            translatable("there is no tool {name}; did you mean {close}?", name=name, close=close)
            if close
            else translatable("there is no tool {name}; `hob tools list` shows all", name=name)
        )


def _shown(arguments: str) -> str:
    """Format the arguments, one per line. Raises InvalidRequest if they are not a JSON object."""
    try:
        value = json.loads(arguments)
    except ValueError as error:
        raise InvalidRequest(translatable("the arguments are not JSON")) from error
    if not isinstance(value, dict):
        raise InvalidRequest(translatable("the arguments are not a JSON object"))
    return "\n".join(map(visible, json.dumps(value, indent=2, ensure_ascii=False).split("\n")))


def _page_error(text: str) -> Mapping[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": True}


def _arguments(spec: ToolSpec, text: str) -> str:
    """Return arguments as JSON. Also takes `NAME=TEXT`, or plain text for the main argument."""
    name, mark, value = text.partition("=")
    if mark and name in spec.schema.get("properties", ()):
        return json.dumps({name: value})
    required = spec.schema.get("required", ())
    if text and not text.lstrip().startswith("{") and len(required) == 1:
        return json.dumps({required[0]: text})
    return arguments_from(text, spec.roles) or "{}"


def open_tool_catalog(
    config: Callable[[], Config], tools: Groups, tool_runtime: LazyToolRuntime, store: Store, known: KnownSecrets
) -> OwnerTools:
    """Make the tool catalog; `config` returns the current settings."""
    return OwnerTools(tools, lambda: load_guarding(config(), tool_runtime, known), store, known)


def _turn(words: str) -> Turn:
    inbound = Inbound(
        id=new_inbound_id(),
        key="",
        origin=Address("local", "tools"),
        sender=Sender("owner", cls=SenderClass.OWNER),
        text=words,
        label=OWNER_LABEL,
        trace=new_trace_id(),
    )
    return Turn(new_turn_id(), SESSION, inbound.trace, new_span_id(), (inbound,))
