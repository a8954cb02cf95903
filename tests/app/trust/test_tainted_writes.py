"""Files written by tainted turns are known to later turns until the owner is told."""

from collections.abc import Sequence
from pathlib import Path

from hob.app.trust.guard import TaintedFiles
from hob.core.ids import TurnId
from hob.core.ports.guard import Allow, Ask
from hob.core.trust.labels import Trust
from hob.guard.approvals.answers import ApprovalReply
from hob.guard.policy.context import Sandbox
from hob.guard.policy.judge import PolicyInput
from hob.testing.memory_store import memory_store
from tests.guard.calling import call_of
from tests.guard.judge_bench import open_judge_bench, turn_of

ONLINE = call_of("exec", command="make", network=True)


async def test_command_with_network_is_asked_about_where_a_tainted_turn_wrote(tmp_path: Path) -> None:
    written = {"t_1": (str(tmp_path / "work" / "Makefile"),)}

    async def paths(turn: TurnId) -> Sequence[str]:
        return written.get(turn, ())

    async with (
        memory_store() as store,
        open_judge_bench(tmp_path, tainted_writes=TaintedFiles(store.tainted_writes, paths)) as bench,
    ):
        bench.policy_inputs.now = PolicyInput(sandbox=Sandbox(online=True, reaches=lambda _: True))
        write = call_of("write", path="Makefile", content="x")
        assert isinstance(await bench.verdict(write, turn_of("look", id="t_1"), Trust.UNTRUSTED), Allow)
        # nothing has been written yet
        assert isinstance(await bench.verdict(ONLINE, turn_of("build", id="t_2")), Allow)
        (bench.work / "Makefile").write_text("x")
        assert await TaintedFiles(store.tainted_writes, paths).files() == written["t_1"]
        turn = turn_of("build", id="t_3")
        found = await bench.verdict(ONLINE, turn)
        assert isinstance(found, Ask)
        assert (found.rule, "Makefile may be of others" in found.reason) == ("taint.written", True)
        question = await bench.asked(ONLINE, turn)
        assert bench.ledger.scopes(question) == ("once",)
        await bench.ledger.settle(question.id, ApprovalReply(True), "telegram:owner")
        assert await bench.verdict(ONLINE, turn) == Allow(f"approval.{question.id}")
        assert isinstance(await bench.verdict(ONLINE, turn_of("build", id="t_4")), Allow)  # the owner has been told


async def test_file_written_by_a_trusted_turn_is_not_tainted(tmp_path: Path) -> None:
    async def paths(_: TurnId) -> Sequence[str]:
        return (str(tmp_path),)

    async with (
        memory_store() as store,
        open_judge_bench(tmp_path, tainted_writes=TaintedFiles(store.tainted_writes, paths)) as bench,
    ):
        bench.policy_inputs.now = PolicyInput(sandbox=Sandbox(online=True, reaches=lambda _: True))
        await bench.verdict(call_of("write", path="Makefile", content="x"), turn_of("write it", id="t_1"))
        assert isinstance(await bench.verdict(ONLINE, turn_of("build", id="t_2")), Allow)


async def test_only_a_few_files_of_the_newest_turns_are_named() -> None:
    async def paths(turn: TurnId) -> Sequence[str]:
        return () if turn == "t_99" else (__file__, f"/gone/{turn}", *(str(each) for each in files[:2]))

    files = sorted(Path(__file__).parent.glob("*.py"))
    async with memory_store() as store:
        writes = TaintedFiles(store.tainted_writes, paths)
        assert await writes.files() == ()
        for n in (*range(100), 1):
            await writes.note(TurnId(f"t_{n}"))
        assert await writes.files() == (__file__, str(files[0]), str(files[1]))
        await writes.clear()
        assert await writes.files() == ()
