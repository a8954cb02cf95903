"""`hob sessions`, as its owner sees it."""

import asyncio
import fcntl
import json
import os
import pty
import struct
import sys
import termios

from tests.journeys.world import World

LONG = "a title of many words that would never fit beside the name of its conversation on eighty columns"


async def at_a_terminal(world: World, columns: int, *arguments: str) -> list[str]:
    """Return the lines that a command prints on a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    done = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "hob", *arguments, stdin=theirs, stdout=theirs, env=world.environ(NO_COLOR="1")
    )
    assert await done.wait() == 0
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    os.close(theirs)
    return shown.splitlines()


async def test_conversations_are_listed_shown_named_and_deleted(world: World) -> None:
    assert (await world.hob("sessions")).out == "No conversations yet; `hob` starts one.\n"
    assert json.loads((await world.hob("sessions", "--json")).out) == {"sessions": []}
    assert (await world.hob("ask", "hello", "--session", "garden")).status == 0
    assert (await world.hob("ask", "goodbye")).status == 0
    assert (await world.hob("sessions", "rename", "garden", LONG)).status == 0
    _head, newest, oldest, foot = (await world.hob("sessions")).out.splitlines()
    assert (newest.split()[0], oldest.split()[0]) == ("main", "garden")
    assert foot == "Entries are messages, answers and tools' results."
    for wide in (60, 80):
        listed = await at_a_terminal(world, wide, "sessions")
        assert max(map(len, listed)) <= wide
        assert "a title" in listed[2]
        assert max(map(len, await at_a_terminal(world, wide, "sessions", "show"))) <= wide
    shown = (await world.hob("sessions", "show", "garden")).out
    assert "  user      hello\n  Hob       You said: hello\n" in shown
    unsure = await world.hob("sessions", "delete", "garden")
    assert (unsure.status, unsure.out) == (2, "")
    assert "--yes" in unsure.err
    assert "deleted" in (await world.hob("sessions", "delete", "garden", "--yes")).out
    assert "hello" not in (await world.hob("sessions", "show", "garden")).out
    wrong = await world.hob("sessions", "show", "nowhere")
    assert (wrong.status, wrong.err) == (1, "hob: there is no conversation nowhere; `hob sessions` lists them\n")


async def test_commands_use_the_terminals_current_conversation(world: World) -> None:
    assert (await world.hob("ask", "hello")).status == 0
    assert "local:w2" in (await world.hob("ask", "/session switch w2")).out
    assert (await world.hob("ask", "goodbye")).status == 0
    assert (await world.hob("sessions", "show")).out.startswith("w2")
    assert (await world.hob("ask", "in main", "--session", "main")).status == 0
    assert "in main" in (await world.hob("sessions", "show", "main")).out


async def test_timeline_distinguishes_paused_and_continued_conversations(world: World) -> None:
    await world.hob("ask", "hello")
    for command in ("pause", "resume", "archive"):
        assert (await world.hob("sessions", command, "main")).status == 0
    assert (await world.hob("sessions", "archive", "main", "--back")).status == 0
    told = [row.split()[-1] for row in (await world.hob("timeline")).out.splitlines() if " conversation " in row]
    assert told[-4:] == ["paused", "continued", "archived", "restored"]


async def test_question_to_a_paused_conversation_is_kept_and_says_how_to_continue(world: World) -> None:
    """It used to wait forever, and named a command of the chat."""
    await world.hob("ask", "hello")
    assert "`hob sessions resume main` continues it" in (await world.hob("sessions", "pause", "main")).out
    kept = await world.hob("ask", "and now")
    assert kept.status == 75
    assert "`hob sessions resume main` continues it, then: hob ask --resume m_" in kept.err
    await world.hob("sessions", "resume", "main")
    assert (await world.hob("ask", "--resume", kept.err.split()[-1])).out == "You said: and now\n"
    async with world.serve():
        await world.hob("sessions", "pause", "main")
        assert (await world.hob("ask", "once more")).status == 75
