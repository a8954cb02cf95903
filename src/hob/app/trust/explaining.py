"""What the guard would say of a call, without doing anything: for `hob policy explain` and the dashboard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.app.trust.guard import BackendHere, rules_of
from hob.config.loading import Config
from hob.core.errors import NotConfigured
from hob.core.ports.guard import Allow
from hob.core.tools import ToolSpec
from hob.core.trust.labels import SenderClass, Trust
from hob.gateway.policy import SupposedCall
from hob.guard.policy.call_analysis import ArgumentReader, ToolCallAnalysis
from hob.guard.policy.context import Context, Sandbox
from hob.guard.policy.exemptions import read_words
from hob.guard.policy.explanation import arguments_from, explain, explanation
from hob.guard.policy.modes import Autonomy, Mode
from hob.guard.policy.policy import Policy, PolicyDecisionTrace
from hob.guard.screening.masking.known_secrets import KnownSecrets


@dataclass(frozen=True, slots=True)
class Guarding:
    """The guard as this home has it, and the tools that there are."""

    policy: Policy
    reader: ArgumentReader
    specs: Sequence[ToolSpec] = ()
    sandbox: Sandbox = field(default_factory=Sandbox)


@dataclass(frozen=True, slots=True)
class Supposed:
    """The turn in which the call would be made; `words` are what the owner would have written."""

    sender: SenderClass = SenderClass.OWNER
    tainted: bool = False
    mode: Mode | None = None
    autonomy: Autonomy | None = None
    group: bool = False
    unattended: bool = False
    words: str = ""


async def guarding_over(config: Config, tool_runtime: LazyToolRuntime, known: KnownSecrets) -> Guarding:
    """The guard with these settings, over these tools."""
    policy, reader = rules_of(config, tool_runtime.made, lambda text: ("a secret",) if known(text) != text else ())
    try:
        sandbox = await BackendHere(tool_runtime.made, config).sandbox()
    except NotConfigured:
        sandbox = Sandbox(confined=False, versioned=False)
    return Guarding(policy, reader, tuple(tool_runtime.named().values()), sandbox)


def context_of(guarding: Guarding, supposed: Supposed) -> Context:
    """The circumstances that are supposed."""
    settings, places = guarding.policy.settings, guarding.reader.places
    words = [supposed.words] if supposed.sender is SenderClass.OWNER else []
    tainted = supposed.tainted or supposed.sender is not SenderClass.OWNER
    return Context(
        sender=supposed.sender,
        trust=Trust.UNTRUSTED if tainted else Trust.TRUSTED,
        named=read_words(words, base=places.base, home=places.home, country=guarding.reader.country),
        mode=supposed.mode or Mode(settings.mode),
        autonomy=supposed.autonomy or Autonomy(settings.autonomy),
        group=supposed.group,
        answerable=not supposed.unattended,
        sandbox=guarding.sandbox,
    )


def decision_view(decided: PolicyDecisionTrace, analysis: ToolCallAnalysis | None) -> dict[str, Any]:
    """The decision as values."""
    verdict = decided.verdict
    return {
        "verdict": type(verdict).__name__.lower(),
        "rule": verdict.rule,
        "reason": "" if isinstance(verdict, Allow) else verdict.reason,
        "acts": [] if analysis is None else sorted(analysis.acts),
        "tier": None if analysis is None else int(analysis.tier),
        "stages": [
            {"stage": stage, "verdict": type(said).__name__.lower(), "rule": said.rule}
            for stage, said in decided.trail
            if said is not None
        ],
    }


class OwnerPolicy:
    """Implements the gateway's `PolicyExplainer`."""

    def __init__(self, config: Config, tool_runtime: LazyToolRuntime, known: KnownSecrets) -> None:
        self._config = config
        self._tool_runtime = tool_runtime
        self._known = known

    async def explain(self, asked: SupposedCall) -> Mapping[str, Any]:
        """What would be said of this call, and by which rule."""
        guarding = await guarding_over(self._config, self._tool_runtime, self._known)
        spec = next((each for each in guarding.specs if each.name == asked.tool), None)
        arguments = arguments_from(asked.arguments, spec.roles if spec is not None else None)
        mode = Mode(asked.mode) if asked.mode else None
        autonomy = Autonomy(asked.autonomy) if asked.autonomy else None
        supposed = Supposed(SenderClass.OWNER, asked.tainted, mode, autonomy, words=asked.words)
        context = context_of(guarding, supposed)
        decided, analysis = explain(guarding.policy, guarding.reader, context, asked.tool, arguments, spec)
        told = [str(line) for line in explanation(decided, analysis)]
        return {**decision_view(decided, analysis), "known": spec is not None, "told": told}
