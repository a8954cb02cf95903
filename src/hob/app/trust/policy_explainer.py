"""Explains how the guard would judge a call, without making it: `hob policy explain` and the dashboard."""

from collections.abc import Callable, Iterator

from hob.app.subsystems import TOOL_GROUPS
from hob.app.tools.gateway_tools import Gateway, GatewayTools
from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.app.trust.guard import BackendSandbox, make_policy
from hob.config.loading import Config
from hob.core.errors import NotConfigured
from hob.core.tools import ToolSpec
from hob.core.trust.labels import SenderClass
from hob.gateway.policy import ExplainedAnswer, ExplainRequest
from hob.guard.policy.context import Sandbox
from hob.guard.policy.explanation import arguments_from, explain, explanation
from hob.guard.policy.hypothetical_calls import GuardSetup, HypotheticalTurn, decision_view, make_context
from hob.guard.screening.masking.known_secrets import KnownSecrets
from hob.tools.mcp.accepted import load_accepted
from hob.tools.mcp.settings import McpSettings
from hob.tools.registry.groups import grouped


async def load_guarding(config: Config, tool_runtime: LazyToolRuntime, known: KnownSecrets) -> GuardSetup:
    """Return the guard with these settings and tools."""
    policy, reader = make_policy(config, tool_runtime.made(), lambda text: ("a secret",) if known(text) != text else ())
    try:
        sandbox = await BackendSandbox(tool_runtime.made(), config).sandbox()
    except NotConfigured:
        sandbox = Sandbox(confined=False, versioned=False)
    declared = {spec.name: spec for group in TOOL_GROUPS for spec in group.tools}
    own = {spec.name: spec for spec in GatewayTools(_no_gateway).toolset.specs()}
    specs = {**grouped(TOOL_GROUPS, [tool_runtime]).named(), **own, **declared}
    return GuardSetup(policy, reader, (*specs.values(), *_server_tools(config)), sandbox)


def _no_gateway() -> Gateway:
    raise AssertionError("explained calls are never made")


def _server_tools(config: Config) -> Iterator[ToolSpec]:
    """Yield the tools that the owner accepted of MCP servers, without connecting to any."""
    from hob.tools.mcp.toolset import specs_of

    for name, server in config[McpSettings].items():
        accepted = load_accepted(config.home, name) if server.on else None
        if accepted is not None:
            yield from specs_of(accepted, server)


class OwnerPolicy:
    """Implements the gateway's `PolicyExplainer`."""

    def __init__(self, config: Callable[[], Config], tool_runtime: LazyToolRuntime, known: KnownSecrets) -> None:
        self._config = config
        self._tool_runtime = tool_runtime
        self._known = known

    async def explain(self, supposed_call: ExplainRequest) -> ExplainedAnswer:
        """Return the decision on this call and the rule that makes it."""
        guarding = await load_guarding(self._config(), self._tool_runtime, self._known)
        spec = next((each for each in guarding.specs if each.name == supposed_call.tool), None)
        arguments = arguments_from(supposed_call.arguments, spec.roles if spec is not None else None)
        supposed = HypotheticalTurn(
            SenderClass.OWNER,
            supposed_call.tainted,
            supposed_call.mode,
            supposed_call.autonomy,
            words=supposed_call.words,
        )
        context = make_context(guarding, supposed)
        decided, analysis = explain(guarding.policy, guarding.reader, context, supposed_call.tool, arguments, spec)
        told = [str(line) for line in explanation(decided, analysis)]
        return {**decision_view(decided, analysis), "known": spec is not None, "told": told}
