"""Requests of commands such as `hob ask` to the daemon, and their output.

Commands use the daemon's socket; if no daemon runs, they open the home themselves.
"""

import os
import re
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hob.app.daemon.daemon_client import OPENING_SECONDS, error_of
from hob.app.daemon.unix_http import ConnectionLost, NotRunning, call, stream_again, stream_chat, text_of
from hob.app.home import socket_of
from hob.app.module_loading import without_garbage_collection
from hob.cli.conversation.questions import ApprovalPrompt, how_to_answer, own_terminal, show_question
from hob.cli.conversation.sent_messages import print_lines, sent_lines
from hob.cli.output import LiveOutput, paint, print_json, printable
from hob.cli.translating import _
from hob.core.errors import HomeInUse
from hob.core.translation.code_words import STATE_WORDS
from hob.core.values import dataclass
from hob.gateway.chat.inbound import ClientEvent

SUCCESSOR_SECONDS = 3.0
"""Seconds to wait for a lost daemon's successor before the command does the work itself."""
REJOIN_SECONDS = 60.0
FAILED, USAGE, TEMPORARY, INTERRUPTED = 1, 2, 75, 130
"""Exit statuses. 75 is EX_TEMPFAIL of sysexits.h: nothing is lost, and --resume continues."""
ENDED = frozenset({"done", "silent", "failed", "cancelled", "set_aside"})


@dataclass(frozen=True, slots=True)
class DaemonRequest:
    """A request that yields events, sent to the daemon or performed here if none runs."""

    there: Callable[[Path], Generator[ClientEvent, None, None]]
    here: Callable[[], Any]
    """Returns an `EventSource` of `hob.app.daemon.one_shot`, which most commands do not load."""


def sent(body: dict[str, Any]) -> DaemonRequest:
    """Return a request that sends a message and yields its events."""
    key = f"ask-{os.urandom(12).hex()}"
    return DaemonRequest(lambda path: stream_chat(path, body, key), lambda: _one_shot().send_message(body, key))


def resumed(id: str) -> DaemonRequest:
    """Return a request for the remaining events of an earlier message."""
    return DaemonRequest(lambda path: stream_again(path, id), lambda: _one_shot().resume_message(id))


def answered(id: str, *, allowed: bool, scope: str) -> DaemonRequest:
    """Return a request that answers an approval and yields the events of the turn that waited."""

    def there(path: Path) -> Generator[ClientEvent, None, None]:
        body = {"allowed": allowed, "scope": scope}
        settled = call(path, "POST", f"/approvals/{quote(id, safe='')}", body=body).body
        if "error" in settled:
            raise error_of(settled)
        yield ClientEvent("settled", settled)
        if settled["message"] is not None:
            yield from stream_again(path, settled["message"])

    return DaemonRequest(there, lambda: _one_shot().answer_approval(id, allowed=allowed, scope=scope))


def perform(home: Path, request: DaemonRequest, *, json: bool) -> int:
    """Perform a request and print its events; return the command's exit status."""
    notifier = EventPrinter(json)
    try:
        run_request(home, request, notifier)
    except ConnectionLost:
        say(
            _("Hob went away; your message is kept: `hob ask --resume {id}` waits for the answer", id=notifier.id)
            if notifier.id
            else _("Hob went away")
        )
    except KeyboardInterrupt:
        say(
            _("no longer waiting; `hob ask --resume {id}` shows the answer", id=notifier.id)
            if notifier.id
            else _("stopped")
        )
        return INTERRUPTED
    return notifier.status


def run_request(home: Path, request: DaemonRequest, notifier: "EventPrinter") -> None:
    """Perform a request to its end; questions are asked at the terminal, if there is one.

    Raises ConnectionLost if the daemon went away and was not replaced in time.
    """
    while True:
        deliver(home, request, notifier.show)
        view = notifier.take_question()
        if view is None:
            return
        with own_terminal() as terminal:
            following = None if terminal is None or notifier.json else _ask(terminal, view)
        if following is None:
            notifier.leave_open(view)
            return
        request = following


def _ask(terminal: ApprovalPrompt, view: Mapping[str, Any]) -> DaemonRequest | None:
    """Return the person's answer as a request; None if the question is left open."""
    if view["asked"]:
        first = view["asked"][0]
        decided = terminal.decide(first)
        return None if decided is None else answered(first["id"], allowed=decided[0], scope=decided[1])
    while True:
        line = terminal.read(_("Your answer (Ctrl-D leaves it open): "))
        if line is None:
            return None
        if line.strip():
            return sent({"message": line, "channel": "local", "session": view["session"]})


def deliver(home: Path, request: DaemonRequest, show: Callable[[ClientEvent], None]) -> None:
    """Call `show` for each event until the end or a question, through the daemon or by opening the home here.

    Raises ConnectionLost if the daemon went away and was not replaced in time.
    """
    path = socket_of(home)
    lost_at = give_up_at = taken_until = 0.0
    while True:
        try:
            try:
                with closing(request.there(path)) as events:
                    for event in events:
                        show(event)
                        if event.is_waiting:
                            break
            except NotRunning:
                if time.monotonic() < lost_at + SUCCESSOR_SECONDS:
                    raise ConnectionLost from None
                _deliver_here(request, show)
            return
        except (ConnectionLost, HomeInUse) as error:
            # the daemon was killed, is stopping or handed over; its successor knows the key
            now = time.monotonic()
            if isinstance(error, HomeInUse) and not lost_at:
                # an owner that is opening or handing over does not listen for a moment
                taken_until = taken_until or now + OPENING_SECONDS
                if now > taken_until:
                    raise
            elif not lost_at:
                lost_at, give_up_at = now, now + REJOIN_SECONDS
            if lost_at and now > give_up_at:
                raise ConnectionLost from error
            time.sleep(0.1)


def _deliver_here(request: DaemonRequest, show: Callable[[ClientEvent], None]) -> None:
    import asyncio  # a command with a daemon needs neither

    asyncio.run(_one_shot().one_shot(request.here(), show))


def _one_shot() -> Any:
    with without_garbage_collection():
        from hob.app.daemon import one_shot

        return one_shot


class EventPrinter:
    """Prints events; `status` is the command's exit status."""

    def __init__(self, json: bool) -> None:
        self.status = TEMPORARY
        self.id = ""
        self._session = ""
        self._question: Mapping[str, Any] | None = None
        self.json = json
        self._noted: set[str] = set()
        self._output = LiveOutput()

    def show(self, event: ClientEvent) -> None:
        """Print the answer to standard output, everything else to standard error."""
        match event.name:
            case "result" | "error":
                self._output.end()
                self.status = self._end(event.data)
            case "question":
                self._output.end()
                self.id, self._question = event.data["id"], event.data
                show_question(event.data)
            case "accepted":
                self.id, self._session = event.data["id"], printable(event.data["session"]).removeprefix("local:")
            case "settled":
                self.id = event.data["message"] or ""
                say(event.data["line"])
            case "message":
                self._show_message(event.data["message"])
            case "progress":
                self._progress(event.data)

    def _progress(self, data: Mapping[str, Any]) -> None:
        match data.get("what"):
            case "tool":
                self._output.begin()
            case "tool_done":
                self._output.end()
            case "output":
                self._output.write(data["text"])
            case "remark":
                self._note(data["text"])
            case "paused":
                say(
                    _(
                        "kept, but {session} is paused; `hob sessions resume {session}` continues it, then: {wait}",
                        session=self._session,
                        wait=f"hob ask --resume {self.id}",
                    )
                )
            case _ if data.get("text"):
                self._output.end()
                say(data["text"])

    def take_question(self) -> Mapping[str, Any] | None:
        """Return and clear the question that ended the events, if any."""
        question, self._question = self._question, None
        return question

    def leave_open(self, view: Mapping[str, Any]) -> None:
        """Say how the question can be answered later."""
        self.status = TEMPORARY
        if self.json:
            print_json(view)
        say(how_to_answer(view))

    def _note(self, text: str) -> None:
        """Print a remark once, with the command of a shell instead of that of a chat."""
        text = re.sub(r"`/memory (undo [^`]*)`", r"`hob memory \1`", text)
        if text not in self._noted:
            self._noted.add(text)
            say(paint(text, "dim", sys.stderr))

    def _show_message(self, sent: Mapping[str, Any]) -> None:
        """Print a message beside the answer once."""
        if not self.json and sent["id"] not in self._noted:
            self._noted.add(sent["id"])
            self._output.end()
            print_lines(sent_lines(sent))

    def _end(self, data: dict[str, Any]) -> int:
        for sent in data.get("messages", ()):
            self._show_message(sent)
        if self.json:
            print_json(data)
        elif data.get("reply") is not None:
            print(printable(data["reply"]) if sys.stdout.isatty() else data["reply"])
        elif "notice" in data:
            say(data["notice"])
        if not self.json:
            for note in data.get("notes", ()):
                self._note(note)
        if "error" in data:
            if not self.json:
                told = _(text_of(data["error"]))
                say(told if "state" in data else f"hob: {told}")
            return FAILED
        if data["state"] not in ENDED:
            say(
                _(
                    "{state}; wait for it with: hob ask --resume {id}",
                    state=_(STATE_WORDS.get(data["state"], data["state"])),
                    id=data["id"],
                )
            )
            return TEMPORARY
        return 0 if data["state"] != "cancelled" else FAILED


def say(text: str) -> None:
    """Print to standard error."""
    print(text, file=sys.stderr, flush=True)
