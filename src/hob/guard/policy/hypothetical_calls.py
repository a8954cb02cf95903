"""Hypothetical calls: the guard, the imagined turn, and the decision as values."""

from collections.abc import Sequence
from dataclasses import field

from hob.core.ports.guard import Allow
from hob.core.tools import ToolSpec
from hob.core.trust.labels import SenderClass, Trust
from hob.core.values import dataclass
from hob.guard.policy.call_analysis import ArgumentReader, ToolCallAnalysis
from hob.guard.policy.context import Context, Sandbox
from hob.guard.policy.decision_view import DecisionView
from hob.guard.policy.exemptions import parse_owner_words
from hob.guard.policy.modes import Autonomy, Mode
from hob.guard.policy.policy import Policy, PolicyDecisionTrace


@dataclass(frozen=True, slots=True)
class GuardSetup:
    """The guard of this home, and the tools available to it."""

    policy: Policy
    reader: ArgumentReader
    specs: Sequence[ToolSpec] = ()
    sandbox: Sandbox = field(default_factory=Sandbox)


@dataclass(frozen=True, slots=True)
class HypotheticalTurn:
    """The turn in which the call would be made; `words` are what the owner would have written."""

    sender: SenderClass = SenderClass.OWNER
    tainted: bool = False
    mode: Mode | None = None
    autonomy: Autonomy | None = None
    group: bool = False
    unattended: bool = False
    words: str = ""


def make_context(guarding: GuardSetup, supposed: HypotheticalTurn) -> Context:
    """Return the context of the imagined turn."""
    settings, places = guarding.policy.settings, guarding.reader.places
    words = [supposed.words] if supposed.sender is SenderClass.OWNER else []
    tainted = supposed.tainted or supposed.sender is not SenderClass.OWNER
    return Context(
        sender=supposed.sender,
        trust=Trust.UNTRUSTED if tainted else Trust.TRUSTED,
        named=parse_owner_words(
            words,
            base=places.base,
            home=places.home,
            country=guarding.reader.country,
            hosts=guarding.reader.hosts,
        ),
        mode=supposed.mode or Mode(settings.mode),
        autonomy=supposed.autonomy or Autonomy(settings.autonomy),
        group=supposed.group,
        answerable=not supposed.unattended,
        sandbox=guarding.sandbox,
    )


def decision_view(decided: PolicyDecisionTrace, analysis: ToolCallAnalysis | None) -> DecisionView:
    """Return the decision as values."""
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
