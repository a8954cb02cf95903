"""Explanation of why a call would be allowed, asked about or refused: every stage's answer, without side effects."""

import json
from collections.abc import Iterable, Mapping

from hob.core.argument_roles import ArgumentRole
from hob.core.ids import CallId
from hob.core.ports.guard import Allow, Ask, Deny, Verdict
from hob.core.tools import Tier, ToolCall, ToolSpec
from hob.core.translation.language import Translatable, join_texts, translatable
from hob.guard.policy.call_analysis import ArgumentReader, ToolCallAnalysis, read_call
from hob.guard.policy.context import Context
from hob.guard.policy.modes import ACTS, Act
from hob.guard.policy.policy import Policy, PolicyDecisionTrace, is_grantable
from hob.guard.policy.reasons import strip_rule
from hob.guard.policy.rule_names import explain_verdict

STAGE_NAMES: Mapping[str, str] = {
    "hard rules": "what is always refused",
    "profile": "the profile (policy.profile)",
    "provider": "the model's provider (policy.providers)",
    "group": "group chats (policy.groups)",
    "sandbox": "the sandbox (policy.sandbox)",
    "sub-agent depth": "sub-agents (policy.subagents)",
    "sender": "who asks (policy.senders)",
    "mode": "permission mode and autonomy",
    "effects and taint": "text that is not yours was read",
    "unattended": "no one can be asked",
}
RISK_WORDS: Mapping[Tier, str] = {
    Tier.READ: translatable("low (it only reads)"),
    Tier.WRITE: translatable("medium (it changes something)"),
    Tier.HIGH_RISK: translatable("high (it can do harm)"),
}
"""The risk of a tool or call by its tier, in words for people. Whether the call is allowed is a separate question."""

_NETWORK = (Act.ONLINE, Act.SEND)
_WITH_NETWORK = translatable("it would run a command that reaches other computers; its changes to files can be undone")


def explain(
    policy: Policy, reader: ArgumentReader, context: Context, tool: str, arguments: str, spec: ToolSpec | None = None
) -> tuple[PolicyDecisionTrace, ToolCallAnalysis | None]:
    """Return the decision about a call with these arguments (JSON), and its analysis.

    Without a spec the worst is assumed, as for any tool that declares nothing.
    """
    call = ToolCall(CallId("explain"), tool, arguments)
    analysis = read_call(call, spec or ToolSpec(tool, "", {}), reader, context.sandbox)
    if analysis is None:
        return PolicyDecisionTrace(Deny("unreadable", translatable("the arguments are not a JSON object"))), None
    return policy.decide(analysis, context), analysis


def arguments_from(text: str, roles: ArgumentRole | None) -> str:
    """Return the arguments as JSON: unchanged if they are an object, else as the tool's main argument."""
    if text.lstrip().startswith("{") or not text or roles is None:
        return text
    kinds = (roles.commands, roles.paths, roles.urls, roles.recipients, roles.keys, roles.patches)
    names = [name for kind in (*kinds, roles.plain) for name in kind]
    return json.dumps({names[0]: text}) if names else text


def explanation(decided: PolicyDecisionTrace, analysis: ToolCallAnalysis | None) -> Iterable[str]:
    """Return the decision for people, line by line. Programs use `decision_view`, which has the names of rules."""
    sentence = explain_verdict(decided.rule, type(decided.verdict).__name__.lower())
    yield translatable("{verdict}: {sentence}", verdict=_said(decided.verdict), sentence=sentence)
    if decided.trail and not isinstance(decided.verdict, Allow):
        yield translatable("  because {reason}", reason=strip_rule(decided.verdict.reason))
    if analysis is not None:
        acts = join_texts("; ", _acts_of(analysis))
        risks = analysis.risks if Act.RISK in analysis.acts else ()
        told = join_texts("; ", [each for each in (acts, *risks) if each])
        effects = told or translatable("it changes and sends nothing")
        yield translatable("effects: {acts}", acts=effects)
        yield translatable(
            "risk of the call itself: {risk}; the verdict above takes it into account", risk=RISK_WORDS[analysis.tier]
        )
        if not analysis.complete:
            yield translatable("Hob cannot tell exactly what it would touch, so your words cannot allow it in advance")
    if decided.trail:  # a call that cannot be parsed reaches no stage
        yield Translatable("  {stage:45} {said}", {"stage": translatable("rules"), "said": translatable("result")})
    for stage, verdict in decided.trail:
        values = {
            "stage": STAGE_NAMES[stage],
            "said": translatable("nothing against it") if verdict is None else _said(verdict),
        }
        yield Translatable("  {stage:45} {said}", values)
    if isinstance(decided.verdict, Ask):
        if is_grantable(decided.rule):
            yield translatable("you can allow it once, for the conversation or always")
        else:
            yield translatable("you can allow it once")


def _acts_of(analysis: ToolCallAnalysis) -> list[str]:
    """Return what the call would do; a command with network is one act."""
    with_network = Act.RUN in analysis.acts and not analysis.acts.isdisjoint(_NETWORK)
    hidden = {Act.RISK, *((Act.RUN, *_NETWORK) if with_network else ())}
    told = [f"it would {ACTS[act]}" for act in Act if act in analysis.acts and act not in hidden]
    return [*told, _WITH_NETWORK] if with_network else told


def _said(verdict: Verdict) -> str:
    match verdict:
        case Allow():
            return translatable("allowed")
        case Ask():
            return translatable("needs your approval")
        case Deny():
            return translatable("refused")
