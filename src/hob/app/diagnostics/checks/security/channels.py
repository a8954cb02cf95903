"""Security checks of channels: who may write to Hob, and how messages are handled."""

from hob.app.diagnostics.check import Check, Severity
from hob.app.diagnostics.checks.security.check import security_check
from hob.app.diagnostics.security_values import (
    SecurityFacts,
    when,
)
from hob.core.trust.labels import SenderClass

_UNPROVEN = ("email", "sms", "webhook")


def _with(facts: SecurityFacts, key: str, value: object) -> list[str]:
    """Return the settings with this value: the general one and those of channels."""
    admission = facts.admission
    general = [f"admission.{key}"] if getattr(admission, key) == value else []
    each = [f"admission.channels.{name}" for name, own in admission.channels.items() if getattr(own, key) == value]
    return general + each


def _owner_webhooks(facts: SecurityFacts) -> list[str]:
    return [f"webhooks.{name}" for name, each in facts.webhooks.items() if each.sender is SenderClass.OWNER]


CHANNELS: tuple[Check, ...] = (
    security_check(
        "channels.open_dm", Severity.WARN, "anybody may write to Hob directly",
        "set dm_policy to pairing", lambda facts: _with(facts, "dm_policy", "open"),
    ),
    security_check(
        "channels.open_groups", Severity.WARN, "Hob answers in every group it is put into",
        "set group_policy to allowlist and name the groups", lambda facts: _with(facts, "group_policy", "open"),
    ),
    security_check(
        "channels.everybody_allowed", Severity.WARN, "everybody on this channel comes in as a stranger",
        "name people instead of *",
        lambda facts: [entry for entry in facts.admission.allow if entry.endswith(":*")],
    ),
    security_check(
        "channels.group_strangers", Severity.WARN, "unknown people in groups are answered",
        "set admission.group_strangers to false", lambda facts: when(facts.admission.group_strangers),
    ),
    security_check(
        "channels.unmentioned", Severity.INFO, "in groups Hob reads and answers what is not meant for it",
        "set admission.mention to true",
        lambda facts: [
            place for place in _with(facts, "mention", False)
            if facts.admission.groups or "open" in _policies(facts)
        ],
    ),
    security_check(
        "channels.passphrase_plain", Severity.INFO, "anyone who learns one word is let in",
        "unset admission.passphrase and link people instead",
        lambda facts: when(facts.admission.passphrase is not None, "admission.passphrase"),
    ),
    security_check(
        "channels.passphrase_long", Severity.WARN, "a passphrase lets somebody in for more than a week",
        "set admission.passphrase_hours to 12",
        lambda facts: when(facts.admission.passphrase is not None and facts.admission.passphrase_hours > 168),
    ),
    security_check(
        "channels.names_believed", Severity.CRITICAL, "a sender's name is believed where anybody can write any name",
        "put it back into admission.unauthenticated",
        lambda facts: [name for name in _UNPROVEN if name not in facts.admission.unauthenticated],
    ),
    security_check(
        "channels.webhook_owner", Severity.WARN, "anyone who has this webhook's secret counts as you, and Hob may act",
        "set sender of the webhook to stranger or member", _owner_webhooks,
    ),
    security_check(
        "channels.many_messages", Severity.INFO, "one sender may write more than a message every half second",
        "set admission.messages_per_minute to 30", lambda facts: when(facts.admission.messages_per_minute > 120),
    ),
    security_check(
        "channels.many_strangers", Severity.WARN, "strangers may keep Hob busy all the time",
        "set admission.strangers_per_minute to 20", lambda facts: when(facts.admission.strangers_per_minute > 120),
    ),
    security_check(
        "channels.many_mails", Severity.WARN, "one sender may make Hob send more than ten mails a minute",
        "set admission.limits.apps.mail to 3", lambda facts: when(_mails(facts) > 10, f"{_mails(facts)} a minute"),
    ),
    security_check(
        "channels.no_cooldown", Severity.WARN, "many actions at once do not make Hob pause",
        "set admission.limits.spike to 10 and cooldown_seconds to 300",
        lambda facts: when(facts.admission.limits.spike > 60 or facts.admission.limits.cooldown_seconds < 60),
    ),
    security_check(
        "channels.any_file", Severity.INFO, "files of every kind are taken",
        "name the kinds in admission.attachment_types",
        lambda facts: when("*/*" in facts.admission.attachment_types or "*" in facts.admission.attachment_types),
    ),
    security_check(
        "scanner.strangers_pass", Severity.WARN, "what strangers write is read even if it looks like an attack",
        "set scanner.stranger to block", lambda facts: when(facts.scanner.stranger != "block", facts.scanner.stranger),
    ),
    security_check(
        "scanner.members_unseen", Severity.INFO, "what people you let in write is not looked at",
        "set scanner.member to flag", lambda facts: when(facts.scanner.member == "none"),
    ),
    security_check(
        "scanner.blunt", Severity.WARN, "hardly anything looks like an attack to the scanner",
        "set scanner.threshold to 1",
        lambda facts: when(facts.scanner.threshold > 3, f"scanner.threshold = {facts.scanner.threshold:g}"),
    ),
)  # fmt: skip


def _policies(facts: SecurityFacts) -> list[str]:
    admission = facts.admission
    return [admission.group_policy, *(own.group_policy for own in admission.channels.values())]


def _mails(facts: SecurityFacts) -> int:
    limits = facts.admission.limits
    return limits.apps.get("mail", limits.per_minute)
