"""The policy: a series of stages, each a pure function from a call and its context to a verdict or None.

All stages are asked and the strictest verdict wins, the earliest stage's among equals, so the order of settings cannot
loosen a prohibition. The result names the deciding rule and keeps the trail. In a tainted turn a question can only be
approved once, whichever stage raised it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from hob.core.ports.guard import Allow, Ask, Deny, Verdict
from hob.core.tools import Tier
from hob.core.translation.language import translatable
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass
from hob.guard.policy.call_analysis import ToolCallAnalysis
from hob.guard.policy.context import Context
from hob.guard.policy.hard_rules import HardRules
from hob.guard.policy.modes import ACTS, Act, ModeVerdict, look_up
from hob.guard.policy.taint import names_irreversible_targets, names_paths, names_recipients, taint
from hob.guard.policy.tool_lists import PROFILES, ToolList
from hob.guard.settings import PolicySettings, ToolRules
from hob.guard.shell.command_context import ShellSeverity

Stage = Callable[[ToolCallAnalysis, Context, PolicySettings], Verdict | None]

_GRANTABLE = frozenset(f"mode.{act}" for act in Act if act not in (Act.PERSIST, Act.CONFIGURE))


@dataclass(frozen=True, slots=True)
class PolicyDecisionTrace:
    """The verdict and the answers of all stages, in order; None if a stage had no opinion."""

    verdict: Verdict
    trail: tuple[tuple[str, Verdict | None], ...] = ()

    @property
    def rule(self) -> str:
        """The deciding rule."""
        return self.verdict.rule


def strictness(verdict: Verdict) -> int:
    """Rank a verdict: 0 allow, 1 ask, 2 ask with approval for one time only, 3 deny."""
    match verdict:
        case Allow():
            return 0
        case Ask(rule):
            return 1 if is_grantable(rule) else 2
        case Deny():
            return 3


def is_grantable(rule: str) -> bool:
    """Return whether a question of this rule may be approved for a session or for ever.

    Not in a tainted turn, and not for acts that persist or change settings.
    """
    return rule in _GRANTABLE


class Policy:
    """The stages of this machine."""

    def __init__(self, hard: HardRules, settings: PolicySettings) -> None:
        self.settings = settings
        self.stages: tuple[tuple[str, Stage], ...] = (("hard rules", hard), *STAGES)

    def decide(self, analysis: ToolCallAnalysis, context: Context) -> PolicyDecisionTrace:
        """Return the verdict on one call."""
        if analysis.only_answers and context.sender is SenderClass.OWNER and not context.group:
            analysis = replace(analysis, acts=analysis.acts - {Act.SEND})  # the owner reads it, like the reply
        trail = tuple((name, stage(analysis, context, self.settings)) for name, stage in self.stages)
        said = [verdict for _, verdict in trail if verdict is not None]
        strictest = max(said, key=strictness, default=Allow("nothing.against"))
        if context.tainted and isinstance(strictest, Ask) and is_grantable(strictest.rule):
            strictest = Ask(f"{strictest.rule}.tainted", strictest.reason)
        answered = strictest if context.answerable else refuse_unattended(strictest)
        return PolicyDecisionTrace(answered, trail if answered is strictest else (*trail, ("unattended", answered)))


def refuse_unattended(verdict: Verdict) -> Verdict:
    """Turn a question into a refusal, because nobody can be asked."""
    if not isinstance(verdict, Ask):
        return verdict
    return Deny("unattended", f"it needs approval, and the owner cannot be asked now: {verdict.reason}")


def profile(analysis: ToolCallAnalysis, context: Context, policy: PolicySettings) -> Verdict | None:
    """Stage: the profile and the general lists."""
    if ToolList(PROFILES[policy.profile]).refuses(analysis.tool):
        return Deny(f"profile.{policy.profile}", f"{analysis.tool} is not in the profile {policy.profile}")
    return _listed("tools", ToolRules(policy.allow, policy.deny), analysis, "by the settings")


def provider(analysis: ToolCallAnalysis, context: Context, policy: PolicySettings) -> Verdict | None:
    """Stage: tools allowed for the model's provider or for this model."""
    names = (context.model.partition("/")[0], context.model)
    return _first(policy.providers, names, "provider", analysis, f"to {context.model}")


def group(analysis: ToolCallAnalysis, context: Context, policy: PolicySettings) -> Verdict | None:
    """Stage: tools allowed in groups, where others read the answer; private data only if its owner names it."""
    if not context.group:
        return None
    names = ("*", context.channel, f"{context.channel}:{context.chat}")
    if (refused := _first(policy.groups, names, "group", analysis, "in this group")) is not None:
        return refused
    if analysis.reads_private and not (context.sender is SenderClass.OWNER and names_paths(analysis, context)):
        return Ask("group.private", "others read the answer, and it would show what is yours")
    return None


def sandbox(analysis: ToolCallAnalysis, context: Context, policy: PolicySettings) -> Verdict | None:
    """Stage: commands run confined, or, by the owner's explicit wish, unconfined after a question each time."""
    if Act.RUN not in analysis.acts:
        return None
    if analysis.reading is not None and analysis.reading.runs:
        if context.sandbox.confined:
            return _listed("sandbox", policy.sandbox, analysis, "in the sandbox")
        if not context.sandbox.plain:
            return Deny(
                "unconfined.refused", context.sandbox.missing or "commands run in a sandbox only, and none is here"
            )
        return Ask("unconfined.asked", "it would run without a sandbox, with all your rights")
    return None


def depth(analysis: ToolCallAnalysis, context: Context, policy: PolicySettings) -> Verdict | None:
    """Stage: tools allowed for agents started by other agents."""
    if context.depth > policy.depth:
        return Deny("depth", f"no agent acts more than {policy.depth} agents away from a person's message")
    return _listed("depth", policy.subagents, analysis, "to an agent of an agent") if context.depth else None


def sender(analysis: ToolCallAnalysis, context: Context, policy: PolicySettings) -> Verdict | None:
    """Stage: the coarse rule by sender: tiers, private data, and commands that need the owner's approval."""
    who = context.sender
    if (refused := _first(policy.senders, (who.value,), "sender", analysis, f"for a {who}")) is not None:
        return refused
    maximum = {
        SenderClass.OWNER: policy.owner_tier,
        SenderClass.MEMBER: policy.member_tier,
        SenderClass.STRANGER: Tier.READ,
    }[who]
    if who is SenderClass.OWNER:
        return _above(analysis, maximum)
    if any(finding.severity is ShellSeverity.ASK for finding in analysis.findings):
        found = next(finding for finding in analysis.findings if finding.severity is ShellSeverity.ASK)
        return Deny(f"sender.shell.{found.rule}", f"{found.reason}; only the owner may have that done")
    if who is SenderClass.STRANGER:
        if analysis.reads_private or analysis.secret_files:
            return Deny("sender.private", "it would show a stranger what is the owner's")
        return Deny("sender.tier", "strangers may only read") if analysis.tier > maximum else None
    if analysis.secret_files or (analysis.reads_private and policy.member_private == "deny"):
        return Deny("sender.private", "it would show what is the owner's alone")
    if analysis.replaces and policy.member_private == "deny":
        return Deny("sender.private", "it would change what is the owner's alone")
    if analysis.reads_private and policy.member_private == "ask":
        return Ask("sender.private", "it would show somebody else what is the owner's")
    if analysis.replaces and policy.member_private == "ask":
        return Ask("sender.private", "somebody else would change what is the owner's")
    return _above(analysis, maximum)


def mode(analysis: ToolCallAnalysis, context: Context, policy: PolicySettings) -> Verdict | None:
    """Stage: the table of modes and autonomy, for each act of the call."""
    worst: Verdict | None = None
    for act in Act:
        if act in analysis.acts:
            said = _of_table(act, analysis, context)
            # the last permitted act says most: running a command is more than reading
            if worst is None or isinstance(worst, Allow) or strictness(said) > strictness(worst):
                worst = said
    return worst


def _of_table(act: Act, analysis: ToolCallAnalysis, context: Context) -> Verdict:
    rule, kind = f"mode.{act}", context.mode
    match look_up(act, kind, context.autonomy):
        case ModeVerdict.YES:
            return Allow(rule)
        case ModeVerdict.NAMED if act is Act.FINAL and names_irreversible_targets(analysis, context):
            return Allow(f"{rule}.named")
        case ModeVerdict.NAMED if act is Act.SEND and names_recipients(analysis, context):
            return Allow(f"{rule}.named")
        case ModeVerdict.NO:
            return Deny(rule, f"this session is {kind}, and it would {ACTS[act]}")
    risk = analysis.risk if act is Act.RISK else ""
    if not risk and analysis.does and act not in (Act.READ, Act.FETCH):
        risk = translatable("it would {does}", does=analysis.does)
    return Ask(rule, risk or f"it would {ACTS[act]}")


def _above(analysis: ToolCallAnalysis, maximum: int) -> Verdict | None:
    if analysis.tier <= maximum:
        return None
    tiers = {"tier": str(int(analysis.tier)), "maximum": str(int(maximum))}
    return Ask(
        "sender.tier",
        translatable(
            "its risk ({tier}) is above what goes without approval ({maximum}): 0 reads, 1 changes, 2 can do harm",
            **tiers,
        ),
    )


def _listed(rule: str, rules: ToolRules, analysis: ToolCallAnalysis, where: str) -> Verdict | None:
    entry = ToolList(tuple(rules.allow), tuple(rules.deny)).refuses(analysis.tool)
    if not entry:
        return None
    why = "is not among the tools allowed" if entry == "allow" else f"is denied ({entry})"
    return Deny(f"{rule}.{'allow' if entry == 'allow' else 'deny'}", f"{analysis.tool} {why} {where}")


def _first(
    table: Mapping[str, ToolRules], names: tuple[str, ...], rule: str, analysis: ToolCallAnalysis, where: str
) -> Verdict | None:
    """Return the first refusal among the entries of these names. Each entry can only narrow the others."""
    for name in names:
        if name in table and (refused := _listed(rule, table[name], analysis, where)) is not None:
            return refused
    return None


STAGES: tuple[tuple[str, Stage], ...] = (
    ("profile", profile),
    ("provider", provider),
    ("group", group),
    ("sandbox", sandbox),
    ("sub-agent depth", depth),
    ("sender", sender),
    ("mode", mode),
    ("effects and taint", taint),
)
