"""What the real CLIs said is understood."""

import json
from pathlib import Path

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelReply, ModelRequest, Remark, StopReason, TextDelta, Usage, UserMessage
from hob.providers.cli.program import open_cli
from tests.providers.cli.fake import CLIS, FakeCli, hear, recorded

ASKED = ModelRequest("", "You are Hob.", (UserMessage("Hi"),), patience=0.0)
FAULTS = {
    "unauthorized": ModelFault.AUTH,
    "rate_limit": ModelFault.RATE_LIMIT,
    "overload": ModelFault.OVERLOAD,
    "bad_request": ModelFault.BAD_REQUEST,
    "no_model": ModelFault.NOT_FOUND,
    "too_large": ModelFault.CONTEXT_OVERFLOW,
    "overflow": ModelFault.CONTEXT_OVERFLOW,
    "cut": ModelFault.CUT,
    "empty": ModelFault.EMPTY,
    "refusal": ModelFault.FILTERED,
    "error_event": ModelFault.OVERLOAD,
    "login": ModelFault.AUTH,
    "option": ModelFault.SETTINGS,
}
OTHERWISE = {("codex-cli", "bad_request"): ModelFault.RATE_LIMIT, ("copilot-cli", "length"): ModelFault.CUT}
FAILING = [(name, case) for name in CLIS for case in recorded(name) if case in FAULTS or (name, case) in OTHERWISE]


async def replay(folder: Path, name: str, case: str) -> ModelReply:
    """The reply of a recorded run."""
    return (await replay_all(folder, name, case))[0]


async def replay_all(folder: Path, name: str, case: str) -> tuple[ModelReply, list[object]]:
    events = await hear(FakeCli(folder / "cli", name, recorded(name)[case]).model(), ASKED)
    reply = events[-1]
    assert isinstance(reply, ModelReply)
    return reply, list(events)


@pytest.mark.parametrize("name", CLIS)
async def test_answer_arrives_in_pieces_and_as_a_whole(tmp_path: Path, name: str) -> None:
    reply, events = await replay_all(tmp_path, name, "text")
    assert reply.text == "Hello from the mock."
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == reply.text
    assert reply.stop is StopReason.END
    assert reply.model or name == "codex-cli"  # which does not tell


@pytest.mark.parametrize(
    ("name", "usage", "cost"),
    [
        ("claude-cli", Usage(19, 5, 3, 4), 127),
        ("codex-cli", Usage(20, 6, 8, 0, 2), None),
        ("gemini-cli", Usage(11, 5, 4), None),
        ("copilot-cli", Usage(19, 5, 3, 4), None),
    ],
)
async def test_usage_and_cost_are_reported(tmp_path: Path, name: str, usage: Usage, cost: int | None) -> None:
    reply = await replay(tmp_path, name, "text")
    assert (reply.usage, reply.cost) == (usage, cost)


@pytest.mark.parametrize("name", ["claude-cli", "codex-cli", "copilot-cli"])
async def test_reasoning_is_not_part_of_the_answer(tmp_path: Path, name: str) -> None:
    reply = await replay(tmp_path, name, "thinking")
    assert reply.reasoning in ("Let me see.", "I think.")
    assert reply.reasoning not in reply.text


@pytest.mark.parametrize("name", ["claude-cli", "gemini-cli", "copilot-cli"])
async def test_attempts_to_use_missing_cli_tools_are_reported(tmp_path: Path, name: str) -> None:
    reply, events = await replay_all(tmp_path, name, "tool")
    remarks = [event for event in events if isinstance(event, Remark)]
    assert [dict(remark.values)["tools"] for remark in remarks] in (["Bash"], ["write_file"])
    assert reply.text
    assert not reply.calls


@pytest.mark.parametrize(("name", "case"), FAILING)
async def test_every_failure_has_a_fault_and_a_message(tmp_path: Path, name: str, case: str) -> None:
    wanted = OTHERWISE.get((name, case)) or FAULTS[case]
    with pytest.raises(ModelError) as failed:
        await replay(tmp_path, name, case)
    assert failed.value.fault is wanted
    assert str(failed.value)
    assert failed.value.attempts == 1


@pytest.mark.parametrize("name", CLIS)
async def test_cli_without_a_login_says_how_to_log_in(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match="is not logged in: run `"):
        await replay(tmp_path, name, "unauthorized")


async def test_claude_is_stopped_before_it_requests_the_rest(tmp_path: Path) -> None:
    reply = await replay(tmp_path, "claude-cli", "length")
    assert (reply.text, reply.stop, reply.usage) == ("Hello from the mock.", StopReason.LENGTH, Usage(19, 5, 3, 4))


@pytest.mark.parametrize("name", CLIS)
def test_no_line_breaks_a_decoder(name: str) -> None:
    """Every recorded line with each of its values replaced by nonsense."""
    nonsense = [None, 7, -1.5, "x", [], [1], {}, {"type": "y"}, True, float("inf")]
    for run in recorded(name).values():
        for line in run["lines"]:
            if isinstance(line, str):
                continue
            for key in line:
                for value in nonsense:
                    list(open_cli(name).decoder().feed({**line, key: value}))
            for key in [key for key, value in line.items() if isinstance(value, dict)]:
                for inner in line[key]:
                    for value in nonsense:
                        list(open_cli(name).decoder().feed({**line, key: {**line[key], inner: value}}))


def test_recordings_name_no_place() -> None:
    for name in CLIS:
        text = json.dumps(recorded(name))
        assert "/tmp/" not in text
        assert "/home/" not in text
