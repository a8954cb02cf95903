"""The plain chat for pipes, simple terminals and NO_COLOR: one line in, its answer out."""

import sys
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any

from hob.agent.commands.table import parse
from hob.app.daemon.daemon_client import local_key
from hob.app.daemon.unix_http import ConnectionLost, text_of
from hob.cli.chat.connection import ChatConnection
from hob.cli.chat.input.input_draft import InputDraft
from hob.cli.chat.own_commands import ATTACH, LEAVE, attach, own_help
from hob.cli.chat.rendering.tool_calls import RunningCall
from hob.cli.chat.sentences import say
from hob.cli.chat.startup import chat_config, chat_language, explain_no_commands, find_session
from hob.cli.chat.unseen_messages import announce_elsewhere, fetch_earlier
from hob.cli.conversation.questions import DECISIONS, show_question
from hob.cli.conversation.sent_messages import print_lines, sent_lines
from hob.cli.output import LiveOutput, paint, printable, shows_colours, width_of_screen
from hob.core.translation.language import translatable, translated
from hob.gateway.chat.inbound import ClientEvent

_WORDS = {"y": "yes", "j": "ja", "n": "no"}
"""Short answers, by the words that a turn understands."""


def talk(connection: ChatConnection, body: dict[str, Any]) -> int:
    """Read lines and show their answers; return the command's exit status."""
    config = chat_config()
    language = chat_language(config)
    if sys.stdin.isatty():
        told = "Hob is ready. /help lists commands, Ctrl-D ends. Model: {model}."
        print(paint(say(told, language, model=connection.model(language)), "dim"))
        if told := explain_no_commands(config):
            print(paint(printable(told), "dim"))
    return _talk(connection, body, _catch_up(connection, body, language), language)


def _catch_up(
    connection: ChatConnection, body: dict[str, Any], language: str, seen: Collection[str] | None = None
) -> dict[str, Sequence[str]]:
    """Show unseen outcomes; with `seen`, only those of Hob's own work outside it. Return the messages that wait.

    Each comes with its requests for approval.
    """
    session = local_key(body["session"]) if "session" in body else find_session(connection)
    found, elsewhere = fetch_earlier(connection, session)
    if seen is not None:
        found, elsewhere = [each for each in found if each.unasked and each.id not in seen], {}
    waiting: dict[str, Sequence[str]] = {}
    for earlier in found:
        if earlier.ended or not connection.is_answered(earlier.id):
            print(paint(earlier.announce(language, ended=True), "dim"), file=sys.stderr, flush=True)
            shown = _show_events(connection, connection.follow(earlier.id), body, language)
            waiting |= shown.waiting
        else:  # following it would delay the prompt until it ends
            going = f"{earlier.announce(language, ended=False)}; hob ask --resume {earlier.id}"
            print(paint(going, "dim"), file=sys.stderr, flush=True)
    if elsewhere:
        print(paint(announce_elsewhere(elsewhere, language), "dim"), file=sys.stderr, flush=True)
    return waiting


def _talk(connection: ChatConnection, body: dict[str, Any], waiting: dict[str, Sequence[str]], language: str) -> int:
    """Run the chat; `waiting` are messages whose turns wait for an answer, each with its requests for approval."""
    failed = False
    prompt = enable_line_editing() if sys.stdin.isatty() else ""
    draft, marks = InputDraft(), ""
    draft.language = language
    while True:
        try:
            text = input(prompt)
        except EOFError:
            if sys.stdin.isatty():
                print()
                return 0
            return int(failed)  # a script wants the status of the last answer
        except KeyboardInterrupt:
            print()
            continue
        name, _space, rest = text.strip().partition(" ")
        if name in LEAVE:
            return 0
        if name == ATTACH:
            attached = attach(draft, rest.strip(), language)
            marks += f"{attached.mark} " if attached.mark else ""
            print(paint(attached.problem or attached.mark, "dim"), file=sys.stderr, flush=True)
        elif name:
            text = _answer(text, list(waiting.values()))
            command = parse(text) is not None  # files wait for a message
            drafted = draft.whole(text if command else marks + text)
            marks = marks if command else ""
            sent = connection.send(body | {"message": drafted.message}, drafted.files)
            shown = _show_events(connection, sent, body, language)
            if name == "/help":
                print(paint(own_help(language), "dim"), file=sys.stderr, flush=True)
            failed = not shown.ok
            waiting.pop(shown.first, None)
            for id in sorted(waiting):
                if connection.is_answered(id):  # by this message, or by another client
                    del waiting[id]
                    shown = _show_events(connection, connection.follow(id), body, language)
                    failed = not shown.ok
                    waiting |= shown.waiting
            if still := [id for ids in waiting.values() for id in ids]:
                print(paint(_answer_hint(still, language), "dim"), file=sys.stderr, flush=True)
            waiting |= shown.waiting
            waiting |= _catch_up(connection, body, language, seen=waiting)


def _answer(text: str, waiting: Sequence[Sequence[str]]) -> str:
    """Turn a typed decision into an answer; a single question is addressed by its id, whatever its age."""
    word = text.strip().lower()
    decided = DECISIONS.get(word)
    if len(waiting) == 1 and len(waiting[0]) == 1 and decided is not None and decided[1] == "once":
        return f"{'approve' if decided[0] else 'deny'}:{waiting[0][0]}"
    return _WORDS.get(word, text) if waiting else text


def _answer_hint(ids: Sequence[str], language: str) -> str:
    return say("yes or no? {ways}", language, ways=", ".join(f"approve:{id} / deny:{id}" for id in ids))


def enable_line_editing() -> str:
    """Enable line editing and return the prompt."""
    import readline  # only an interactive chat needs it

    if not shows_colours(sys.stdout):
        readline.parse_and_bind("set enable-bracketed-paste off")
        return "> "
    readline.parse_and_bind("set enable-bracketed-paste on")
    # text between \001 and \002 has no width
    return "\001\033[36m\002> \001\033[0m\002"


def _show_events(
    connection: ChatConnection, events: Generator[ClientEvent, None, None], body: dict[str, Any], language: str
) -> "PlainRenderer":
    """Show a message's events until it ends or waits. Ctrl-C stops the turn, not the chat."""
    shown = PlainRenderer(language)
    stopping = False
    while True:
        try:
            with closing(events):
                for event in events:
                    shown.show(event)
                    if shown.paused or shown.asks:
                        break
            return shown
        except KeyboardInterrupt:
            if stopping:
                shown.say(say("no longer waiting; `hob ask --resume {id}` shows the answer", language, id=shown.id))
                return shown
            stopping = True
            shown.say(say("stopping; Ctrl-C again stops waiting", language))
            connection.stop(body)
            if not shown.id:
                return shown
            events = connection.follow(shown.id)
        except ConnectionLost:
            told = "Hob went away; your message is kept: `hob ask --resume {id}` waits for the answer"
            shown.say(say(told, language, id=shown.id))
            return shown


def show_ends(connection: ChatConnection, ids: Sequence[str], language: str) -> None:
    """Show how these messages end, as no client will show it later. Ctrl-C stops waiting."""
    for id in ids:
        shown = PlainRenderer(language)
        with suppress(ConnectionLost), closing(connection.follow(id)) as events:
            for event in events:
                if event.name in ("question", "result", "error"):
                    shown.show(event)
                if shown.asks:
                    break


class PlainRenderer:
    """Prints the events of one message."""

    def __init__(self, language: str) -> None:
        self._language = language
        self.id = ""
        self.first = ""
        """The message that started this message's turn."""
        self.ok = False
        self.paused = False
        """The message is kept, but its conversation is paused."""
        self.asks = False
        """The turn waits for an answer."""
        self._approvals: Sequence[str] = ()
        self._written = ""
        self._retracted = False
        self._noted: set[str] = set()
        self._output = LiveOutput()
        self._calls: list[RunningCall] = []

    @property
    def waiting(self) -> dict[str, Sequence[str]]:
        """The message whose turn waits for an answer, with its requests for approval; empty if there is none."""
        return {self.first: self._approvals} if self.asks else {}

    def show(self, event: ClientEvent) -> None:
        """Print what an event adds."""
        match event.name:
            case "accepted":
                self.id = event.data["id"]
            case "delta":
                self._answer(event.data["text"])
            case "retracted" if self._written:
                if not self._written.endswith("\n"):
                    self._write("\n")
                self._written, self._retracted = "", True
            case "progress":
                self._progress(event.data)
            case "message":
                self._show_message(event.data["message"])
            case "question":
                self._end_line()
                self._place(event.data)
                self.ok = self.asks = True
                show_question(event.data, self._language)
                self._approvals = event.data["approvals"]
                if self._approvals:
                    self.say(_answer_hint(self._approvals, self._language))
            case "result" | "error":
                self._end(event.data)

    def _progress(self, data: dict[str, Any]) -> None:
        match data.get("what"):
            case "tool":
                self._end_line()
                self._output.begin()
                self._calls.append(RunningCall(printable(data.get("name", "")), data.get("text", "")))
            case "tool_done":
                self._output.end()
                self._call_ended(printable(data.get("name", "")), data.get("text", ""))
            case "output":
                self._output.write(data["text"])
            case "remark":
                if not self._written:  # otherwise it waits for the end of the answer
                    self._note(data["text"])
            case what if data.get("text"):
                self.say(data["text"])
                self.paused = what == "paused"

    def _call_ended(self, name: str, status: str) -> None:
        """Print a call's outcome on a terminal; calls that need approval are shown by their question."""
        for call in [call for call in self._calls if call.name == name][:1]:
            self._calls.remove(call)
            if status != "asked" and sys.stderr.isatty():
                head, *_output = call.ended(status, width_of_screen(), self._language)
                self.say("".join(text for _style, text in head))

    def say(self, text: str) -> None:
        """Print a line that is not part of the answer."""
        self._end_line()
        print(paint(text, "dim"), file=sys.stderr, flush=True)

    def _end_line(self) -> None:
        if self._written and not self._written.endswith("\n"):
            self._write("\n")
        self._output.end()

    def _place(self, data: dict[str, Any]) -> None:
        self.id = data.get("id", self.id)
        self.first = data.get("merged_into", self.id)

    def _note(self, text: str) -> None:
        """Print a remark once."""
        if text not in self._noted:
            self._noted.add(text)
            self.say(text)

    def _show_message(self, sent: Mapping[str, Any]) -> None:
        """Print a message beside the answer once."""
        if sent["id"] not in self._noted:
            self._noted.add(sent["id"])
            self._end_line()
            print_lines(sent_lines(sent))

    def _end(self, data: dict[str, Any]) -> None:
        self._place(data)
        for sent in data.get("messages", ()):
            self._show_message(sent)
        reply = data.get("reply")
        self.ok = reply is not None
        if reply is not None and not self._written.rstrip("\n").endswith(reply.rstrip("\n")):
            # streamed before this chat followed it, by another client's turn, or a command's answer
            rest = reply[len(self._written) :] if self._written and reply.startswith(self._written) else reply
            self._answer(rest)
        if self._written and not self._written.endswith("\n"):
            self._write("\n")
        for note in data.get("notes", ()):
            self._note(note)
        if "notice" in data:
            self.say(data["notice"])
        elif "error" in data:
            print(paint(translated(text_of(data["error"]), self._language), "red"), file=sys.stderr, flush=True)
        elif reply is None:
            print(paint(f"({data['state']})", "dim"), file=sys.stderr, flush=True)

    def _answer(self, text: str) -> None:
        if self._retracted:  # announced only now, since an error might have followed instead
            self._retracted = False
            self.say(say(translatable("again:"), self._language))
        self._write(text)

    def _write(self, text: str) -> None:
        self._output.end()
        self._written += text
        sys.stdout.write(printable(text) if sys.stdout.isatty() else text)
        sys.stdout.flush()
