"""Decisions, questions and answers are in the audit log, written in the transaction that makes them."""

import json
from pathlib import Path

import apsw
import pytest

from hob.core.clock import SystemClock
from hob.core.errors import HobError
from hob.guard.admission.pairing import PairingService
from hob.guard.approvals.answers import ApprovalReply
from hob.store.audit.audit import AuditEntry, append_audit
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from tests.guard.calling import call_of
from tests.guard.judge_bench import JudgeBench, open_judge_bench, turn_of

RISKY = call_of("exec", command="git reset --hard")
TURN = turn_of("tidy up")
CLOCK = SystemClock()


async def told(bench: JudgeBench, kind: str) -> list[str]:
    """Return the outcomes of one kind, in order; the log must be intact."""
    assert (await bench.store.audit.verify()).whole
    return [row.entry.outcome for row in await bench.store.audit.latest(100, kind)]


async def test_every_verdict_is_an_entry_with_its_rule_and_sender(tmp_path: Path) -> None:
    async with open_judge_bench(tmp_path) as bench:
        for call in (call_of("exec", command="ls"), RISKY, call_of("exec", command="mkfs /dev/sda")):
            await bench.verdict(call, TURN)
        rows = await bench.store.audit.latest(10, "decision")
        decided = await bench.store.decisions.find(TURN.id)
    assert [row.entry.outcome for row in rows] == ["allow", "ask", "deny"] == [each.verdict for each in decided]
    assert [row.entry.rule for row in rows] == [each.rule for each in decided]
    assert {(row.entry.sender, row.entry.trace) for row in rows} == {("owner", TURN.trace)}
    assert [json.loads(row.entry.detail)["hash"] for row in rows] == [each.hash for each in decided]


@pytest.mark.parametrize(("allowed", "outcomes"), [(True, ["open", "allowed", "used"]), (False, ["open", "denied"])])
async def test_asking_answering_and_using_a_question_are_logged(
    tmp_path: Path, allowed: bool, outcomes: list[str]
) -> None:
    async with open_judge_bench(tmp_path) as bench:
        question = await bench.asked(RISKY, TURN)
        assert (await bench.asked(RISKY, TURN)).id == question.id  # asked again, it is the same question
        for _ in range(2):  # only one of two answers counts and is logged
            await bench.ledger.settle(question.id, ApprovalReply(allowed), "telegram:owner")
        await bench.verdict(RISKY, TURN)
        assert await told(bench, "approval") == outcomes


async def test_unanswered_question_is_logged_as_expired(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_judge_bench(tmp_path, clock, seconds=60) as bench:
        await bench.asked(RISKY, TURN)
        await clock.advance(61)
        await bench.ledger.expire_due()
        assert await told(bench, "approval") == ["open", "expired"]


async def test_approval_with_a_changed_script_is_logged_as_void(tmp_path: Path) -> None:
    async with open_judge_bench(tmp_path) as bench:
        script = bench.work / "clean.sh"
        script.write_text("git status\n")
        call = call_of("exec", command="sh clean.sh && git reset --hard")
        question = await bench.asked(call, TURN)
        await bench.ledger.settle(question.id, ApprovalReply(True), "telegram:owner")
        script.write_text("rm -rf ~\n")
        await bench.verdict(call, TURN)
        assert await told(bench, "approval") == ["open", "allowed", "expired"]
        last = (await bench.store.audit.latest(1, "approval"))[0]
    assert "has changed" in json.loads(last.entry.detail)["note"]


async def test_decision_and_audit_entry_are_stored_together_or_not_at_all(tmp_path: Path) -> None:
    async with open_judge_bench(tmp_path) as bench:
        await bench.verdict(RISKY, TURN)
        connection = apsw.Connection(str(tmp_path / "state" / "hob.db"))
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT raise(ABORT, 'full'); END")
        connection.close()
        found = await bench.verdict(RISKY, TURN)
        assert found.rule == "no-record"
        assert len(await bench.store.decisions.find(TURN.id)) == len(await told(bench, "decision")) == 1


async def test_admissions_and_refusals_are_logged_and_failures_are_not() -> None:
    async with memory_store() as store:
        pairing_service = PairingService(store.people, CLOCK)
        await pairing_service.link("telegram:1", "anna")
        await pairing_service.unlink("telegram:1")
        await pairing_service.forget("anna")
        for failing in (
            pairing_service.unlink("telegram:1"),
            pairing_service.forget("anna"),
            pairing_service.deny("ABCD2345"),
        ):
            with pytest.raises(HobError):
                await failing
        rows = await store.audit.latest(10, "action")
        assert (await store.audit.verify()).whole
    assert [row.entry.name for row in rows] == ["people.link", "people.unlink", "people.forget"]
    assert "telegram:1" in rows[0].entry.detail


async def test_command_run_beside_the_daemon_appends_to_the_same_chain(tmp_path: Path) -> None:
    assert not append_audit(tmp_path, CLOCK, AuditEntry("action", "accept", "done"))
    async with open_store(tmp_path, StoreSettings(), CLOCK) as store:
        await store.audit.add(AuditEntry("action", "one", "done"))
        assert append_audit(tmp_path, CLOCK, AuditEntry("action", "two", "done"))
        await store.audit.add(AuditEntry("action", "three", "done"))
        assert (await store.audit.verify()).whole
        assert [row.entry.name for row in await store.audit.latest(5)] == ["one", "two", "three"]
