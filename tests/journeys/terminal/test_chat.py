"""The chat at a real terminal, with a real daemon and a model server."""

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hob.testing.model_server import Fault, Reply
from tests.journeys.pty_session import BACKSPACE, CTRL_C, CTRL_D, ENTER, ESCAPE, TAB, UP, Terminal, open_terminal
from tests.journeys.world import SHARED, Shared, World, until

READY, BUSY = "· ready", "· writing"
OURS = {"TERM", "NO_COLOR", "LANG"}
RUN = 'CALL exec {"command": "rm -rf ."}'


@asynccontextmanager
async def chat(world: World, columns: int = 80, rows: int = 24, **environ: str) -> AsyncIterator[Terminal]:
    """Run `hob` at a terminal."""
    kept = {name: value for name, value in world.environ(**environ).items() if name in environ or name not in OURS}
    async with open_terminal([sys.executable, "-m", "hob"], kept, columns=columns, rows=rows) as terminal:
        yield terminal


@asynccontextmanager
async def ready(world: World, columns: int = 80, rows: int = 24, **environ: str) -> AsyncIterator[Terminal]:
    """Run the chat beside a daemon, once it is ready."""
    async with world.serve(**environ), chat(world, columns, rows, **environ) as terminal:
        await terminal.see_now("Ctrl-D", READY)
        yield terminal


@asynccontextmanager
async def started(shared: Shared, columns: int = 80, rows: int = 24, **environ: str) -> AsyncIterator[Terminal]:
    """Run the chat beside the module's daemon, in a new conversation."""
    assert (await shared.daemon.post("/new", channel="local")).status_code == 200
    async with chat(shared.world, columns, rows, **environ) as terminal:
        yield terminal


@asynccontextmanager
async def at_ready(shared: Shared) -> AsyncIterator[Terminal]:
    """The same, once it is ready."""
    async with started(shared) as terminal:
        await terminal.see_now("Ctrl-D", READY)
        yield terminal


@SHARED
async def test_answer_is_streamed_and_the_prompt_stays(shared: Shared) -> None:
    shared.world.model.script.append(
        Reply("# Title\n\nSome **bold** words and more of them.\n\nThe end of it.", pause=0.2)
    )
    async with at_ready(shared) as terminal:
        terminal.type("tell me", ENTER)
        await terminal.see_now("> tell me", "Title", BUSY)
        assert "The end of it." not in terminal.text
        terminal.type("half a thought")
        await terminal.see_now("> half a thought", BUSY)
        await terminal.see("Some bold words and more of them.", "The end of it.")
        await terminal.see_now(READY, "> half a thought")
        assert terminal.text.count("Title") == 1
        assert terminal.style_of("bold").bold


@SHARED
async def test_ctrl_c_stops_the_turn_and_the_chat_continues(shared: Shared) -> None:
    shared.world.model.script.append(Reply("word " * 200, pause=0.2))
    async with at_ready(shared) as terminal:
        terminal.type("tell me", ENTER)
        await terminal.see_now("word", BUSY)
        terminal.type(CTRL_C)
        await terminal.see_now("topped", READY)
        terminal.type("go on", ENTER)
        await terminal.see("You said: go on")


@SHARED
async def test_ctrl_c_at_an_empty_prompt_stops_a_turn_that_asks(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        terminal.type('CALL ask_user {"question": "Which colour?"}', ENTER)
        await terminal.see_now("your next message is the answer", "waiting for your answer")
        terminal.type("not this")
        await terminal.see_now("> not this")
        terminal.type(CTRL_C)
        await terminal.gone("not this")
        terminal.type(CTRL_C)
        await terminal.see_now("Stopped", READY)


@SHARED
async def test_ctrl_c_twice_at_an_empty_prompt_leaves_and_once_clears_the_line(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        terminal.type("not this")
        await terminal.see_now("> not this")
        terminal.type(CTRL_C)
        await terminal.gone("not this")
        terminal.type(CTRL_C)
        await terminal.see_now("Ctrl-C again leaves the chat")
        terminal.type(CTRL_C)
        assert await terminal.ended() == 0


@SHARED
async def test_ctrl_d_leaves_the_terminal_as_it_was(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        terminal.type("hi", ENTER)
        await terminal.see("You said: hi")
        terminal.type(CTRL_D)
        assert await terminal.ended() == 0
        assert terminal.raw.endswith((b"\x1b[?25h", b"\x1b[?2004l", b"\r\n")) or b"\x1b[?2004l" in terminal.raw[-200:]
        assert "· ready" not in terminal.screen


@SHARED
async def test_typed_lines_are_sent_while_an_answer_streams(shared: Shared) -> None:
    shared.world.model.script.append(Reply("first answer " * 10, pause=0.2))
    async with at_ready(shared) as terminal:
        terminal.type("one", ENTER)
        await terminal.see_now("first answer", BUSY)
        terminal.type("two", ENTER)
        await terminal.see("> two", "You said:")
        await terminal.see_now(READY)
        said = [asked.json()["messages"][-1]["content"] for asked in shared.world.model.chats]
        assert "two" in said[-1]


@SHARED
async def test_question_is_shown_in_full_and_answered_at_the_prompt(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        terminal.type(RUN, ENTER)
        await terminal.see_now("exec needs your approval", "│ rm -rf .", "Allow a_", "waiting for your answer")
        terminal.type("perhaps", ENTER)
        await terminal.gone("perhaps")
        terminal.type("n", ENTER)
        await terminal.see("The tool said:")
        await terminal.see_now(READY, "> perhaps")  # the sentence that was no answer is kept for later
        terminal.type(" thanks", ENTER)
        await terminal.see("You said: perhaps thanks")


@SHARED
async def test_two_questions_of_a_turn_are_asked_one_after_the_other(shared: Shared) -> None:
    shared.world.model.script.append(
        Reply(calls=(("exec", '{"command": "rm -rf ."}'), ("exec", '{"command": "rm -rf ../x"}')))
    )
    async with at_ready(shared) as terminal:
        terminal.type("do it", ENTER)
        await terminal.see_now("Allow a_")
        first = terminal.screen.partition("Allow ")[2].partition("?")[0]
        terminal.type("n", ENTER)
        await terminal.until(lambda: "Allow a_" in terminal.screen and f"Allow {first}" not in terminal.screen)
        terminal.type("n", ENTER)
        await terminal.see("The tool said:")
        await terminal.see_now(READY)
        assert terminal.text.count("│ rm -rf ../x\n") == 1
        assert terminal.text.count("exec needs your approval") == 2


@SHARED
async def test_question_in_words_takes_the_next_message_and_is_answered_once(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        terminal.type('CALL ask_user {"question": "Which colour?"}', ENTER)
        await terminal.see_now("your next message is the answer", "waiting for your answer")
        terminal.type("blue", ENTER)
        await terminal.see("The tool said: blue")
        await terminal.see_now(READY)
        assert terminal.text.count("The tool said:") == 1
        assert terminal.text.count("Which colour?") == 2  # once in the user's message, once in the question


@SHARED
async def test_question_that_is_asked_again_in_the_same_words_is_shown_again(shared: Shared) -> None:
    asks = Reply(calls=(("ask_user", '{"question": "Which colour?"}'),))
    shared.world.model.script.extend([asks, asks])
    async with at_ready(shared) as terminal:
        terminal.type("paint it", ENTER)
        await terminal.see_now("your next message is the answer", "waiting for your answer")
        terminal.type("hm", ENTER)
        await terminal.until(lambda: terminal.text.count("Which colour?") == 2)
        await terminal.see_now("waiting for your answer")
        terminal.type("blue", ENTER)
        await terminal.see("The tool said: blue")
        await terminal.see_now(READY)


@SHARED
async def test_refused_calls_leave_a_line(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        terminal.type('CALL no_such_tool {"at": "x"}', ENTER)
        await terminal.see_now("✗ no_such_tool: x  there is no such tool")
        terminal.type("CALL exec {}", ENTER)
        await terminal.see_now("✗ exec  the model's arguments do not fit the tool")
        terminal.type(RUN, ENTER)
        await terminal.see_now("Allow a_")
        terminal.type("n", ENTER)
        await terminal.see_now("✗ exec: rm -rf .  not allowed")


@SHARED
async def test_allowed_call_is_one_line_with_its_output(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        terminal.type('CALL exec {"command": "seq 1 30; rm -rf ./none"}', ENTER)
        await terminal.see_now("Allow a_")
        terminal.type("y", ENTER)
        await terminal.see("✓ exec: seq 1 30; rm -rf ./none", "more lines")
        await terminal.see_now(READY)
        shown = terminal.text.partition("✓ exec")[2].partition("The tool said")[0].split("\n")
        assert [line for line in shown if line.strip().isdigit()] == [f"  {n}" for n in range(23, 31)]


@pytest.mark.bubblewrap
@SHARED
async def test_stopped_call_leaves_its_line(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        terminal.type('CALL exec {"command": "echo begun; sleep 60"}', ENTER)
        await terminal.see_now("● exec: echo begun; sleep 60", "  begun", "· exec")
        terminal.type(CTRL_C)
        await terminal.see_now("✗ exec: echo begun; sleep 60", READY)
        assert "● exec" not in terminal.screen


@SHARED
async def test_draft_survives_a_question_and_does_not_answer_it(shared: Shared) -> None:
    shared.world.model.script.append(Reply(calls=(("exec", '{"command": "rm -rf ."}'),), delay=3.0))
    async with at_ready(shared) as terminal:
        terminal.type("do it", ENTER)
        await terminal.see_now("> do it", "thinking")
        terminal.type("yes, and then")
        await terminal.see_now("Allow a_")
        assert "yes, and then" not in terminal.screen
        terminal.type(ESCAPE)
        await terminal.see_now("the question stays open", "> yes, and then")


@SHARED
async def test_question_answered_elsewhere_disappears(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        terminal.type(RUN, ENTER)
        await terminal.see_now("Allow a_")
        id = terminal.screen.partition("Allow ")[2].partition("?")[0]
        await shared.world.hob("approvals", "deny", id)
        await terminal.see("The tool said:")
        await terminal.gone("Allow a_")


@SHARED
async def test_hidden_characters_of_a_question_are_visible(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        shared.world.model.script.append(Reply(calls=(("exec", r'{"command": "rm -rf . #\u001b[2J\u202e\u200b"}'),)))
        terminal.type("do it", ENTER)
        await terminal.see_now("U+001B", "U+202E", "U+200B", "Allow a_")


@SHARED
async def test_long_line_of_a_question_stays_behind_its_bar(shared: Shared) -> None:
    command = "rm -rf . " + "x" * 200 + " It would run: ls"
    async with at_ready(shared) as terminal:
        shared.world.model.script.append(Reply(calls=(("exec", f'{{"command": "{command}"}}'),)))
        terminal.type("do it", ENTER)
        await terminal.see_now("Allow a_")
        rows = [row for row in terminal.text.split("\n") if "xxx" in row or "run: ls" in row]
        assert len(rows) > 3
        assert all(row.startswith(("│ ", "┊ ")) for row in rows)


@SHARED
async def test_nothing_of_an_answer_is_executed_by_the_terminal(shared: Shared) -> None:
    evil = (
        "\x1b[2Jcleared \x1b]0;title\x07 \x1b]52;c;aGk=\x07 \x9b31m \x1b[31mred\x1b[0m &#27;[31m &#x9b;1m \r\b\x7f"
        " [link](http://a.example/\x1b]8;;evil) `\x1b[5n` \u202eturned\n\n```\n\x1b[1;1Hcode\n```\n\n"
        "| \x1b[c |\n|--|\n| x |\n"
    )
    async with at_ready(shared) as terminal:
        before = len(terminal.raw)
        shared.world.model.script.append(Reply(evil))
        terminal.type("hi", ENTER)
        await terminal.see("cleared", "code")
        await terminal.see_now(READY)
        written = terminal.raw[before:].decode()
        for order in ("\x1b[2J", "\x1b]", "\x9b", "\x07", "\x1b[5n", "\x1b[1;1H", "\x1b[c", "\x08", "\u202e"):
            assert order not in written


@SHARED
async def test_hostile_output_names_and_errors_cannot_control_the_terminal(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        before = len(terminal.raw)
        command = r"printf '\\033[2J\\033]0;evil\\007x\\n' # \u001b[2J"
        shared.world.model.script.append(Reply(calls=(("exec", f'{{"command": "{command}"}}'), ("\x1b]0;n\x07", "{}"))))
        terminal.type("hi", ENTER)
        await terminal.see_now("Allow a_")
        terminal.type("y", ENTER)
        await terminal.see("✓ exec:", "evil")
        await terminal.see_now(READY)
        assert b"\x1b[2J" not in terminal.raw[before:]
        assert b"\x1b]" not in terminal.raw[before:]


@SHARED
async def test_window_may_be_resized_while_an_answer_streams(shared: Shared) -> None:
    text = " ".join(f"word{n}" for n in range(60))
    shared.world.model.script.append(Reply(text, pause=0.05))
    async with at_ready(shared) as terminal:
        terminal.type("tell me", ENTER)
        await terminal.see_now("word5", BUSY)
        terminal.resize(50, 24)
        await terminal.see("word59")
        await terminal.see_now(READY, "\n>")
        assert terminal.text.count("word59") == 1
        terminal.resize(120, 24)
        terminal.type("again", ENTER)
        await terminal.see("You said: again")


@SHARED
async def test_long_paste_is_shown_as_a_mark_and_sent_in_full(shared: Shared) -> None:
    pasted = "\r\n".join(f"line {n}" for n in range(1, 215))
    async with at_ready(shared) as terminal:
        terminal.type("look: ")
        terminal.paste(pasted)
        await terminal.see_now("> look: [pasted 214 lines]")
        terminal.type(ENTER)
        await terminal.see("You said: look: [pasted 214 lines]")
        said = shared.world.model.chats[-1].json()["messages"][-1]["content"]
        assert pasted.replace("\r\n", "\n") in said
        asked, _, data = said.partition("<untrusted-")
        assert asked == "look: [pasted 214 lines]\n\n"
        assert "line 214" in data
        terminal.type(UP)
        await terminal.see_now("> [pasted 214 lines, 2]")
        terminal.type(BACKSPACE)
        await terminal.until(lambda: terminal.screen.rstrip().split("\n")[-2].strip() == ">")


@SHARED
async def test_picture_dropped_on_the_terminal_is_sent(shared: Shared) -> None:
    file = shared.world.root / "my cat.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    async with at_ready(shared) as terminal:
        terminal.paste(str(file).replace(" ", "\\ "))
        await terminal.see_now("> [picture my cat.png]")
        terminal.type(" what is it?", ENTER)
        await terminal.see("You said: my cat.png what is it?")
        assert b"image/png" in shared.world.model.chats[-1].body


@SHARED
async def test_text_file_is_attached_by_its_completed_path(shared: Shared) -> None:
    (shared.world.root / "notes.txt").write_text("buy milk")
    async with at_ready(shared) as terminal:
        terminal.type(f"/attach {shared.world.root}/no")
        await terminal.see_now("notes.txt")
        terminal.type(TAB, ENTER, ENTER)
        await terminal.see_now("> [file notes.txt]")
        terminal.type("and?", ENTER)
        await terminal.see("You said:")
        assert b"buy milk" in shared.world.model.chats[-1].body
        (shared.world.root / "more.txt").write_text("and tea")
        terminal.type(f"/attach {shared.world.root}/notes.txt", ENTER)
        await terminal.see_now("> [file notes.txt]")
        terminal.type(f"/attach {shared.world.root}/more.txt", ENTER)
        await terminal.see_now("> [file notes.txt] [file more.txt]")
        asked = len(shared.world.model.chats)
        terminal.type("/whoami", ENTER)
        await terminal.see("owner", "> [file notes.txt] [file more.txt]")
        assert len(shared.world.model.chats) == asked
        terminal.type("both?", ENTER)
        await terminal.see("You said: notes.txt more.txt both?")
        assert b"and tea" in shared.world.model.chats[-1].body
        terminal.type("/attach /no/such", ENTER)
        await terminal.see_now("cannot attach /no/such")


async def test_commands_their_arguments_and_models_are_completed(world: World) -> None:
    async with ready(world, HOB_MODEL_ALIASES='{clever = "fake-1"}') as terminal:
        terminal.type("/per")
        await terminal.see_now("/permission", "what this conversation allows")
        terminal.type(TAB, " rea")
        await terminal.see_now("read-only")
        terminal.type(CTRL_C, "/model cl")
        await terminal.see_now("clever")
        terminal.type(TAB)
        await terminal.see_now("> /model clever")
        terminal.type(ENTER, ENTER)
        await terminal.see_now("clever", READY)


@SHARED
async def test_alt_enter_and_a_backslash_add_a_line(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        terminal.type("one\\", ENTER, "two", ESCAPE + ENTER, "three")
        await terminal.see_now("> one\n  two\n  three")
        terminal.type(ENTER)
        await terminal.see("You said: one")
        assert "one\ntwo\nthree" in shared.world.model.chats[-1].json()["messages"][-1]["content"]


async def test_input_history_is_kept_for_the_next_chat_without_secrets(world: World) -> None:
    secret = "sk-" + "q7Rt2Lx9Zb4Nv8Wm3Kc6Hd1"
    async with ready(world) as terminal:
        terminal.type("remember this line", ENTER)
        await terminal.see("You said: remember this line")
        terminal.type(f"the key is {secret}", ENTER)
        await terminal.see("You said: the key is")
        terminal.type(CTRL_D)
        await terminal.ended()
    history = world.home / "chat_history"
    assert history.stat().st_mode & 0o777 == 0o600
    assert secret not in history.read_text()
    async with ready(world) as terminal:
        terminal.type(UP, UP)
        await terminal.see_now("> remember this line")


async def test_private_conversation_is_neither_in_the_history_nor_a_title(world: World) -> None:
    async with ready(world) as terminal:
        terminal.type("/Private my secret love", ENTER)
        await terminal.see("From here on nothing is remembered.")
        await terminal.see("You said: my secret love")
        await terminal.see_now("private-", READY)
        terminal.type("another secret", ENTER)
        await terminal.see("You said: another secret")
        listed = (await world.hob("sessions", "list", "--json")).out
        terminal.type("/session switch main", ENTER)
        await terminal.gone("private-")
        kept = world.home / "chat_history"
        terminal.type("what all may know", ENTER)
        await terminal.see("You said: what all may know")
        terminal.type("and this", ENTER)
        await terminal.until(lambda: kept.exists() and "and this" in kept.read_text())
    assert "private-" in listed
    assert "secret love" not in listed
    assert "what all may know" in kept.read_text()
    assert "secret" not in kept.read_text()


async def test_message_to_a_conversation_that_another_client_made_private_is_not_in_the_history(world: World) -> None:
    async with ready(world) as terminal:
        terminal.type("what all may know", ENTER)
        await terminal.see("You said: what all may know")
        await world.hob("ask", "/private")
        terminal.type("my secret love", ENTER)
        await terminal.see("You said: my secret love")
    history = (world.home / "chat_history").read_text()
    assert "what all may know" in history
    assert "secret" not in history


async def test_chat_shows_the_answer_after_its_daemon_was_killed_and_replaced(world: World) -> None:
    world.model.script.extend([Reply("lost words " * 50, pause=0.2), Reply("The whole answer.")])
    async with world.serve() as daemon, chat(world) as terminal:
        await terminal.see_now(READY)
        terminal.type("tell me", ENTER)
        await terminal.see_now("lost words", BUSY)
        daemon.kill()
        await terminal.see("The whole answer.")
        await terminal.see_now(READY)
        assert "lost words" not in terminal.screen
        assert terminal.text.count("The whole answer.") == 1
        terminal.type("and now", ENTER)
        await terminal.see("You said: and now")


async def test_unseen_answer_is_shown_when_the_chat_starts(world: World) -> None:
    world.model.script.append(Reply("The late answer.", delay=0.5))
    async with world.serve() as daemon:
        id = await daemon.accepted("an early question", "k1", channel="local")
        while (await daemon.ask("/tasks", all="1"))["tasks"][0]["state"] != "done":
            pass
        async with chat(world) as terminal:
            await terminal.see("earlier, to “an early question”:", "The late answer.")
            terminal.type(CTRL_D)
            await terminal.ended()
        async with chat(world) as terminal:
            await terminal.see_now(READY)
            terminal.type("hi", ENTER)
            await terminal.see("You said: hi")
            assert "The late answer." not in terminal.text
        assert id


async def test_chat_starts_in_the_terminals_current_conversation(world: World) -> None:
    async with world.serve() as daemon:
        for text in ("/session switch w2", "said in w2"):
            assert (await daemon.post(text, channel="local")).status_code == 200
        async with chat(world) as terminal:
            await terminal.see_now("w2 · ", READY)


SPAWNS = [
    Reply(calls=(("load_tools", '{"names": ["agents"]}'),)),
    Reply(calls=tuple(("spawn", f'{{"task": "look for {name}", "label": "{name}"}}') for name in ("one", "two"))),
]


async def test_unrequested_result_appears_in_the_open_chat(world: World) -> None:
    world.model.script.extend(SPAWNS)
    async with world.serve() as daemon, chat(world, columns=200) as terminal:
        await terminal.see_now(READY)
        terminal.type("find out", ENTER)
        await terminal.see("Hob reports:", "You said: [sub-agent")
        await terminal.see_now(READY)
        assert terminal.text.count("Hob reports:") == 1
        assert not (await daemon.ask("/unread", channel="local"))["messages"]


async def test_plain_chat_shows_an_unrequested_result_after_the_next_message(world: World) -> None:
    world.model.script.extend(SPAWNS)
    async with world.serve() as daemon, chat(world, columns=200, NO_COLOR="1") as terminal:
        terminal.type("find out", ENTER)
        await terminal.see("The tool said")
        while not any(row["unasked"] for row in (await daemon.ask("/unread", channel="local"))["messages"]):
            pass
        assert terminal.text.count("The tool said") == 1
        terminal.type("and?", ENTER)
        await terminal.see("Hob reports:", "You said: [sub-agent")


async def test_running_turn_is_followed_by_the_next_chat(world: World) -> None:
    world.model.script.append(Reply("It begins and then nothing comes for a while.", fault=Fault.SILENCE_MIDDLE))
    async with world.serve():
        async with chat(world) as terminal:
            await terminal.see_now(READY)
            terminal.type("tell me", ENTER)
            await terminal.see_now("It begins", BUSY)
            terminal.type(CTRL_D)
            await terminal.ended()
            assert "It begins" in terminal.text
        async with chat(world) as terminal:
            await terminal.see("Continuing your earlier message “tell me”")
            await terminal.gone(READY)
            terminal.type(CTRL_C)
            await terminal.see_now("topped", READY)


async def test_chat_without_a_daemon_finishes_its_answer_before_it_leaves(world: World) -> None:
    """The answer used to be fetched and shown to no one."""
    world.model.script.append(Reply("The answer at last.", delay=3))
    async with chat(world) as terminal:
        await terminal.see_now("Hob is ready.", READY)
        terminal.type("tell me", ENTER)
        await terminal.see_now("· thinking")
        terminal.type(CTRL_D)
        await terminal.see("Hob finishes its work", "The answer at last.")
        assert await terminal.ended() == 0
        assert terminal.text.count("The answer at last.") == 1
    async with chat(world) as terminal:
        await terminal.see_now("Hob is ready.", READY)
        assert "The answer at last." not in terminal.text


async def test_chat_without_a_daemon_runs_hob_itself(world: World) -> None:
    async with chat(world) as terminal:
        await terminal.see_now("Hob is ready.", READY)
        terminal.type("hi", ENTER)
        await terminal.see("You said: hi")
        terminal.type("/exit", ENTER)
        assert await terminal.ended() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
async def test_signal_ends_the_chat_and_restores_the_terminal(world: World, number: signal.Signals) -> None:
    async with ready(world) as terminal:
        os.kill(terminal.process.pid, number)
        assert await terminal.ended() == 0
        assert b"\x1b[?2004l" in terminal.raw


@SHARED
@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {"NO_COLOR": "1"}], ids=str)
async def test_simple_terminal_gets_the_plain_chat(shared: Shared, environ: dict[str, str]) -> None:
    async with started(shared, 80, 24, **environ) as terminal:
        await terminal.see("Hob is ready.")
        terminal.type("hi", ENTER)
        await terminal.see("You said: hi")
        assert "· ready" not in terminal.text
        assert b"\x1b[3" not in terminal.raw
        assert b"\x1b[2m" not in terminal.raw


@SHARED
@pytest.mark.parametrize(("answer", "told"), [("y", "Allowed: exec"), ("n", "Not allowed: exec")])
async def test_one_letter_answers_in_the_plain_chat_too(shared: Shared, answer: str, told: str) -> None:
    async with started(shared, TERM="dumb") as terminal:
        await terminal.see("Hob is ready.")
        terminal.type(RUN, ENTER)
        await terminal.see("yes or no?")
        terminal.type(answer, ENTER)
        await terminal.see(told)


@SHARED
async def test_plain_chat_question_stays_answerable_after_another_message(shared: Shared) -> None:
    """A letter used to reach the model as a word, with no hint that the question was open."""
    async with started(shared, TERM="dumb") as terminal:
        await terminal.see("Hob is ready.")
        terminal.type(RUN, ENTER)
        await terminal.see("yes or no?")
        terminal.type("/status", ENTER)
        await terminal.until(lambda: terminal.text.count("yes or no?") == 2)
        terminal.type("n", ENTER)
        await terminal.see("Not allowed: exec")


@SHARED
async def test_slash_commands_work_at_a_question(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        terminal.type(RUN, ENTER)
        await terminal.see_now("Allow a_")
        terminal.type("/whoami", ENTER)
        await terminal.see("You are")
        terminal.type("/stop", ENTER)
        await terminal.gone("Allow a_")
        await terminal.see_now(READY)
        assert "> /" not in terminal.screen.splitlines()[-2]


@SHARED
@pytest.mark.parametrize("leave", ["/exit", "/quit"])
async def test_plain_chat_attaches_files_and_ends_on_exit(shared: Shared, tmp_path: Path, leave: str) -> None:
    (tmp_path / "notes.txt").write_text("the plan")
    async with started(shared, TERM="dumb") as terminal:
        await terminal.see("Hob is ready.")
        terminal.type("/attach nowhere.txt", ENTER)
        await terminal.see("cannot attach")
        terminal.type(f"/attach {tmp_path / 'notes.txt'}", ENTER)
        await terminal.see("[file notes.txt]")
        terminal.type("/help", ENTER)
        await terminal.see("/attach PATH", "/exit: leave the chat")
        terminal.type("read it", ENTER)
        await terminal.see("You said: notes.txt read it")
        assert "the plan" in shared.world.model.chats[0].body.decode()
        terminal.type(leave, ENTER)
        assert await terminal.ended() == 0


async def test_plain_chat_starts_with_unseen_answers(world: World) -> None:
    world.model.script.extend([Reply("The late answer.", delay=1)] * 2)
    async with world.serve() as daemon:
        for session, text in (("main", "an early question"), ("tea", "elsewhere")):
            assert (await daemon.post(text, channel="local", session=session, wait=0)).status_code == 202
        while {task["state"] for task in (await daemon.ask("/tasks", all="1"))["tasks"]} != {"done"}:
            pass
        asks = 'CALL exec {"command": "rm -rf junk"}'
        assert (await daemon.post(asks, channel="local")).status_code == 202
        world.model.script.append(Reply("slow", fault=Fault.SILENCE))
        async with chat(world, TERM="dumb") as terminal:
            await terminal.see("earlier, to “an early question”:", "The late answer.", "rm -rf junk", "yes or no?")
            await terminal.see("1 unseen in other conversations: tea")
            terminal.type("a slow one", ENTER)
            await until(lambda: len(world.model.chats) == 4)
        async with chat(world, TERM="dumb") as terminal:
            await terminal.see(
                "Continuing your earlier message “a slow one”; hob ask --resume m_", "rm -rf junk", "yes or no?"
            )
            assert "The late answer." not in terminal.text


@SHARED
async def test_sentence_typed_at_a_question_is_kept_and_does_not_answer(shared: Shared) -> None:
    async with at_ready(shared) as terminal:
        terminal.type(RUN, ENTER)
        await terminal.see_now("Allow a_")
        terminal.type("no, only the drafts", ENTER)
        await terminal.until(lambda: terminal.text.count("Type y or n, then Enter") == 2)
        await terminal.see_now("Allow a_")
        terminal.type("n", ENTER)
        await terminal.see("Not allowed: exec")
        await terminal.see_now("> no, only the drafts", READY)


async def test_chat_is_german_if_hob_is(world: World) -> None:
    async with world.serve(HOB_AGENT_LANGUAGE="de"), chat(world, HOB_AGENT_LANGUAGE="de") as terminal:
        await terminal.see_now("Hob ist bereit. Modell: fake-1 (aus deinen Einstellungen)", "· bereit")
        terminal.type("/sto")
        await terminal.see_now("anhalten, was diese Unterhaltung tut")


@SHARED
async def test_chat_works_in_a_narrow_terminal(shared: Shared) -> None:
    async with started(shared, 30, 8) as terminal:
        await terminal.see_now("ready")
        terminal.type("hi there", ENTER)
        await terminal.see("You said: hi there")
        await terminal.see_now("\n>", "ready")
        terminal.resize(30, 5)
        terminal.type("and in five rows", ENTER)
        await terminal.see("You said: and in five rows")


@pytest.mark.parametrize("colours", [{}, {"NO_COLOR": "1"}], ids=["terminal", "plain"])
async def test_chat_warns_at_its_start_if_commands_cannot_run(world: World, colours: dict[str, str]) -> None:
    environ = {"HOB_SANDBOX_BACKEND": "sandbox-exec", "PATH": os.environ["PATH"]}  # macOS only
    async with chat(world, 160, 24, **environ, **colours) as terminal:
        await terminal.see("commands cannot run: sandbox.backend = 'sandbox-exec' does not work here")
