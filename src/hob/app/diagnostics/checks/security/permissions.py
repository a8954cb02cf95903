"""Security checks of permissions: calls that need no approval, for whom, and who may approve."""

from hob.app.diagnostics.check import Check, Severity
from hob.app.diagnostics.checks.security.check import security_check
from hob.app.diagnostics.security_values import (
    SecurityFacts,
    when,
)

_NAMELESS = frozenset({"email", "mail", "sms", "webhook"})
_WEEK = 7 * 86_400


def _loose_lists(facts: SecurityFacts) -> list[str]:
    """Return the lists that allow all tools to people other than the owner."""
    senders = facts.policy.senders
    return [f"policy.senders.{name}" for name, rules in senders.items() if name != "owner" and "*" in rules.allow]


def _may_configure(facts: SecurityFacts) -> bool:
    rules = facts.policy.subagents
    return "group:configuration" not in rules.deny and "*" not in rules.deny and not rules.allow


PERMISSION: tuple[Check, ...] = (
    security_check(
        "policy.full_and_autonomous", Severity.CRITICAL, "nothing needs your approval before it is done",
        "set policy.mode to guarded or policy.autonomy to cautious",
        lambda facts: when(facts.policy.mode == "full" and facts.policy.autonomy == "autonomous"),
    ),
    security_check(
        "policy.mode_full", Severity.WARN, "conversations begin with every permission there is",
        "set policy.mode to guarded, and choose more in the conversation that needs it",
        lambda facts: when(facts.policy.mode == "full" and facts.policy.autonomy != "autonomous"),
    ),
    security_check(
        "policy.autonomous", Severity.WARN, "conversations begin without asking",
        "set policy.autonomy to cautious, and choose more in the conversation that needs it",
        lambda facts: when(facts.policy.autonomy == "autonomous" and facts.policy.mode != "full"),
    ),
    security_check(
        "policy.members_read_private", Severity.WARN, "people you let in are told what is yours",
        "set policy.member_private to ask or deny", lambda facts: when(facts.policy.member_private == "allow"),
    ),
    security_check(
        "policy.everything_for_others", Severity.WARN, "a list allows others every tool",
        "name the tools instead of *", _loose_lists,
    ),
    security_check(
        "policy.agents_configure", Severity.CRITICAL, "agents that an agent has started may change the settings",
        "put group:configuration into policy.subagents.deny",
        lambda facts: when(_may_configure(facts)),
    ),
    security_check(
        "policy.deep_agents", Severity.WARN, "agents may start agents many levels deep",
        "set policy.depth to 2 or less", lambda facts: when(facts.policy.depth > 3),
    ),
    security_check(
        "approvals.nameless_channel", Severity.CRITICAL, "an answer is taken from where a sender's name proves nothing",
        "take it out of approvals.channels",
        lambda facts: [name for name in facts.approvals.channels if name.partition("@")[0] in _NAMELESS],
    ),
    security_check(
        "approvals.unproven_channel", Severity.CRITICAL, "a channel counts as proof of who you are and as none",
        "take it out of approvals.channels or of admission.unauthenticated",
        lambda facts: [
            name for name in facts.approvals.channels
            if name in facts.admission.unauthenticated and name.partition("@")[0] not in _NAMELESS
        ],
    ),
    security_check(
        "approvals.long", Severity.INFO, "a question stays open for more than a week",
        "set approvals.seconds to a day", lambda facts: when(facts.approvals.seconds > _WEEK),
    ),
    security_check(
        "approvals.stale", Severity.WARN, "an approval may be used a day after you gave it",
        "set approvals.use_seconds to an hour", lambda facts: when(facts.approvals.use_seconds > 86_400),
    ),
)  # fmt: skip
