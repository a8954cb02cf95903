"""Calls and contexts for guard tests, with typical tools."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hob.core.argument_roles import ArgumentRole
from hob.core.ids import CallId
from hob.core.ports.guard import Verdict
from hob.core.tools import ALL_EFFECTS, Effect, Tier, ToolCall, ToolSpec
from hob.core.trust.labels import SenderClass, Trust
from hob.guard.policy.call_analysis import ArgumentReader, read_call
from hob.guard.policy.commands import command_reader
from hob.guard.policy.context import Context
from hob.guard.policy.exemptions import parse_owner_words
from hob.guard.policy.hard_rules import HardRules
from hob.guard.policy.places import Places
from hob.guard.policy.policy import Policy, PolicyDecisionTrace
from hob.guard.settings import PolicySettings
from hob.tools.registry.builtin_groups import BUILTIN_GROUPS
from tests.guard.simulated import SimulatedWorld

PLACES = Places("/home/me/.hob", "/home/me/hob", "/home/me/hob/work", "/home/me")
READER = ArgumentReader(PLACES, command_reader(PLACES))
POLICY = Policy(HardRules(PLACES), PolicySettings())

_READS = frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED})
_TABLE: Mapping[str, tuple[Tier, frozenset[Effect]]] = {
    "read": (Tier.READ, _READS),
    "list_dir": (Tier.READ, frozenset({Effect.READS_PRIVATE})),
    "write": (Tier.WRITE, frozenset({Effect.WRITES})),
    "apply_patch": (Tier.WRITE, frozenset({Effect.WRITES})),
    "delete_file": (Tier.WRITE, frozenset({Effect.WRITES_FINALLY})),
    "exec": (Tier.HIGH_RISK, ALL_EFFECTS),
    "process": (Tier.HIGH_RISK, ALL_EFFECTS),
    "remember": (Tier.WRITE, frozenset({Effect.PERSISTS})),
    "recall": (Tier.READ, frozenset({Effect.READS_PRIVATE})),
    "ask_user": (Tier.READ, frozenset()),
    "web_search": (Tier.READ, frozenset({Effect.READS_UNTRUSTED, Effect.COMMUNICATES})),
    "web_fetch": (Tier.READ, frozenset({Effect.READS_UNTRUSTED, Effect.COMMUNICATES})),
    "web_post": (Tier.HIGH_RISK, frozenset({Effect.READS_UNTRUSTED, Effect.COMMUNICATES})),
    "mail_send": (Tier.HIGH_RISK, frozenset({Effect.COMMUNICATES})),
    "calendar_add": (Tier.HIGH_RISK, frozenset({Effect.COMMUNICATES, Effect.WRITES})),
    "message_send": (Tier.HIGH_RISK, frozenset({Effect.COMMUNICATES})),
    "config_set": (Tier.HIGH_RISK, frozenset({Effect.PERSISTS})),
}
_DECLARED = (*(spec for group in BUILTIN_GROUPS for spec in group.tools), *SimulatedWorld().tools().specs())
_ROLES = {"delete_file": ArgumentRole(paths=("path",)), **{spec.name: spec.roles for spec in _DECLARED if spec.roles}}
SPECS = {
    name: ToolSpec(name, "", {}, tier=tier, effects=effects, roles=_ROLES[name])
    for name, (tier, effects) in _TABLE.items()
}


def call_of(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(CallId("c"), tool, json.dumps(arguments))


def context(words: str = "", *, tainted: bool = False, **more: Any) -> Context:
    """The owner's turn in a direct chat, unless stated otherwise."""
    named = parse_owner_words([words], base=PLACES.base, home=PLACES.home)
    trust = Trust.UNTRUSTED if tainted else Trust.TRUSTED
    plain = Context(sender=SenderClass.OWNER, trust=trust, named=named, channel="local")
    return replace(plain, **more)


def decide(
    tool: str, given: Context, policy: Policy = POLICY, reader: ArgumentReader = READER, **arguments: Any
) -> PolicyDecisionTrace:
    """Return the policy's decision on a call; an unknown tool declares nothing."""
    call = call_of(tool, **arguments)
    analysis = read_call(call, SPECS.get(tool, ToolSpec(tool, "", {})), reader, given.sandbox)
    assert analysis is not None
    return policy.decide(analysis, given)


def verdict(tool: str, given: Context, policy: Policy = POLICY, **arguments: Any) -> Verdict:
    return decide(tool, given, policy, **arguments).verdict
