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
    """The lines that a command shows on a terminal so wide."""
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
    assert (await world.hob("sessions")).out == "There is no conversation yet; `hob` begins one.\n"
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
