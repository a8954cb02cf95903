"""A judge with its ledger over a real store, for tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hob.core.clock import Clock
from hob.core.ids import SessionKey, SpanId, TraceId, TurnId
from hob.core.messages import Inbound
from hob.core.ports.guard import Verdict
from hob.core.tools import ToolCall, ToolSpec
from hob.core.trust.labels import OWNER_LABEL, Trust
from hob.core.turns import Turn
from hob.guard.approvals.binding import Binder
from hob.guard.approvals.ledger import ApprovalLedger, Differ, Refusal, no_diff, no_refusal
from hob.guard.policy.call_analysis import ArgumentReader
from hob.guard.policy.commands import command_reader
from hob.guard.policy.hard_rules import HardRules
from hob.guard.policy.judge import PolicyInput, PolicyJudge, TaintedWrites
from hob.guard.policy.places import Places
from hob.guard.policy.policy import Policy
from hob.guard.settings import ApprovalSettings, PolicySettings
from hob.store.approvals import Approval
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from tests.guard.calling import SPECS

SESSION = SessionKey("memory:main")


@dataclass
class Fixed:
    """Implements `PolicyInputs` with the same situation for every turn."""

    now: PolicyInput = field(default_factory=PolicyInput)

    async def policy_input(self, turn: Turn, spec: ToolSpec) -> PolicyInput:
        return self.now


@dataclass
class JudgeBench:
    """A complete judge, and the files it judges."""

    store: Store
    ledger: ApprovalLedger
    judge: PolicyJudge
    policy_inputs: Fixed
    work: Path

    async def verdict(self, call: ToolCall, turn: Turn, trust: Trust = Trust.TRUSTED) -> Verdict:
        return await self.judge.judge(call, SPECS[call.name], turn, trust)

    async def asked(self, call: ToolCall, turn: Turn, reason: str = "a reason") -> Approval:
        """Ask about the call."""
        found = await self.store.approvals.find(await self.ledger.ask(call, reason, turn))
        assert found is not None
        return found


@asynccontextmanager
async def open_judge_bench(
    home: Path,
    clock: Clock | None = None,
    *,
    load: bool = True,
    refusal: Refusal = no_refusal,
    differ: Differ = no_diff,
    tainted_writes: TaintedWrites | None = None,
    **settings: Any,
) -> AsyncIterator[JudgeBench]:
    """Open a bench with state and work folder in this home."""
    clock = clock or ManualClock()
    work = home / "work"
    work.mkdir(exist_ok=True)
    places = Places(str(home / "state"), str(home), str(work), str(home))
    reader = ArgumentReader(places, command_reader(places))
    async with open_store(home / "state", StoreSettings(), clock) as store:
        binder = Binder(reader, ("/usr/bin", "/bin"), lambda: SPECS)
        ledger = ApprovalLedger(
            store.approvals, store.decisions, clock, ApprovalSettings(**settings), binder, differ, refusal=refusal
        )
        if load:
            await ledger.load()
        policy_inputs = Fixed()
        policy = Policy(HardRules(places), PolicySettings())
        judge = PolicyJudge(policy, reader, policy_inputs, store.decisions, ledger, tainted_writes=tainted_writes)
        yield JudgeBench(store, ledger, judge, policy_inputs, work)


def turn_of(*inbounds: Inbound | str, id: str = "t_1", session: SessionKey = SESSION) -> Turn:
    """A turn of the owner's with these messages."""
    messages = tuple(message(each, channel="telegram") if isinstance(each, str) else each for each in inbounds)
    assert all(each.label == OWNER_LABEL or isinstance(each, Inbound) for each in messages)
    return Turn(TurnId(id), session, TraceId("0" * 32), SpanId("0" * 16), messages)
