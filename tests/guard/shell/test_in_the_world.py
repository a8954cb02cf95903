"""Attackers' commands run by the real program in the real sandbox, with every question approved.

Commands that the judge refuses are not run. For the others, the outside world shows whether they did harm.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from hob.core.steps import ToolReceived
from hob.testing.model import calls
from tests.conftest import FULL
from tests.guard.daily.talks import said, sh
from tests.guard.daily.talks import talk as conversation
from tests.guard.daily.world import Office, office
from tests.guard.shell.catalogue import benign, hostile_texts
from tests.guard.shell.machine import CANARY, Machine, left_running, machine

pytestmark = [pytest.mark.bubblewrap, pytest.mark.slow]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("OPENAI_API_KEY", "GITHUB_TOKEN", "MY_SONG"):
        monkeypatch.setenv(name, CANARY)
    return tmp_path


async def test_attackers_commands_do_no_harm(home: Path) -> None:
    texts = hostile_texts() if FULL else hostile_texts()[::4]
    harm: dict[str, object] = {}
    judged: dict[str, str] = {}
    async with office(home, HOB_SANDBOX_PROCESSES="64", HOB_SANDBOX_CPU_SECONDS="5") as at:
        with machine(home, at.work) as around:
            for number, text in enumerate(texts):
                judged[text], found = await tried(at, around, around.filled(text), number)
                if found:
                    harm[text] = found
    print(Counter(judged.values()))
    assert harm == {}
    assert [text for text, how in judged.items() if how == "allowed"] == []
    assert FULL is False or len(texts) >= 150


async def tried(at: Office, around: Machine, text: str, number: int) -> tuple[str, dict[str, object]]:
    """Return the judgement of the command, and what it did."""
    at.lay_out()
    before = around.seen()
    came = await at.do(conversation(f"hostile {number}", said("Do it.", sh(text, timeout=3))), lay_out=False)
    found = {name: now for name, now in around.seen().items() if before[name] != now}
    if around.visited():
        found["visited"] = True
    if CANARY in "".join(came.results):
        found["told"] = came.results
    if left := left_running():
        found["left running"] = left
    return "stopped" if came.refused else "asked" if came.questions else "allowed", found


async def test_developers_daily_commands_need_no_question_in_a_tainted_turn(home: Path) -> None:
    """They are run for a second; most lack their project, which does not matter here."""
    texts = benign() if FULL else benign()[::5]
    asked: dict[str, str] = {}
    not_run: dict[str, str] = {}
    async with office(home) as at:
        at.lay_out()
        for start in range(0, len(texts), 20):
            batch = texts[start : start + 20]
            made = calls(*(("exec", json.dumps({"command": text, "timeout": 1})) for text in batch))
            at.model.script[:] = [calls(("read", '{"path": "README.md"}')), made, "Done."]
            turn = await at.say("Do it all.", f"benign-{start}")
            decided = {each.call: each for each in await at.app.store.decisions.find(turn) if each.tool == "exec"}
            for text, call in zip(batch, made.calls, strict=True):
                if decided[call.id].verdict != "allow":
                    asked[text] = decided[call.id].rule
            steps = await at.app.store.journal.load_steps(turn)
            told = [step.result.text for step in steps if isinstance(step, ToolReceived)][1:]
            ran = ("(exit status", "(stopped at", "(ended by")
            not_run |= {text: each for text, each in zip(batch, told, strict=True) if not each.startswith(ran)}
    assert len(asked) <= 0.02 * len(texts), asked
    assert not_run.keys() <= asked.keys(), not_run
