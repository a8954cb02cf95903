"""The judge: collects everything that a decision depends on, applies the policy, and records every verdict."""

import logging
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Protocol

from hob.core.errors import StoreError
from hob.core.ids import TurnId
from hob.core.messages import Inbound
from hob.core.ports.guard import Allow, Ask, Deny, Verdict
from hob.core.steps import command_hash
from hob.core.tools import ToolCall, ToolSpec
from hob.core.translation.language import translatable
from hob.core.trust.labels import Origin, SenderClass, Trust, combine_trust, least_trusted
from hob.core.trust.pasted import has_pasted_text
from hob.core.turns import Turn
from hob.core.values import dataclass
from hob.guard.approvals.ledger import ApprovalLedger
from hob.guard.audit.entries import of_decision
from hob.guard.policy.call_analysis import ArgumentReader, ToolCallAnalysis, read_call
from hob.guard.policy.context import Context, Private, Sandbox
from hob.guard.policy.exemptions import NO_WORDS, OwnerWords, parse_owner_words
from hob.guard.policy.modes import Act, Autonomy, Mode
from hob.guard.policy.policy import Policy, PolicyDecisionTrace, refuse_unattended
from hob.guard.policy.rate_limits import ToolRateLimit
from hob.guard.policy.taint import may_send
from hob.store.audit.audit import AuditEntry
from hob.store.decisions import PolicyDecision

log = logging.getLogger(__name__)

_WRITING = frozenset({Act.WRITE, Act.RUN, Act.FINAL, Act.PERSIST})
_KEPT = 64  # turns whose words are cached


@dataclass(frozen=True, slots=True)
class PolicyInput:
    """Inputs of a decision that are not part of the turn; see `Context` for their meanings.

    `reachable` means that the owner can be asked although no client waits for it. `contacts` are stored addresses
    by name. `elements` describes elements of the page shown last, by reference. `untrusted_sources` is foreign text
    that the model sees in addition to the turn's own messages.
    """

    mode: Mode = Mode.GUARDED
    autonomy: Autonomy = Autonomy.CAUTIOUS
    model: str = ""
    depth: int = 0
    reachable: bool = False
    sandbox: Sandbox = field(default_factory=Sandbox)
    searched: frozenset[str] = frozenset()
    private: tuple[Private, ...] = ()
    contacts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    elements: Mapping[str, str] = field(default_factory=dict)
    untrusted_sources: tuple[str, ...] = ()
    voice_texts: tuple[str, ...] = ()
    """What the owner said in the turn's voice messages."""


class PolicyInputs(Protocol):
    """Knows the configuration of a turn's session and what the turn has done so far."""

    async def policy_input(self, turn: Turn, spec: ToolSpec) -> PolicyInput:
        """Return the current situation as far as it matters for this tool. Raises StoreErrors."""


class TaintedWrites(Protocol):
    """Remembers tainted turns that may have written files."""

    async def note(self, turn: TurnId) -> None:
        """Record that this tainted turn may change files. Durable on return. Raises StoreErrors."""

    async def files(self) -> Sequence[str]:
        """Return some of the files that such turns changed, newest first. Raises StoreErrors."""

    async def clear(self) -> None:
        """Forget these turns, because the owner was told and agreed. Raises StoreErrors."""


class Records(Protocol):
    """Stores decisions."""

    async def add(self, decision: PolicyDecision, *entries: AuditEntry) -> None:
        """Store a decision with its audit entries; durable on return. Raises StoreErrors."""


class PolicyJudge:
    """Implements `Judge`. Labels and arguments decide, and nothing is done that could not be recorded."""

    def __init__(
        self,
        policy: Policy,
        reader: ArgumentReader,
        policy_inputs: PolicyInputs,
        records: Records,
        approvals: ApprovalLedger | None = None,
        rate_limit: ToolRateLimit | None = None,
        tainted_writes: TaintedWrites | None = None,
    ) -> None:
        self._policy = policy
        self._reader = reader
        self._policy_inputs = policy_inputs
        self._records = records
        self._approvals = approvals
        self._rate_limit = rate_limit
        self._tainted_writes = tainted_writes
        self._named: OrderedDict[tuple[str, ...], OwnerWords] = OrderedDict()
        self._reached: OrderedDict[TurnId, frozenset[str]] = OrderedDict()

    async def judge(self, call: ToolCall, spec: ToolSpec, turn: Turn, trust: Trust) -> Verdict:
        try:
            policy_input = await self._policy_inputs.policy_input(turn, spec)
            context = replace(self._context(turn, trust, policy_input), reached=self._reached.get(turn.id, frozenset()))
            # an answered question stays valid even while the owner cannot be asked
            analysis = read_call(call, spec, self._reader, context.sandbox)
            if analysis is not None and policy_input.elements:
                analysis = replace(analysis, elements=policy_input.elements)
            if self._tainted_writes is not None and analysis is not None and not context.tainted and may_send(analysis):
                context = replace(context, written=tuple(await self._tainted_writes.files()))
            first = verdict = self._decide(analysis, replace(context, answerable=True)).verdict
            if analysis is not None and self._rate_limit is not None and not isinstance(verdict, Deny):
                # checked before an approval is used up
                verdict = await self._rate_limit.refuse(analysis, turn) or verdict
            if isinstance(verdict, Ask) and self._approvals is not None:
                verdict = await self._approvals.check(call, turn, verdict, tainted=context.tainted)
            if not context.answerable:
                verdict = refuse_unattended(verdict)
            if analysis is not None and self._rate_limit is not None and isinstance(verdict, Allow):
                self._rate_limit.count(analysis, turn)
            if self._tainted_writes is not None and analysis is not None and isinstance(verdict, Allow):
                if first.rule == "taint.written":
                    await self._tainted_writes.clear()
                if context.tainted and not analysis.acts.isdisjoint(_WRITING):
                    await self._tainted_writes.note(turn.id)
            if analysis is not None and first.rule == "taint.network" and isinstance(verdict, Allow):
                self._note_reached(turn.id, analysis.hosts)
            record = _record(call, turn, verdict, None if analysis is None else int(analysis.tier))
            await self._records.add(record, of_decision(record, context.sender, turn.trace))
        except StoreError as error:
            log.warning("a decision about %s could not be made or kept: %s", spec.name, error)
            return Deny("no-record", "the database cannot be used now, and nothing is done without a record")
        return verdict

    def _decide(self, analysis: ToolCallAnalysis | None, context: Context) -> PolicyDecisionTrace:
        if analysis is None:
            return PolicyDecisionTrace(Deny("unreadable", "the arguments are not a JSON object"))
        return self._policy.decide(analysis, context)

    def _context(self, turn: Turn, trust: Trust, policy_input: PolicyInput) -> Context:
        inbounds = (*turn.inbounds, *turn.joined)
        sender = least_trusted(inbound.sender.cls for inbound in inbounds) if inbounds else SenderClass.STRANGER
        origin = inbounds[0].origin if inbounds else None
        return Context(
            sender=sender,
            trust=Trust.UNTRUSTED if trust is not Trust.TRUSTED else combine_trust(each.label for each in inbounds),
            named=self._words(inbounds, policy_input) if sender is SenderClass.OWNER else NO_WORDS,
            mode=policy_input.mode,
            autonomy=policy_input.autonomy,
            group=any(inbound.group for inbound in inbounds),
            channel=origin.channel if origin is not None else "",
            chat=origin.chat if origin is not None else "",
            model=policy_input.model,
            depth=policy_input.depth,
            answerable=policy_input.reachable or any(map(_is_present, inbounds)),
            sandbox=policy_input.sandbox,
            searched=policy_input.searched,
            private=policy_input.private,
            untrusted_sources=(*_foreign_sources(inbounds), *policy_input.untrusted_sources),
        )

    def _note_reached(self, turn: TurnId, hosts: tuple[str, ...]) -> None:
        """Remember the hosts of an approved command, because further commands of this turn may reach them too."""
        self._reached[turn] = self._reached.pop(turn, frozenset()).union(hosts)
        if len(self._reached) > _KEPT:
            self._reached.popitem(last=False)

    def _words(self, inbounds: tuple[Inbound, ...], policy_input: PolicyInput) -> OwnerWords:
        own = [inbound for inbound in inbounds if _is_own_words(inbound)]
        key = (*(inbound.id for inbound in own), *policy_input.voice_texts)
        named = self._named.get(key)
        if named is None:
            places = self._reader.places
            named = parse_owner_words(
                [*(inbound.text for inbound in own), *policy_input.voice_texts],
                base=places.base,
                home=places.home,
                country=self._reader.country,
                contacts=policy_input.contacts,
                hosts=self._reader.hosts,
            )
            self._named[key] = named
            if len(self._named) > _KEPT:
                self._named.popitem(last=False)
        return named


def _foreign_sources(inbounds: tuple[Inbound, ...]) -> Iterator[str]:
    """Yield descriptions of the foreign text in these messages."""
    for inbound in inbounds:
        if not inbound.label.trusted:
            yield translatable("what {name} wrote", name=inbound.sender.name or inbound.sender.id)
        if any(not quote.label.trusted for quote in inbound.quoted) or has_pasted_text(inbound.text):
            yield translatable("a quoted or forwarded text")
        if not all(file.voice for file in inbound.attachments):
            yield translatable("an attached file")


def _is_own_words(inbound: Inbound) -> bool:
    """Return whether the owner wrote this for this turn. Text made by Hob never counts, whatever its label."""
    by_owner = inbound.sender.cls is SenderClass.OWNER and inbound.label.origin is Origin.OWNER
    return by_owner and inbound.label.trusted and not inbound.hops and not inbound.background


def _is_present(inbound: Inbound) -> bool:
    """Return whether the owner is waiting for the turn and would therefore see a question."""
    return inbound.sender.cls is SenderClass.OWNER and not inbound.background and not inbound.hops


def _record(call: ToolCall, turn: Turn, verdict: Verdict, tier: int | None) -> PolicyDecision:
    said = "allow" if isinstance(verdict, Allow) else "ask" if isinstance(verdict, Ask) else "deny"
    return PolicyDecision(turn.id, call.id, call.name, command_hash(call), said, verdict.rule, tier=tier)
