"""The chat at a terminal: joins input, screen and conversation."""

import asyncio
import io
import logging
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.input import create_input

from hob.agent.commands.table import parse
from hob.app.daemon.daemon_client import local_key
from hob.cli.chat.connection import NO_MODEL, ChatConnection
from hob.cli.chat.conversation import HOW_TO_ANSWER, ChatQuestion, Conversation
from hob.cli.chat.follower import MessageFollower
from hob.cli.chat.input.completion import Completions, Names
from hob.cli.chat.input.history import KeptHistory
from hob.cli.chat.input.input_draft import DraftedMessage, InputDraft
from hob.cli.chat.input.keys import key_bindings
from hob.cli.chat.own_commands import ATTACH, LEAVE, attach, own_help
from hob.cli.chat.plain import show_ends
from hob.cli.chat.rendering.answer import load
from hob.cli.chat.rendering.fragments import plain
from hob.cli.chat.screen import Screen
from hob.cli.chat.sentences import say
from hob.cli.chat.startup import StartupState, chat_language, find_session, load_startup_state, secret_masker
from hob.cli.chat.status_bar import StatusBar
from hob.cli.chat.transcript import ScreenTranscript, TranscriptLineKind
from hob.cli.chat.unseen_messages import announce_elsewhere, unseen
from hob.cli.conversation.questions import DECISIONS
from hob.cli.output import printable
from hob.cli.translating import model_line
from hob.config.loading import Config
from hob.core.errors import HobError
from hob.core.ids import SessionKey
from hob.core.lazy import Lazy
from hob.core.memory import PRIVATE, is_private
from hob.store.erasure.chat_history import CHAT_HISTORY

STOP = "/stop"


def talk(connection: ChatConnection, body: Mapping[str, Any], home: Path) -> int:
    """Run the chat until the person leaves; return the command's exit status."""
    terminal = asyncio.run(_talk(connection, body, home))
    conversation = terminal.conversation
    if conversation.busy and connection.embedded:
        told = "Hob finishes its work before it leaves; Ctrl-C interrupts it, and the next start continues."
        print(say(told, conversation.language), file=sys.stderr)
        show_ends(
            connection,
            [message.id for message in conversation.active if message.id and not message.is_waiting],
            conversation.language,
        )
    return 0


async def _talk(connection: ChatConnection, body: Mapping[str, Any], home: Path) -> "TerminalChat":
    terminal = TerminalChat(connection, body, home)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, terminal.leave)
    with _capture_output(lambda text: loop.call_soon_threadsafe(terminal.aside, text)):
        async with asyncio.TaskGroup() as group:
            ticking = group.create_task(terminal.tick())
            try:
                with suppress(EOFError):  # the terminal was closed
                    await terminal.screen.app.run_async(pre_run=terminal.begin)
            finally:
                ticking.cancel()
                terminal.screen.close()
    return terminal


@Lazy
def _list_models() -> Callable[[Config], Sequence[str]]:
    from hob.cli.chat.model_names import list_models  # asks every provider, and loads slowly

    return list_models


class TerminalChat:
    """Connects the prompt to the conversation; implements `PromptActions`."""

    def __init__(self, connection: ChatConnection, body: Mapping[str, Any], home: Path) -> None:
        self._connection = connection
        self._session = self._chat = local_key(body["session"]) if "session" in body else ""
        self._follower = MessageFollower(asyncio.get_running_loop())
        self._draft = InputDraft()
        self._names = Names()
        self._mask: Callable[[str], str] | None = None
        self._history = KeptHistory(home / CHAT_HISTORY, self._masked, self._draft.shorten)
        self._status_bar = StatusBar(connection, self._chat)
        self.buffer = Buffer(
            completer=Completions(self._names),
            complete_while_typing=Condition(lambda: self.buffer.text.startswith("/")),
            history=self._history,
            multiline=True,
        )
        self.screen = Screen(
            self.buffer,
            key_bindings(self, self._draft),
            prompt=self._prompt,
            preview=lambda: self.conversation.preview(),
            bar=lambda: self._status_bar.bar(self.conversation),
            flow=lambda: self.conversation.flow(),
            drawn=self._drawn,
            terminal=(create_input(sys.stdin), sys.stdout),
        )
        self.transcript = ScreenTranscript(self.screen.write)
        self.conversation = Conversation(
            connection,
            self._follower,
            self.transcript,
            body,
            width=lambda: self.screen.width,
            changed=self._changed,
            refused=self._restore_input,
            settled=self._refresh_status,
        )
        self._asked: ChatQuestion | None = None
        self._answerable = False
        """Whether the question was drawn; text typed before that is not an answer."""
        self._stashed = Document()
        self._is_private = False
        """Whether a private conversation was requested; it may not have started yet."""
        self._leaving = False
        self._busy = asyncio.Event()

    # start

    def begin(self) -> None:
        """Greet, show unseen messages, and load what the first answer needs."""

        def failed(error: HobError | OSError | None) -> None:
            self.conversation.note(printable(str(error)))

        self._follower.do(lambda: load_startup_state(self._connection, self._chat), self._started, failed)

    def _started(self, arrival: StartupState) -> None:
        language = chat_language(arrival.config)
        self._chat = arrival.session
        self.conversation.language = self._draft.language = self._names.language = language
        self._mask = arrival.mask
        self._names.models = arrival.models
        if arrival.config is not None:
            self._names.choosing = partial(self._fetch_model_names, arrival.config)
        model = model_line(arrival.model, language) if arrival.model else say(NO_MODEL, language)
        hello = say("Hob is ready. Model: {model}.", language, model=model)
        keys = say("/help lists commands, Alt-Enter adds a line, Ctrl-C stops, Ctrl-D leaves.", language)
        self.conversation.note(f"{hello} {keys}")
        for earlier in arrival.earlier:
            self.conversation.follow(earlier)
        if arrival.elsewhere:
            self.conversation.note(announce_elsewhere(arrival.elsewhere, language))
        if arrival.no_commands:
            self.conversation.note(printable(arrival.no_commands))
        self._refresh_status()
        self._follower.do(load, lambda _: None)
        self._listen(0.0)

    def _listen(self, after: float) -> None:
        """From now on, show the results of Hob's own work."""
        session = self.conversation.session or self._chat

        def show_unasked(found: Sequence[Mapping[str, Any]]) -> None:
            for row in found:
                if row["unasked"]:
                    self.conversation.follow(unseen(row))
            self._listen(max((row["created"] for row in found), default=after))

        self._follower.do(lambda: self._connection.poll_unread(session, after), show_unasked)

    # key actions

    @property
    def asking(self) -> bool:
        return self._asked is not None

    def submit(self) -> None:
        text = self.buffer.text
        if self._asked is not None:
            self._decide(self._asked, text)
            return
        if not text.strip():
            return
        self.buffer.reset()
        self._leaving = False
        drafted = self._draft.whole(text.encode("utf-8", "replace").decode())
        files, rest = self._draft.split_files(drafted.draft)
        if files and parse(rest) is not None:  # files stay for the next message
            self.buffer.insert_text(files)
            drafted = self._draft.whole(rest)
        name, _, rest = drafted.text.strip().partition(" ")
        if name in LEAVE:
            self.leave()
        elif name == ATTACH:
            self._attach(rest.strip())
        else:
            self._send(drafted)

    def _send(self, drafted: DraftedMessage) -> None:
        """Send a message or command; a text after `/private` follows once the conversation is private."""
        # saved once Hob has named its conversation, which another client may have made private
        new = not self._private and self._history.recall(drafted.text)
        done = partial(self._save, drafted.text) if new else bool
        name, rest = parse(drafted.text.strip()) or ("", "")
        if name == "session":
            self._is_private = PRIVATE in rest
        elif name == "private":
            self._is_private = True
            if rest:
                _, said = parse(drafted.draft.strip()) or ("", "")
                done, drafted = partial(self.conversation.send, self._draft.whole(said)), self._draft.whole("/private")
        self.conversation.send(drafted, own_help(self.conversation.language) if name == "help" else "", done)

    def _save(self, text: str) -> None:
        if not is_private(SessionKey(self.conversation.session)):
            self._history.store_string(text)

    @property
    def _private(self) -> bool:
        return self._is_private or is_private(SessionKey(self.conversation.session or self._chat))

    def interrupt(self) -> None:
        """Handle Ctrl-C: stop the answer, else clear the input, else hint at leaving; leave when pressed again."""
        conversation = self.conversation
        if (conversation.busy or conversation.questions) and not conversation.stopping:
            conversation.stop()
        elif self.buffer.text:
            self.buffer.reset()
        elif conversation.asks_in_words and not conversation.stopping:
            conversation.stop()
        elif self._leaving:
            self.leave()
            return
        else:
            self._leaving = True
            conversation.note(say("Ctrl-C again leaves the chat", conversation.language))
            return
        self._leaving = False

    def leave(self) -> None:
        if self.screen.app.is_running and not self.screen.app.is_done:
            self.conversation.write_unfinished()
            self.screen.app.exit()

    def dismiss_question(self) -> None:
        if self._asked is not None:
            self.conversation.leave_open(self._asked)
            self._changed()

    # questions at the prompt

    def _prompt(self) -> str:
        if self._asked is None:
            return "> "
        further = "".join(f"/{scope}" for scope in self._asked.scopes if scope != "once")
        return say("Allow {id}? (y/n{further}) ", self.conversation.language, id=self._asked.id, further=further)

    def _decide(self, question: ChatQuestion, text: str) -> None:
        self.buffer.reset()
        decided = DECISIONS.get(text.strip().lower()) if self._answerable else None
        if decided is not None and decided[1] in question.scopes:
            self.conversation.decide(question, *decided)
            self._changed()
        elif self._answerable and (name := text.strip().partition(" ")[0]) in (STOP, *LEAVE):
            self.conversation.stop() if name == STOP else self.leave()
        elif self._answerable and parse(text) is not None:
            self._send(self._draft.whole(text))
        elif self._answerable and text.strip():
            # perhaps a message for later: it returns to the prompt once no question is shown
            self._stashed = Document("\n".join(filter(None, (self._stashed.text, text))))
            self.conversation.note(say(HOW_TO_ANSWER, self.conversation.language))

    def _changed(self) -> None:
        """Update question, completion and screen after a change."""
        question = next(iter(self.conversation.questions), None)
        if question != self._asked:
            if self._asked is None:
                self._stashed = self.buffer.document
            self._asked, self._answerable = question, False
            self.buffer.reset(Document() if question is not None else self._stashed)
        self._names.tasks = [message.id for message in self.conversation.active if message.id]
        if self.conversation.busy:
            self._busy.set()
        else:
            self._busy.clear()
        self.screen.app.invalidate()

    def _drawn(self) -> None:
        if self._asked is not None and not self._answerable:
            self._answerable = True
            if self.buffer.text:
                self.buffer.reset()

    # files

    def _attach(self, path: str) -> None:
        attached = attach(self._draft, path, self.conversation.language)
        if attached.problem:
            self.conversation.note(attached.problem)
        else:
            self.buffer.insert_text(f"{attached.mark} ")

    # background work

    def _masked(self, text: str) -> str:
        if self._mask is None:  # typed before the settings were read
            self._mask = secret_masker(None)
        return self._mask(text)

    def _restore_input(self, text: str) -> None:
        """Put unsent text back into the prompt."""
        if self._asked is None and not self.buffer.text:
            self.buffer.insert_text(text)

    def _refresh_status(self) -> None:
        def read() -> Mapping[str, Any]:
            return self._status_bar.read(self._session or find_session(self._connection))

        self._follower.do(read, self._show_status)

    def _fetch_model_names(self, config: Config) -> None:
        """Fetch model names once; meanwhile completion offers the configured ones."""
        self._names.choosing = lambda: None

        def listed(models: Sequence[str]) -> None:
            self._names.models = tuple(dict.fromkeys((*self._names.models, *models)))
            menu = self.buffer.complete_state
            if menu is not None and menu.complete_index is None:  # nothing is selected yet
                self.buffer.cancel_completion()
                self.buffer.start_completion()

        self._follower.do(lambda: _list_models()(config), listed)

    def _show_status(self, seen: Mapping[str, Any]) -> None:
        self._status_bar.take(seen)
        self._names.sessions = seen["sessions"]
        self.screen.app.invalidate()

    def aside(self, text: str) -> None:
        """Show output that other code in this process wrote outside the chat."""
        self.transcript.add(TranscriptLineKind.NOTE, plain(printable(text.rstrip("\n")), "fg:ansired"))

    async def tick(self) -> None:
        """Redraw every second while something runs."""
        while True:
            await self._busy.wait()
            await asyncio.sleep(1)
            self.screen.app.invalidate()


class _OutputCapture(io.TextIOBase):
    """Collects whole lines that would otherwise corrupt the prompt."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell
        self._begun = ""

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        if lines:
            with suppress(RuntimeError):  # the loop has closed
                self._tell("\n".join(lines))
        return len(text)


@contextmanager
def _capture_output(tell: Callable[[str], object]) -> Iterator[None]:
    """Pass everything that is printed or logged inside the block to `tell`."""
    aside = _OutputCapture(tell)
    handlers = [each for each in logging.root.handlers if isinstance(each, logging.StreamHandler)]
    former = [(each, each.setStream(aside)) for each in handlers]
    try:
        with redirect_stdout(aside), redirect_stderr(aside):
            yield
    finally:
        for handler, stream in former:
            if stream is not None:
                handler.setStream(stream)
