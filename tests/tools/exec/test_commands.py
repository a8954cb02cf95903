"""The tools `exec` and `process`: what the model is told, and what remains afterwards."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hob.core.errors import ToolFailed, ToolRefused
from hob.core.ids import BlobId
from hob.guard.screening.masking.known_secrets import KnownSecrets
from hob.tools.exec.commands import CommandAccess, CommandCallbacks
from tests.tools.calling import a_call, context, made, text_of
from tests.tools.commanding import Bench, open_bench
from tests.tools.sandbox.test_running import alive, mark
from tests.tools.sandbox.test_running import begun as is_running
from tests.tools.sandbox.test_walls import git_init

__all__ = ["mark"]


@pytest.fixture(params=["bubblewrap", "landlock"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench(request.param, tmp_path) as bench:
        yield bench


async def begun(bench: Bench, command: str, turn: str = "t_here") -> str:
    """Start a background command; return its id."""
    text = await text_of(bench.tools, "exec", turn=turn, command=command, background=True)
    found = re.match(r"\((p\S+): ", text)
    assert found is not None, text
    return found[1]


async def test_command_result_has_status_and_output(bench: Bench) -> None:
    result = await made(bench.tools, "exec", command="echo out; echo err >&2; exit 3")
    assert re.fullmatch(r"\(exit status 3, \d\.\d s\)\nout\nerr\n", result.text)
    assert result.is_error
    assert not result.label.trusted


async def test_command_reads_its_stdin(bench: Bench) -> None:
    assert (await text_of(bench.tools, "exec", command="cat", stdin="grüße")).endswith("\ngrüße")


async def test_command_runs_in_the_given_folder(bench: Bench) -> None:
    (bench.work / "sub").mkdir()
    assert (await text_of(bench.tools, "exec", command="pwd", cwd="sub")).endswith("/work/sub\n")
    with pytest.raises(ToolRefused):
        await text_of(bench.tools, "exec", command="pwd", cwd="/etc")


async def test_read_only_root_cannot_be_written_to(bench: Bench) -> None:
    lent = bench.work.parent / "lent"
    await text_of(bench.tools, "exec", command="touch x", cwd=str(lent))
    assert list(lent.iterdir()) == []


async def test_outgoing_folder_is_writable_only_with_network_access(tmp_path: Path) -> None:
    (tmp_path / "work/synced").mkdir(parents=True)
    async with open_bench(
        "bubblewrap", tmp_path, access=CommandAccess(outgoing=(tmp_path.resolve() / "work",))
    ) as bench:
        await text_of(bench.tools, "exec", command="echo 1 > without")
        await text_of(bench.tools, "exec", command="echo 1 > with", network=True)
        assert [path.name for path in bench.work.iterdir() if path.is_file()] == ["with"]


async def test_terminal_is_provided_on_request(bench: Bench) -> None:
    assert (await text_of(bench.tools, "exec", command="test -t 1 && echo yes", pty=True)).endswith("yes\n")


async def test_colours_and_progress_bars_are_removed(bench: Bench) -> None:
    command = r"printf '\033[31mred\033[0m\n 1%%\r50%%\r100%%\r\nabc\b\bX\n'"
    assert (await text_of(bench.tools, "exec", command=command)).partition("\n")[2] == "red\n100%\naX\n"


@pytest.mark.parametrize(
    ("arguments", "why"), [({"command": " "}, "empty"), ({"command": "ls", "cwd": "no"}, "folder")]
)
async def test_command_that_cannot_start_is_reported_in_plain_words(
    bench: Bench, arguments: dict[str, str], why: str
) -> None:
    with pytest.raises(ToolFailed, match=why):
        await text_of(bench.tools, "exec", **arguments)


async def test_command_over_its_timeout_is_stopped_and_reported(bench: Bench, mark: str) -> None:
    result = await made(bench.tools, "exec", command=f"echo begun; sleep {mark}", timeout=1)
    assert "stopped at its timeout of 1 s" in result.text
    assert "begun" in result.text
    assert not alive(mark)


async def test_long_output_is_stored_as_a_blob(bench: Bench) -> None:
    result = await made(bench.tools, "exec", command="seq 200000")
    assert result.rest is not None
    assert f"read blob:{result.rest}" in result.text
    assert result.text.endswith("\n200000\n")
    assert (await bench.blobs.load(BlobId(result.rest))).decode() == "".join(f"{n}\n" for n in range(1, 200001))


async def test_output_is_shown_while_the_command_runs(bench: Bench) -> None:
    command = "echo first; until [ -e shown ]; do sleep 0.01; done; echo second"
    assert "exit status 0" in await text_of(bench.tools, "exec", command=command, timeout=20)
    assert bench.shown == ["first\n", "second\n"]


async def test_command_commits_as_hob_without_a_configured_identity(bench: Bench) -> None:
    said = await text_of(
        bench.tools, "exec", command="git init -q r && cd r && touch a && git add a && git commit -qm x"
    )
    assert "exit status 0" in said
    log = await text_of(bench.tools, "exec", command="git log -1 --format='%an <%ae>'", cwd="r")
    assert "Hob <hob@localhost>" in log


async def test_refused_change_of_git_config_is_explained(tmp_path: Path) -> None:
    git_init(tmp_path / "work")
    async with open_bench("bubblewrap", tmp_path, protected=(".git/hooks/", ".git/config")) as bench:
        said = await text_of(bench.tools, "exec", command="git config user.name me")
    assert ".git/config is closed to commands" in said


async def test_changes_of_a_command_are_reported(bench: Bench) -> None:
    (bench.work / "old").write_text("1")
    text = await text_of(bench.tools, "exec", command="echo 2 > old; touch new")
    assert f"changed: {bench.work}/new (added), {bench.work}/old)" in text


async def test_command_without_approval_has_no_network(bench: Bench) -> None:
    with pytest.raises(ToolFailed, match=r"sandbox\.hosts"):
        await text_of(bench.tools, "exec", command="true", network=True)
    with pytest.raises(ToolFailed, match=r"sandbox\.hosts"):
        await text_of(bench.tools, "exec", command="true", hosts=["pypi.org"])


async def test_background_command_is_polled_and_written_to(bench: Bench) -> None:
    process = await begun(bench, "read name; echo hello $name; read rest; exit 4")
    assert "hello Anna" in await text_of(bench.tools, "process", action="write", id=process, data="Anna\n")
    assert f"{process}: running" in await text_of(bench.tools, "process", action="list")
    await text_of(bench.tools, "process", action="write", id=process, eof=True)
    assert "exit status 4" in await text_of(bench.tools, "process", action="poll", id=process, timeout=10)


async def test_only_complete_lines_are_typed_into_a_command(bench: Bench) -> None:
    process = await begun(bench, "while read line; do echo got $line; done")
    for data in ("r", "r\\\n", "echo rm\x01\x1bd -rf x\n", "echo x\x15rm x\n", "a\rb\n", "ab\x7f\n", "\x1b[A"):
        with pytest.raises(ToolFailed, match="not written"):
            await text_of(bench.tools, "process", action="write", id=process, data=data)
        with pytest.raises(ToolFailed, match="not written"):
            await text_of(bench.tools, "exec", command="cat", stdin=data, background=True)
    assert "got a" in await text_of(bench.tools, "process", action="write", id=process, data="a\n")


async def test_control_keys_are_typed_alone(bench: Bench) -> None:
    command = "read go; echo up; sleep 60"
    process = (await text_of(bench.tools, "exec", command=command, background=True, pty=True))[1:].split(":")[0]
    assert "up" in await text_of(bench.tools, "process", action="write", id=process, data="\n")
    await text_of(bench.tools, "process", action="write", id=process, data="\x03")
    assert "ended by signal 2" in await text_of(bench.tools, "process", action="poll", id=process, timeout=10)


async def test_secret_split_between_polls_is_held_back(tmp_path: Path) -> None:
    known = KnownSecrets({"key": "sk-canary-0123456789abcdef"})
    async with open_bench("bubblewrap", tmp_path, callbacks=CommandCallbacks(stream_filter=known.stream)) as bench:
        process = await begun(
            bench, "printf 'A:sk-canary-'; read go; printf '0123456789abcdef:B'; read go; printf sk-can"
        )
        texts = [await text_of(bench.tools, "process", action="poll", id=process)]
        texts.append(await text_of(bench.tools, "process", action="write", id=process, data="\n"))
        texts.append(await text_of(bench.tools, "process", action="write", id=process, data="\n"))
        texts.append(await text_of(bench.tools, "process", action="poll", id=process, timeout=10))
    written = "".join(text.partition("\n")[2].replace("(no new output)", "") for text in texts)
    assert written == "[secret removed]:Bsk-can"


async def test_masking_forgets_ended_commands_that_were_not_polled(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hob.tools.sandbox.processes.MAX_REMEMBERED", 1)
    for turn in ("t_1", "t_2", "t_3"):
        await begun(bench, "until [ -e go ]; do sleep 0.05; done", turn)
    (bench.work / "go").touch()
    for entry in bench.commands._processes._entries.values():
        await entry.running.wait(30)
    last = await begun(bench, "read rest")
    assert list(bench.commands._stream_filters) == [last]


async def test_background_command_can_be_killed(bench: Bench, mark: str) -> None:
    process = await begun(bench, f"sleep {mark}")
    assert is_running(mark)  # the shell may not have started it yet
    assert "stopped" in await text_of(bench.tools, "process", action="kill", id=process)
    assert not alive(mark)


@pytest.mark.parametrize("backend", ["bubblewrap", "landlock"])
async def test_immediate_failure_is_reported_at_once(backend: str, tmp_path: Path) -> None:
    async with open_bench(backend, tmp_path, early_seconds=30.0) as bench:  # "at once", on a busy machine
        text = await text_of(bench.tools, "exec", command="echo broken; exit 9", background=True)
    assert "exit status 9" in text
    assert "broken" in text


async def test_other_session_cannot_find_the_command(bench: Bench) -> None:
    process = await begun(bench, "sleep 60")
    call = {"action": "kill", "id": process}
    with pytest.raises(ToolFailed, match="there are: none"):
        await bench.tools.call(a_call("process", **call), context(session="there"))
    assert "running" in await text_of(bench.tools, "process", action="poll", id=process)


async def test_process_needs_a_known_id(bench: Bench) -> None:
    with pytest.raises(ToolFailed, match="there is no command ''"):
        await text_of(bench.tools, "process", action="poll")


async def test_background_commands_end_with_the_tools(tmp_path: Path, mark: str) -> None:
    async with open_bench("bubblewrap", tmp_path) as bench:
        process = await begun(bench, f"sleep {mark}")
    assert not alive(mark)
    async with open_bench("bubblewrap", tmp_path) as later:
        assert "has ended (stopped)" in await text_of(later.tools, "process", action="poll", id=process)
