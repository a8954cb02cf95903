"""Servers in the sandbox and on loopback: tools, questions, failures, changes."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hob.core.errors import NotConfigured, ToolFailed, ToolRefused, UserInputNeeded
from hob.core.ids import CallId
from hob.core.messages import Inbound, Sender
from hob.core.ports.tools import CallContext
from hob.core.settings import Secret
from hob.core.tools import Effect, ToolCall, ToolResult
from hob.core.trust.labels import Origin, SenderClass
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.tools.mcp.connector import job_of
from hob.tools.mcp.settings import McpServer
from hob.tools.mcp.toolset import McpToolset
from tests.bus.bench import until
from tests.tools.mcp.reaching import Told, a_turn, accept, connected, environment_of, on_loopback, ours, toolset

pytestmark = [pytest.mark.slow, pytest.mark.bubblewrap]  # each test starts a sandboxed program


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[McpToolset]:
    async with connected(tmp_path / "home", ours()) as connection:
        yield toolset(await accept(connection), ours(), connection, tmp_path)


@pytest.fixture
async def asking(tmp_path: Path) -> AsyncIterator[McpToolset]:
    """The same over the older protocol, in which servers ask during a call."""
    async with connected(tmp_path / "home", ours(), protocol="2025-11-25") as connection:
        assert (await connection.about()).protocol == "2025-11-25"
        yield toolset(await accept(connection), ours(), connection, tmp_path)


async def call(tools: McpToolset, tool: str, /, *answers: str | Inbound, **arguments: Any) -> ToolResult:
    made = ToolCall(CallId("c"), tool, json.dumps(arguments))
    return await tools.call(made, CallContext(a_turn(*answers)))


async def test_sandboxed_program_is_called_and_its_results_are_untrusted(notes: McpToolset) -> None:
    names = [spec.name.removeprefix("notes__") for spec in notes.specs()]
    assert names == ["oven", "get_note", "delete_note", "get_poem", "bake", "reword", "crash", "resources", "prompts"]
    result = await call(notes, "notes__get_note", name="tea")
    assert (result.text, result.label.origin, result.label.trusted) == ("Buy green tea.", Origin.MCP, False)
    assert "note://tea" in (await call(notes, "notes__resources")).text
    assert (await call(notes, "notes__resources", uri="note://tea")).text == "Buy green tea."
    assert "summary(topic)" in (await call(notes, "notes__prompts")).text
    filled = await call(notes, "notes__prompts", name="summary", arguments={"topic": "tea"})
    assert "Sum up tea." in filled.text


async def test_program_that_writes_outside_its_folder_gets_a_hint_for_the_owner(notes: McpToolset) -> None:
    result = await call(notes, "notes__get_note", name="locked")
    assert result.is_error
    assert "Read-only file system" in result.text
    assert "its own folder only, {data}" in result.text


async def test_effects_and_roles_are_inferred_cautiously(notes: McpToolset) -> None:
    specs = {spec.name: spec for spec in notes.specs()}
    reading, deleting, unknown = (specs[f"notes__{name}"] for name in ("get_note", "delete_note", "crash"))
    assert reading.effects == {Effect.READS_PRIVATE, Effect.READS_UNTRUSTED}
    assert deleting.effects == {Effect.WRITES_FINALLY}
    assert unknown.effects == frozenset(Effect)
    assert deleting.roles is not None
    assert deleting.roles.things == ("name",)
    assert deleting.roles.says == "delete note (notes): {name}"


async def test_server_with_a_url_or_hosts_counts_as_remote(tmp_path: Path) -> None:
    async with connected(tmp_path / "home", ours()) as connection:
        accepted = await accept(connection)
        for server, remote in (
            (ours(), False),
            (McpServer(url="https://notes.example/mcp"), True),
            (replace(ours(), hosts=["notes.example"]), True),
        ):
            specs = toolset(accepted, server, connection, tmp_path).specs()
            assert {spec.roles is not None and spec.roles.remote for spec in specs} == {remote}


@pytest.mark.parametrize(("answer", "said"), [("yes", "tea: accept True"), ("nein", "tea: accept False")])
async def test_server_asks_the_user_and_gets_the_answer(asking: McpToolset, answer: str, said: str) -> None:
    with pytest.raises(UserInputNeeded, match=r"notes: Delete tea\?\n") as asked:
        await call(asking, "notes__delete_note", name="tea")
    assert asked.value.again
    assert (await call(asking, "notes__delete_note", answer, name="tea")).text == said


async def test_only_the_person_who_asked_or_the_owner_answers_a_servers_question(asking: McpToolset) -> None:
    with pytest.raises(UserInputNeeded):
        await call(asking, "notes__delete_note", name="tea")
    stranger = replace(message("yes"), sender=Sender("eve", "Eve", SenderClass.STRANGER), group=True)
    of_hob = replace(message("yes"), hops=1, background=True)
    for others in ([stranger], [stranger, of_hob]):
        with pytest.raises(UserInputNeeded):
            await call(asking, "notes__delete_note", *others, name="tea")
    assert "accept False" in (await call(asking, "notes__delete_note", stranger, of_hob, "no", name="tea")).text


async def test_invalid_answer_is_asked_for_again(asking: McpToolset) -> None:
    with pytest.raises(UserInputNeeded):
        await call(asking, "notes__delete_note", name="tea")
    with pytest.raises(UserInputNeeded, match="sure must be yes or no"):
        await call(asking, "notes__delete_note", "perhaps", name="tea")
    assert "accept True" in (await call(asking, "notes__delete_note", "perhaps", "ja", name="tea")).text


async def test_crash_is_reported_and_the_server_restarts_after_a_pause(tmp_path: Path) -> None:
    clock = ManualClock()
    async with connected(tmp_path / "home", ours(), clock=clock) as connection:
        notes = toolset(await accept(connection), ours(), connection, tmp_path)
        for pause in (1, 2, 4):
            with pytest.raises(ToolFailed, match="ended; whether the call took effect is unknown"):
                await call(notes, "notes__crash")
            await until(lambda: connection.state == "failing")
            with pytest.raises(ToolFailed, match=f"tried again in {pause} s"):
                await call(notes, "notes__get_note", name="tea")
            await clock.advance(pause)
            assert (await call(notes, "notes__get_note", name="tea")).text == "Buy green tea."


async def test_changed_description_is_refused_until_the_owner_accepts_it(tmp_path: Path) -> None:
    told = Told()
    async with connected(tmp_path / "home", ours()) as connection:
        accepted = await accept(connection)
    async with connected(tmp_path / "home", ours("twisted")) as connection:
        tools = toolset(accepted, ours(), connection, tmp_path, told)
        with pytest.raises(ToolRefused, match="hob mcp accept notes"):
            await call(tools, "notes__get_note", name="tea")
        assert told.changed == [("notes", "get_note")]
        tools = toolset(await accept(connection), ours(), connection, tmp_path, told)
        assert (await call(tools, "notes__get_note", name="tea")).text == "Buy green tea."


async def test_tool_with_more_effects_than_accepted_is_refused_until_accepted(
    tmp_path: Path,
) -> None:
    told = Told()
    async with connected(tmp_path / "home", ours()) as connection:
        accepted = await accept(connection)
        (note,) = (each for each in accepted.tools if each.name == "delete_note")
        milder = replace(note, effects=("reads_private", "reads_untrusted"), tier=0)
        others = tuple(each for each in accepted.tools if each is not note)
        tools = toolset(replace(accepted, tools=(*others, milder)), ours(), connection, tmp_path, told)
        with pytest.raises(ToolRefused, match="hob mcp accept notes"):
            await call(tools, "notes__delete_note", name="tea")
        assert told.changed == [("notes", "delete_note")]
        assert (await call(tools, "notes__get_note", name="tea")).text == "Buy green tea."


async def read_often(tools: McpToolset) -> None:
    """Call repeatedly: the change notification may arrive after the answer."""
    for _ in range(100):
        await call(tools, "notes__get_note", name="tea")


@pytest.mark.parametrize("protocol", ["2025-11-25", "2026-07-28"])
async def test_description_change_in_a_running_server_is_noticed(tmp_path: Path, protocol: str) -> None:
    async with connected(tmp_path / "home", ours(), protocol=protocol) as connection:
        tools = toolset(await accept(connection), ours(), connection, tmp_path)
        assert (await call(tools, "notes__get_note", name="tea")).text == "Buy green tea."
        await call(tools, "notes__reword")
        with pytest.raises(ToolRefused, match="hob mcp accept notes"):
            await read_often(tools)


async def test_program_reaches_neither_the_network_nor_other_folders(tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("mine")
    probe = tmp_path / "probe.py"
    probe.write_text(
        "import socket, sys, pathlib\n"
        f"print('reads', pathlib.Path({str(tmp_path / 'private.txt')!r}).exists(), file=sys.stderr)\n"
        "try:\n    socket.create_connection(('1.1.1.1', 53), 1); print('online', file=sys.stderr)\n"
        "except OSError: print('offline', file=sys.stderr)\n"
    )
    folder = tmp_path / "seen"
    folder.mkdir()
    (folder / "probe.py").write_text(probe.read_text())
    server = McpServer(command=["python3", str(folder / "probe.py")], read=[str(folder)])
    async with connected(tmp_path / "home", server) as connection:
        with pytest.raises(ToolFailed, match="it said: reads False offline"):
            await connection.tools()


async def test_tools_are_filtered_and_renamed(tmp_path: Path) -> None:
    async with connected(tmp_path / "home", ours()) as connection:
        accepted = replace(await accept(connection), resources=False, prompts=False)
        server = replace(ours(), tools=["get_n*"], rename={"get_note": "read"})
        tools = toolset(accepted, server, connection, tmp_path)
        assert [spec.name for spec in tools.specs()] == ["notes__read"]
        assert (await call(tools, "notes__read", name="tea")).text == "Buy green tea."


async def test_loopback_server_is_reached_only_by_the_configured_address(tmp_path: Path) -> None:
    async with on_loopback(tmp_path) as url:
        async with connected(tmp_path / "home", McpServer(url=url)) as connection:
            tools = toolset(await accept(connection), McpServer(url=url), connection, tmp_path)
            assert (await call(tools, "notes__get_note", name="tea")).text == "Buy green tea."
        rebound = url.replace("127.0.0.1", "localtest.me")
        async with connected(tmp_path / "home", McpServer(url=rebound)) as connection:
            with pytest.raises(ToolFailed, match=r"not on the public internet|there is no address"):
                await connection.tools()


def test_program_sees_only_the_configured_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPANY_TOKEN", "t0ken")
    given = replace(ours(), env={"KEPT_IN": Secret.of("{data}/kept")})
    environment, job = job_of("notes", given, environment_of(tmp_path / "home"))
    seen = environment.environ_of(job, tmp_path)
    assert seen["KEPT_IN"] == str(job.folder / "kept")
    assert "COMPANY_TOKEN" not in seen
    assert job.hosts == ()


@pytest.mark.parametrize("name", ["PATH", "HOME", "LD_PRELOAD", "BASH_ENV", "HOB_HOME"])
def test_environment_variables_that_control_loaders_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match=f"cannot set {name}"):
        job_of("notes", replace(ours(), env={name: Secret.of("x")}), environment_of(tmp_path / "home"))
