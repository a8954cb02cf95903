"""Names of the rules, and a sentence for each.

A decision is stored with the rule's name alone, so that no argument of a call ends up in a table that cannot be erased.
"""

from collections.abc import Mapping

from hob.core.translation.language import translatable
from hob.guard.policy.modes import ACTS, Act

RULES: Mapping[str, str] = {
    "hard.state": "Hob's own state directory is closed to every tool.",
    "hard.secrets": "Places of secrets, and secrets themselves, are closed to every tool.",
    "hard.sandbox": "The settings of the guard and the sandbox are changed by hand only.",
    "hard.shell": "Commands that destroy disks or devices, overload the machine or control the system are never run.",
    "hard.shell.own-state": "Hob's own state is closed, and its commands are the owner's to give.",
    "profile": "The profile does not hold this tool.",
    "tools": "The settings deny this tool, or do not allow it.",
    "provider": "The settings deny this tool to this model.",
    "agent": "The settings deny this tool to this agent.",
    "group.allow": "The settings do not allow this tool in this group.",
    "group.deny": "The settings deny this tool in this group.",
    "group.private": "Private content of the owner is not read where others see the answer.",
    "unconfined.refused": "Commands run in a sandbox only.",
    "unconfined.asked": "A command without a sandbox is asked about, each time.",
    "sandbox": "The settings deny this tool in the sandbox.",
    "depth": "Sub-agents may do less, and their depth is limited.",
    "sender.tier": "This sender may not do anything this risky.",
    "sender.private": "Private content of the owner is neither read nor changed for others.",
    "sender.shell": "Commands that need the owner's approval are not run for others.",
    "sender": "The settings deny this tool to this class of senders.",
    **{
        f"mode.{act}": f"The conversation's mode says whether this needs approval: it would {text}."
        for act, text in ACTS.items()
    },
    f"mode.{Act.RISK}": "The conversation's mode says whether what is risky needs approval.",
    "taint.configure": "A turn that has read what others wrote changes no settings without approval.",
    "taint.persists": "Trusted instructions for later turns are not written in a turn that has read what others wrote.",
    "taint.risk": "A risky command in a turn that has read what others wrote needs approval.",
    "taint.secrets": "Files that usually hold keys are not touched in a turn that has read what others wrote.",
    "taint.network": "A command with network in a turn that has read what others wrote needs approval.",
    "taint.written": "A command with network needs approval where turns that had read what others wrote changed files.",
    "taint.final": "What cannot be undone needs approval, unless the owner's words name the file, or whom it goes to.",
    "taint.url": "An address that neither the owner nor the search provider gave is asked about.",
    "taint.sends": "What could send data out needs approval, unless the owner's words name where to.",
    "taint.amount": "A sum that the owner's words do not name needs approval.",
    "taint.link": "A link that the owner's words do not name is not sent in the owner's name without approval.",
    "taint.private": "What is private is not sent along unless the owner's words asked for it.",
    "rate": "Hob limits how many calls it makes in a minute for one sender.",
    "granted": "The owner approved this very call before.",
    "approval": "The owner's answer; without one in time the call is refused.",
    "approval.unbindable": "An approval is bound to the programs and files that would run, so these must be known.",
    "approval.useless": "The tool itself refuses this, so no approval is asked for.",
    "unattended": "No one could be asked.",
    "unreadable": "The arguments are not a JSON object.",
    "no-record": "The decision could not be stored, and without that nothing is done.",
    "nothing.against": "No rule speaks against it.",
}


MODES: Mapping[str, str] = {
    "named": translatable("Your words name it, so in the conversation's mode Hob may do it without asking."),
    "allow": translatable("In the conversation's mode Hob may do it without asking."),
    "ask": translatable("In the conversation's mode Hob asks you first."),
    "deny": translatable("In the conversation's mode Hob may not do it."),
}
"""Explanations of a conversation's mode, by verdict."""


def explain_verdict(rule: str, verdict: str) -> str:
    """Return why this rule gave this verdict (`allow`, `ask`, `deny`), in words for people."""
    if not rule.startswith("mode."):
        return describe_rule(rule)
    return MODES["named" if verdict == "allow" and rule.endswith(".named") else verdict]


def describe_rule(rule: str) -> str:
    """Return the sentence of a rule, or that of the rule it is part of."""
    name = rule
    while name:
        if name in RULES:
            return RULES[name]
        name = name.rpartition(".")[0]
    return ""
