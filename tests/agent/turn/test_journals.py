"""Journals written by released versions can always be read and resumed.

Each file is one turn: a line per step as stored, with the decision after it. Never edit one; each release adds its own
(`record` writes the lines).
"""

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from hob.agent.turn.loops import LoopRules
from hob.agent.turn.turn import AskModel, Command, FoldedTurn, Park, RunTools, Say, TurnRules, WriteSteps, decide, fold
from hob.core.ids import TurnId
from hob.core.steps import VERSION, Step, dump_step, load_step, step_kind

JOURNALS = Path(__file__).parents[2] / "core" / "journals"
FILES = sorted(JOURNALS.glob("*/*.jsonl"))
RULES = TurnRules(max_rounds=6, parallel=frozenset({"look"}), loops=LoopRules(2, 3, 30))


def test_journals_of_released_versions_are_never_edited() -> None:
    sums = dict(line.split("  ")[::-1] for line in (JOURNALS / "SHA256SUMS").read_text("utf-8").splitlines())
    found = {str(file.relative_to(JOURNALS)): sha256(file.read_bytes()).hexdigest() for file in FILES}
    assert found == sums  # a new release adds lines: sha256sum */*.jsonl


def begin(file: Path) -> FoldedTurn:
    return FoldedTurn(TurnId("t_0"), background=file.stem.startswith("background"))


def trace(command: Command) -> str:
    """Return the command without its wording, which may improve."""
    match command:
        case AskModel(not_before):
            return "ask" if not_before is None else f"ask at {not_before:.0f}"
        case RunTools(items):
            return " ".join(["run", *(item.call.id for item in items)])
        case WriteSteps(steps):
            return " ".join(["write", *map(step_kind, steps)])
        case Park(on):
            return f"park {on.value}"
        case Say(_, kind, state, reason):
            return f"say {kind.value} {state.value} {reason}".rstrip()


def record(file: Path, steps: Iterable[Step]) -> None:
    """Write the golden file of a turn."""
    state, lines = begin(file), []
    for step in steps:
        state = fold(state, step)
        line = {
            "kind": step_kind(step),
            "version": VERSION,
            "step": dump_step(step),
            "then": trace(decide(state, RULES)),
        }
        lines.append(json.dumps(line, ensure_ascii=False))
    file.write_text("\n".join(lines) + "\n", "utf-8")


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_prefix_of_a_recorded_journal_resumes_the_same_way(file: Path) -> None:
    state = begin(file)
    for text in file.read_text("utf-8").splitlines():
        line = json.loads(text)
        state = fold(state, load_step(line["kind"], line["version"], line["step"]))
        assert trace(decide(state, RULES)) == line["then"], text


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_field_of_a_recorded_journal_round_trips(file: Path) -> None:
    for text in file.read_text("utf-8").splitlines():
        line = json.loads(text)
        then = json.loads(line["step"])
        now = json.loads(dump_step(load_step(line["kind"], line["version"], line["step"])))
        assert covers(now, then), text


def covers(now: Any, then: Any) -> bool:
    """Whether everything recorded is still there; later fields may have been added."""
    match then:
        case dict():
            return isinstance(now, dict) and all(key in now and covers(now[key], each) for key, each in then.items())
        case list():
            return isinstance(now, list) and len(now) == len(then) and all(map(covers, now, then))
        case _:
            return bool(now == then)


def test_journals_hold_every_kind_of_step() -> None:
    kinds = {json.loads(line)["kind"] for file in FILES for line in file.read_text("utf-8").splitlines()}
    assert len(kinds) == 16


def test_step_with_an_unknown_field_or_version_is_refused() -> None:
    with pytest.raises(ValueError, match="fields that this Hob does not know: stranger"):
        load_step("said", 1, '{"text": "hello", "stranger": 1}')
    with pytest.raises(ValueError, match="written by a newer Hob"):
        load_step("said", VERSION + 1, "{}")
