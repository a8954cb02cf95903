"""Cost of judging a call: reading its arguments, every stage of the policy, and recording the verdict."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.bench import Bench
from benchmarks.rows import Row
from hob.core.argument_roles import ArgumentRole
from hob.core.clock import SystemClock
from hob.core.ids import CallId, SessionKey, SpanId, TraceId, TurnId
from hob.core.ports.guard import Allow, Ask, Verdict
from hob.core.tools import Effect, Tier, ToolCall, ToolSpec
from hob.core.trust.labels import Trust
from hob.core.turns import Turn
from hob.guard.approvals.binding import Binder
from hob.guard.approvals.ledger import ApprovalLedger
from hob.guard.policy.call_analysis import ArgumentReader
from hob.guard.policy.commands import command_reader
from hob.guard.policy.hard_rules import HardRules
from hob.guard.policy.judge import PolicyInput, PolicyJudge
from hob.guard.policy.places import Places
from hob.guard.policy.policy import Policy
from hob.guard.settings import ApprovalSettings, PolicySettings
from hob.store.audit.audit import AuditEntry
from hob.store.decisions import PolicyDecision
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.channel import message

_PLACES = Places("/home/me/.hob", "/home/me/hob", "/home/me/hob/work", "/home/me")
_READS = frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED})
_WORDS = "Please fix the tests in tests/test_app.py, look at https://docs.example/x and tell bob@example.com about it."
_SPECS = (
    ToolSpec("read", "", {}, tier=Tier.READ, effects=_READS, roles=ArgumentRole(paths=("path",))),
    ToolSpec("write", "", {}, tier=Tier.WRITE, effects=frozenset({Effect.WRITES}), roles=ArgumentRole(paths=("path",))),
    ToolSpec("exec", "", {}, roles=ArgumentRole(commands=("command",), runs=True)),
    ToolSpec(
        "mail_send",
        "",
        {},
        effects=frozenset({Effect.COMMUNICATES}),
        roles=ArgumentRole(recipients=("to",), bodies=("body",)),
    ),
    ToolSpec("other", "", {}),
)
_CASES: tuple[tuple[str, dict[str, Any], type], ...] = (
    ("a file read", {"path": "src/app.py"}, Allow),
    ("a file written", {"path": "a.py", "content": "x = 1\n" * 300}, Allow),
    ("a command", {"command": "cd src && git diff | head -50 && pytest -q"}, Allow),
    ("a mail", {"to": "eve@x.example", "body": "hi " * 700}, Ask),
    ("a tool of others", {"list": [{"name": str(n)} for n in range(100)]}, Ask),
)


class _Still:
    """Implements `Situations`, which never change."""

    async def policy_input(self, turn: Turn, spec: ToolSpec) -> PolicyInput:
        return PolicyInput()


class _Unkept:
    """Implements `Records`; keeps nothing."""

    async def add(self, decision: PolicyDecision, *entries: AuditEntry) -> None:
        return None


def measure(bench: Bench) -> Iterator[Row]:
    """Measure CPU milliseconds per verdict in a tainted turn, with new arguments in each call."""
    times = bench.times(400, 40)
    beside = "reading the arguments as JSON"
    for spec, (name, arguments, kind) in zip(_SPECS, _CASES, strict=True):
        calls = [_call(spec.name, arguments, n) for n in range(times)]
        minimum = _minimum(calls)
        took = asyncio.run(_judging(calls, spec, kind))
        yield Row(f"a verdict on {name}", took, "ms CPU", 1, baseline=minimum, beside=beside)
    took, questions = asyncio.run(_whole(bench.home(), [_call("read", {"path": "a.py"}, n) for n in range(times)]))
    yield Row("a verdict, kept in the database", took, "ms CPU", 1)
    yield Row("a question, kept in the database", questions, "ms CPU")


def _call(tool: str, arguments: dict[str, Any], number: int) -> ToolCall:
    changed = {name: f"{value} {number}" if isinstance(value, str) else value for name, value in arguments.items()}
    return ToolCall(CallId(f"c_{number}"), tool, json.dumps(changed))


def _turn() -> Turn:
    return Turn(TurnId("t"), SessionKey("s"), TraceId("0" * 32), SpanId("0" * 16), (message(_WORDS, channel="local"),))


def _minimum(calls: list[ToolCall]) -> float:
    began = time.process_time()
    for call in calls:
        json.loads(call.arguments)
    return (time.process_time() - began) / len(calls) * 1000


async def _judging(calls: list[ToolCall], spec: ToolSpec, kind: type) -> float:
    reader = ArgumentReader(_PLACES, command_reader(_PLACES))
    judge = PolicyJudge(Policy(HardRules(_PLACES), PolicySettings()), reader, _Still(), _Unkept())
    turn, took = _turn(), []
    for call in calls:
        began = time.process_time()
        verdict = await judge.judge(call, spec, turn, Trust.UNTRUSTED)
        took.append(time.process_time() - began)
        _check(verdict, kind)
    return median(took) * 1000


async def _whole(home: Path, calls: list[ToolCall]) -> tuple[float, float]:
    """Return CPU milliseconds over a real database: per verdict, and per question asked."""
    reading, _, running, *_ = _SPECS
    reader, clock, turn = ArgumentReader(_PLACES, command_reader(_PLACES)), SystemClock(), _turn()
    async with open_store(home, StoreSettings(), clock) as store:
        binder = Binder(reader, ("/usr/bin", "/bin"), lambda: {spec.name: spec for spec in _SPECS})
        ledger = ApprovalLedger(store.approvals, store.decisions, clock, ApprovalSettings(), binder)
        judge = PolicyJudge(Policy(HardRules(_PLACES), PolicySettings()), reader, _Still(), store.decisions, ledger)
        began = time.process_time()
        for call in calls:
            _check(await judge.judge(call, reading, turn, Trust.UNTRUSTED), Allow)
        verdicts = (time.process_time() - began) / len(calls)
        began = time.process_time()
        for call in calls[:40]:
            asked = _call("exec", {"command": f"git reset --hard {call.id}"}, 0)
            verdict = await judge.judge(asked, running, turn, Trust.UNTRUSTED)
            _check(verdict, Ask)
            await ledger.ask(asked, "a reason", turn)
        return verdicts * 1000, (time.process_time() - began) / len(calls[:40]) * 1000


def _check(verdict: Verdict, kind: type) -> None:
    if not isinstance(verdict, kind):
        raise RuntimeError(f"not what was to be measured: {verdict}")
