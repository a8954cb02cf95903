"""How a CLI is run: what it sees, what it is told, and that nothing of it is left."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId
from hob.core.models import Image, ModelRequest, TextDelta, Thinking, UserMessage
from hob.providers.cli.process import CliProcessPlan, run
from hob.providers.cli.program import CliSettings, find_cli
from hob.testing.clock import ManualClock
from tests.providers.cli.fake import CLIS, FakeCli, Seen, answer, ask, half, recorded

ASKED = ModelRequest("", "You are Hob.", (UserMessage("Hi"),), patience=0.0)


async def run_once(folder: Path, name: str, request: ModelRequest = ASKED, **environ: str) -> Seen:
    cli = FakeCli(folder, name, answer(name, "Hello!"))
    await ask(cli.model(environ=environ), request)
    return cli.seen()[0]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return _answers(pid) if not Path("/proc").exists() else False
    return state not in "ZX"


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def pids_of(cli: FakeCli, runs: int = 1) -> list[int]:
    """The processes of its runs, once they are there."""
    async with asyncio.timeout(20):
        while len(cli.seen()) < runs:  # noqa: ASYNC110 - another process tells of itself in a file
            await asyncio.sleep(0.01)
    return [pid for seen in cli.seen() for pid in seen.pids]


async def gone(pids: list[int]) -> bool:
    async with asyncio.timeout(20):
        while any(map(is_running, pids)):  # noqa: ASYNC110 - these are no children of ours to wait for
            await asyncio.sleep(0.01)
    return True


@pytest.mark.parametrize("name", CLIS)
async def test_cli_sees_only_the_variables_it_is_known_to_need(tmp_path: Path, name: str) -> None:
    seen = await run_once(tmp_path, name, ANTHROPIC_API_KEY="a", GEMINI_API_KEY="g", LD_PRELOAD="evil")
    assert "SECRET" not in seen.environ
    assert "LD_PRELOAD" not in seen.environ
    assert ("ANTHROPIC_API_KEY" in seen.environ) == (name == "claude-cli")
    assert ("GEMINI_API_KEY" in seen.environ) == (name == "gemini-cli")
    assert Path(seen.environ["TMPDIR"]).parent == tmp_path / "home"


async def test_variables_and_arguments_of_the_owner_are_passed_on(tmp_path: Path) -> None:
    cli = FakeCli(tmp_path, "claude-cli", answer("claude-cli", "Hello!"))
    settings = CliSettings(environment=["MY_PROXY"], arguments=["--betas", "x"], model="opus")
    await ask(cli.model(settings, environ={"MY_PROXY": "p"}), ASKED)
    seen = cli.seen()[0]
    assert (seen.environ["MY_PROXY"], seen.after("--betas"), seen.after("--model")) == ("p", "x", "opus")


@pytest.mark.parametrize("name", CLIS)
async def test_cli_works_in_a_folder_of_its_own_and_leaves_nothing_of_the_run(tmp_path: Path, name: str) -> None:
    seen = await run_once(tmp_path, name)
    assert Path(seen.cwd) == tmp_path / "home" / "work"
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["work"]
    assert (tmp_path / "home").stat().st_mode & 0o77 == 0


@pytest.mark.parametrize("name", CLIS)
async def test_system_text_is_passed_in_a_file(tmp_path: Path, name: str) -> None:
    seen = await run_once(tmp_path, name)
    assert any("You are Hob." in text for text in seen.files.values())
    assert not any("You are Hob." in argument for argument in seen.arguments)


@pytest.mark.parametrize("name", CLIS)
async def test_long_conversation_fits(tmp_path: Path, name: str) -> None:
    text = "ü" * 300_000
    seen = await run_once(tmp_path, name, ModelRequest("", text, (UserMessage(text),)))
    assert seen.stdin == text
    assert sum(map(len, seen.arguments)) < 5_000


@pytest.mark.parametrize("name", CLIS)
@pytest.mark.parametrize("text", ["/clear", "  /etc", "!ls", "#remember", "@file", "--help", "$skill"])
async def test_untrusted_text_is_not_a_command_of_the_cli(tmp_path: Path, name: str, text: str) -> None:
    seen = await run_once(tmp_path, name, ModelRequest("", "", (UserMessage(text),)))
    assert seen.stdin.startswith("> ")


async def test_gemini_reads_no_file_that_a_message_names(tmp_path: Path) -> None:
    seen = await run_once(tmp_path, "gemini-cli", ModelRequest("", "", (UserMessage(r"mail a@b.de \@c @~/.ssh/x"),)))
    assert seen.stdin == r"mail a\@b.de \@c \@~/.ssh/x"
    assert r"`\@`" in seen.files["system.md"]


async def test_claude_is_given_no_tools_files_settings_or_servers(tmp_path: Path) -> None:
    seen = await run_once(tmp_path, "claude-cli")
    assert (seen.after("--tools"), seen.after("--setting-sources")) == ("", "")
    assert "--strict-mcp-config" in seen.arguments
    assert seen.environ["CLAUDE_CODE_DISABLE_ATTACHMENTS"] == "1"


@pytest.mark.parametrize(
    ("name", "level", "wanted"),
    [
        ("claude-cli", Thinking.HIGH, "high"),
        ("claude-cli", Thinking.MINIMAL, "low"),
        ("codex-cli", Thinking.MEDIUM, 'model_reasoning_effort="medium"'),
        ("copilot-cli", Thinking.OFF, "none"),
    ],
)
async def test_thinking_level_is_passed_on(tmp_path: Path, name: str, level: Thinking, wanted: str) -> None:
    seen = await run_once(tmp_path, name, ModelRequest("", "", (UserMessage("Hi"),), thinking=level))
    assert wanted in seen.arguments


async def test_claude_without_thinking_keeps_to_the_limit_of_the_answer(tmp_path: Path) -> None:
    asked = ModelRequest("", "", (UserMessage("Hi"),), thinking=Thinking.OFF, max_tokens=700)
    seen = await run_once(tmp_path, "claude-cli", asked)
    assert (seen.environ["MAX_THINKING_TOKENS"], seen.environ["CLAUDE_CODE_MAX_OUTPUT_TOKENS"]) == ("0", "700")


async def test_missing_picture_is_mentioned(tmp_path: Path) -> None:
    said = UserMessage("Look!", (Image(BlobId("b"), "image/png"),))
    seen = await run_once(tmp_path, "codex-cli", ModelRequest("", "", (said,)))
    assert seen.stdin == "Look!\n[A picture stood here; it cannot be shown to you.]"


@pytest.mark.parametrize("name", CLIS)
async def test_missing_cli_says_how_to_install_it(tmp_path: Path, name: str) -> None:
    cli = FakeCli(tmp_path, name)
    model = cli.model(environ={"PATH": str(tmp_path / "empty")})
    with pytest.raises(ModelError, match=r"is not installed: npm install -g @") as failed:
        await ask(model, ASKED)
    assert failed.value.fault is ModelFault.SETTINGS


async def test_program_that_cannot_be_run_is_reported_as_such(tmp_path: Path) -> None:
    broken = tmp_path / "claude"
    broken.write_bytes(b"\x7fELFnot really")
    broken.chmod(0o755)
    model = FakeCli(tmp_path / "cli", "claude-cli").model(CliSettings(command=str(broken)))
    with pytest.raises(ModelError, match="cannot be run") as failed:
        await ask(model, ASKED)
    assert failed.value.fault is ModelFault.SETTINGS


@pytest.mark.parametrize(
    ("run", "fault"),
    [
        ({"lines": ["Hello, I am another program."]}, ModelFault.GARBAGE),
        ({"lines": []}, ModelFault.GARBAGE),
        ({"lines": ["[1, 2]", "{", '{"type": "system"}']}, ModelFault.CUT),
        ({"lines": ["x" * (9 * 1024 * 1024)]}, ModelFault.GARBAGE),
        ({"lines": ["[" * 100_000]}, ModelFault.GARBAGE),
        ({"lines": [], "exit": 3, "stderr": "Segmentation fault"}, ModelFault.CUT),
        ({"lines": [], "exit": 1, "stderr": "error: unknown option '--tools'"}, ModelFault.SETTINGS),
    ],
)
async def test_output_of_a_program_becomes_an_honest_error(
    tmp_path: Path, run: dict[str, object], fault: ModelFault
) -> None:
    with pytest.raises(ModelError) as failed:
        await ask(FakeCli(tmp_path, "claude-cli", run).model(), ASKED)
    assert failed.value.fault is fault


async def test_error_shows_no_key_and_is_limited_in_length(tmp_path: Path) -> None:
    run = {"exit": 1, "stderr": f"authentication failed for sk-ant-api03-abcdefgh {'x' * 5000}"}
    with pytest.raises(ModelError) as failed:
        await ask(FakeCli(tmp_path, "claude-cli", run).model(), ASKED)
    assert "abcdefgh" not in str(failed.value)
    assert len(str(failed.value)) < 500


async def test_error_shows_nothing_of_the_variables_that_hold_secrets(tmp_path: Path) -> None:
    environ = {
        "ANTHROPIC_API_KEY": "plain-1234",
        "ANTHROPIC_CUSTOM_HEADERS": "x-gate: hush-hush\nx-b: psst",
        "MY_SECRET": "mum's the word",
    }
    run = {"exit": 1, "stderr": f"authentication failed for {' '.join(environ.values())} at noon"}
    model = FakeCli(tmp_path, "claude-cli", run).model(CliSettings(environment=["MY_SECRET"]), environ=environ)
    with pytest.raises(ModelError, match="noon") as failed:
        await ask(model, ASKED)
    assert not any(word in str(failed.value) for word in ("plain-1234", "hush-hush", "psst", "mum's"))


@pytest.mark.parametrize("name", ["claude-cli", "copilot-cli"])
async def test_retries_of_the_cli_are_waited_for_as_long_as_somebody_waits(tmp_path: Path, name: str) -> None:
    lines = recorded(name)["overload"]["lines"]
    first = next(number for number, line in enumerate(lines) if "retry" in line.get("subtype", line["type"]))
    run = {"lines": [*lines[: first + 1], *answer(name, "At last.")["lines"]]}
    cli = FakeCli(tmp_path, name, run)
    reply = await ask(cli.model(), ModelRequest("", "", (UserMessage("Hi"),), patience=30.0))
    assert (reply.text, reply.attempts) == ("At last.", 2)


async def test_retry_after_text_was_shown_is_a_cut_answer(tmp_path: Path) -> None:
    lines = recorded("claude-cli")["overload"]["lines"]
    begun = answer("claude-cli", "Half")["lines"][:3]
    run = {"lines": [*begun, next(line for line in lines if line.get("subtype") == "api_retry")], "exit": None}
    cli = FakeCli(tmp_path, "claude-cli", run)
    with pytest.raises(ModelError) as failed:
        await ask(cli.model(), ModelRequest("", "", (UserMessage("Hi"),), patience=30.0))
    assert failed.value.fault is ModelFault.CUT


async def test_limit_that_resets_says_when(tmp_path: Path) -> None:
    clock = ManualClock()
    at = int(clock.now().timestamp()) + 3600
    limited = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": at}}
    told = {"type": "result", "subtype": "success", "is_error": True, "result": "You've hit your limit"}
    cli = FakeCli(tmp_path, "claude-cli", {"lines": [limited, told], "exit": 1})
    with pytest.raises(ModelError) as failed:
        await ask(cli.model(clock=clock), ASKED)
    assert failed.value.fault is ModelFault.RATE_LIMIT
    assert failed.value.retry_after == pytest.approx(3600, abs=2)


async def test_silent_cli_is_ended(tmp_path: Path) -> None:
    cli = FakeCli(tmp_path, "claude-cli", {**half("claude-cli", "Half"), "exit": None, "child": True})
    model = cli.model(CliSettings(idle_seconds=0.5))
    with pytest.raises(ModelError) as failed:
        await ask(model, ASKED)
    assert failed.value.fault is ModelFault.TIMEOUT
    assert await gone(await pids_of(cli))


async def test_closed_stream_leaves_no_process(tmp_path: Path) -> None:
    cli = FakeCli(tmp_path, "claude-cli", {**half("claude-cli", "Half"), "exit": None, "child": True})
    async with aclosing(cli.model().stream(ASKED)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    pids = await pids_of(cli)
    assert len(pids) == 2
    assert await gone(pids)
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["work"]


async def test_cancelled_request_leaves_no_process(tmp_path: Path) -> None:
    cli = FakeCli(tmp_path, "codex-cli", {"exit": None, "child": True})
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(ask(cli.model(), ASKED))
        pids = await pids_of(cli)
        asking.cancel()
    assert await gone(pids)


async def test_program_that_has_ended_is_not_waited_for_because_of_its_children(tmp_path: Path) -> None:
    cli = FakeCli(tmp_path, "gemini-cli", {"exit": 1, "stderr": "not logged in", "child": True})
    with pytest.raises(ModelError) as failed:
        await ask(cli.model(), ASKED)
    assert failed.value.fault is ModelFault.AUTH
    assert await gone(await pids_of(cli))


@pytest.mark.full
async def test_cli_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    cli = FakeCli(tmp_path, "claude-cli", {**half("claude-cli", "Half"), "exit": None, "child": True, "deaf": True})
    with pytest.raises(ModelError):
        await ask(cli.model(CliSettings(idle_seconds=0.5)), ASKED)
    assert await gone(await pids_of(cli))


def test_cli_is_found_without_being_run(tmp_path: Path) -> None:
    cli = FakeCli(tmp_path, "claude-cli")
    path = str(tmp_path / "bin")
    assert find_cli("claude-cli", path) == str(tmp_path / "bin" / "claude")
    assert find_cli("claude-cli", path)
    assert not find_cli("codex-cli", path)
    assert cli.seen() == []


async def test_gemini_is_always_given_a_model_since_it_would_ask_one_which_to_ask(tmp_path: Path) -> None:
    seen = await run_once(tmp_path, "gemini-cli")
    assert seen.after("--model") == "flash"


async def test_error_of_a_cli_without_a_message_quotes_its_other_output(tmp_path: Path) -> None:
    ended = {"lines": [{"type": "result", "exitCode": 1}], "exit": 1, "stderr": "EACCES: cannot write the session\n"}
    cli = FakeCli(tmp_path, "copilot-cli", ended)
    with pytest.raises(ModelError, match="EACCES: cannot write the session") as failed:
        await ask(cli.model(), ASKED)
    assert failed.value.fault is ModelFault.CUT


async def test_cli_failing_without_any_output_is_not_called_overloaded(tmp_path: Path) -> None:
    cli = FakeCli(tmp_path, "copilot-cli", {"lines": [{"type": "result", "exitCode": 1}], "exit": 1})
    with pytest.raises(ModelError, match="ended with code 1") as failed:
        await ask(cli.model(), ASKED)
    assert failed.value.fault is not ModelFault.OVERLOAD


async def test_value_refused_by_the_server_is_not_a_wrong_command_line(tmp_path: Path) -> None:
    refused = {"error": {"message": "Invalid value: 'additional_tools'.", "type": "invalid_request_error"}}
    failed_turn = {"type": "turn.failed", "error": {"message": json.dumps(refused)}}
    cli = FakeCli(tmp_path, "codex-cli", {"lines": [failed_turn], "exit": 1})
    with pytest.raises(ModelError, match="does not accept what it sends") as failed:
        await ask(cli.model(), ASKED)
    assert failed.value.fault is ModelFault.BAD_REQUEST


async def test_program_that_writes_faster_than_anybody_reads_has_to_wait(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    code = "for n in range(100_000): print(n, 'x' * 100)"
    command = CliProcessPlan((sys.executable, "-c", code), {}, tmp_path, tmp_path / "empty", 30.0, 60.0)
    read = maximum = 0
    async with run(command) as process, aclosing(process.lines()) as lines:
        async for _ in lines:
            read += 1
            if read % 8 == 0:
                await asyncio.sleep(0)  # the loop reads on
            maximum = max(maximum, len(process._output.lines))
    assert read == 100_000
    assert maximum < 2_000


async def test_codex_asks_the_provider_of_the_owners_configuration_and_takes_nothing_else_of_it(tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(
        """
model = "glm-5"
model_provider = "ours"
[model_providers.ours]
base_url = "https://models.example/v1"
env_key = "OURS_KEY"
query_params = { api-version = "2" }
http_headers = { X-Team = "hush" }
[mcp_servers.evil]
command = "rm"
"""
    )
    seen = await run_once(tmp_path, "codex-cli", OURS_KEY="k")
    for wanted in (
        'model_provider="ours"',
        'model_providers.ours.base_url="https://models.example/v1"',
        'model_providers.ours.query_params.api-version="2"',
        'model_providers.ours.env_http_headers.X-Team="HOB_CODEX_HEADER_0"',
    ):
        assert wanted in seen.arguments
    assert seen.after("-m") == "glm-5"
    assert (seen.environ["OURS_KEY"], seen.environ["HOB_CODEX_HEADER_0"]) == ("k", "hush")
    assert not any("hush" in argument or "evil" in argument for argument in seen.arguments)


async def test_codex_without_an_owners_provider_is_run_as_usual(tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text('model = "x"\n[broken')
    seen = await run_once(tmp_path, "codex-cli")
    assert not any("model_provider" in argument for argument in seen.arguments)
    assert "-m" not in seen.arguments


async def test_killed_hob_leaves_no_running_program(tmp_path: Path) -> None:
    """It would spend money, and the Hob that starts next asks again."""
    (tmp_path / "prompt").write_text("hello")
    script = "#!/bin/sh\ncat; sleep 98765 & echo $$ $! > pids; mv pids all; wait\n"
    (tmp_path / "cli").write_text(script)
    (tmp_path / "cli").chmod(0o755)
    program = f"""
import asyncio
from pathlib import Path
from hob.providers.cli.process import CliProcessPlan, run

async def main():
    top = Path({str(tmp_path)!r})
    command = CliProcessPlan((str(top / "cli"),), {{"PATH": "/usr/bin:/bin"}}, top, top / "prompt", 60, 60)
    async with run(command) as process:
        while not (top / "all").exists():
            await asyncio.sleep(0.01)
        print("ready", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""
    environ = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    hob = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=subprocess.PIPE, env=environ)
    assert hob.stdout is not None
    try:
        assert await hob.stdout.readline() == b"ready\n"
        pids = [int(pid) for pid in (tmp_path / "all").read_text().split()]
        assert all(map(is_running, pids))
    finally:
        hob.kill()
        await hob.wait()
    assert await gone(pids)


async def test_run_folders_of_a_killed_hob_are_removed(tmp_path: Path) -> None:
    ended = await asyncio.create_subprocess_exec("true")
    await ended.wait()
    cli = FakeCli(tmp_path, "claude-cli", answer("claude-cli", "Hello!"))
    model = cli.model()
    folder = next(path for path in [model._folder])
    names = (f"run-{ended.pid}-x", f"run-{os.getpid()}-x", "run-of-old")
    for name in names:
        (folder / name).mkdir(parents=True)
    await ask(cli.model(), ASKED)
    assert [name for name in names if (folder / name).exists()] == list(names[1:])
