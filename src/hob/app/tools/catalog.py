"""The tools of this Hob, listed, explained and tried: for `hob tools` and the API."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from functools import partial
from time import perf_counter
from typing import cast

from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.app.trust.explaining import guarding_over
from hob.config.loading import Config
from hob.core.errors import AnswerNeeded, InvalidRequest, NotFound, ResultPending, ToolFailed, ToolRefused
from hob.core.ids import CallId, SessionKey, new_inbound_id, new_span_id, new_trace_id, new_turn_id
from hob.core.messages import Address, Inbound, Sender
from hob.core.ports.guard import Allow, Ask
from hob.core.ports.tools import CallContext
from hob.core.spelling import close_names
from hob.core.tools import ToolCall, ToolSpec
from hob.core.translation.language import translatable
from hob.core.trust.labels import OWNER_LABEL, SenderClass, Trust
from hob.core.turns import Turn
from hob.gateway.tools import ToolAnswer, ToolTriedAnswer, WholeToolAnswer
from hob.guard.approvals.question_text import visible
from hob.guard.audit.entries import of_action
from hob.guard.policy.explanation import arguments_from, explain, explanation
from hob.guard.policy.hypothetical_calls import Guarding, Supposed, context_of, decision_view
from hob.guard.screening.masking.known_secrets import KnownSecrets
from hob.store.store import Store
from hob.tools.registry.groups import Groups

SESSION = SessionKey("local:tools")
"""The conversation in whose name tools are tried."""


class OwnerTools:
    """Implements the gateway's `ToolCatalog`. `mask` takes known secrets out of what a call gives."""

    def __init__(
        self, tools: Groups, guarding: Callable[[], Awaitable[Guarding]], store: Store, mask: Callable[[str], str]
    ) -> None:
        self._tools = tools
        self._guarding = guarding
        self._store = store
        self._mask = mask

    def all(self) -> Sequence[ToolAnswer]:
        """Every tool, those that are always shown first."""
        return [self._view(spec) for spec in self._tools.named().values()]

    def one(self, name: str) -> WholeToolAnswer:
        """A tool as models and the guard see it."""
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
        """One call as if the owner had asked for it, judged by the policy."""
        spec = self._spec(name)
        guarding = await self._guarding()
        arguments = _arguments(spec, arguments)
        context = context_of(guarding, Supposed(words=arguments))
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
        except (AnswerNeeded, ResultPending) as error:
            why = translatable("{name} waits for an answer: it can only be tried in a conversation", name=call.name)
            raise InvalidRequest(why) from error
        return result.text, result.is_error

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


def _arguments(spec: ToolSpec, text: str) -> str:
    """The arguments as JSON; a plain text is the required argument, or what the tool is mostly about."""
    required = spec.schema.get("required", ())
    if text and not text.lstrip().startswith("{") and len(required) == 1:
        return json.dumps({required[0]: text})
    return arguments_from(text, spec.roles) or "{}"


def open_tool_catalog(
    config: Config, tools: Groups, tool_runtime: LazyToolRuntime, store: Store, known: KnownSecrets
) -> OwnerTools:
    """The tools of this Hob with these settings."""
    return OwnerTools(tools, partial(guarding_over, config, tool_runtime, known), store, known)


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
