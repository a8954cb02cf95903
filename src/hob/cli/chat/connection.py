"""The chat's connection to the daemon, or to one embedded in this process."""

import os
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hob.app.daemon.daemon_client import error_of
from hob.app.daemon.unix_http import ConnectionLost, NotRunning, call, stream_again, stream_chat, upload
from hob.app.home import socket_of
from hob.cli.chat.input.input_draft import one_line, read_file
from hob.cli.chat.sentences import say
from hob.cli.output import printable
from hob.cli.translating import model_line
from hob.core.content.media_types import HEAD_BYTES, detect_media_type
from hob.core.errors import HomeInUse
from hob.core.translation.language import translatable
from hob.gateway.chat.inbound import ClientEvent

REJOIN_SECONDS = 30.0
NO_MODEL = translatable("none; `hob onboard` connects one")
HEAR_SECONDS = 25.0


class ChatConnection:
    """A connection to the home's daemon; embeds one if none runs."""

    def __init__(self, home: Path, stack: ExitStack) -> None:
        self._home = home
        self._path = socket_of(home)
        self._stack = stack
        self._opening = threading.Lock()
        self.embedded = False
        """Whether this process runs the daemon."""

    def open(self) -> None:
        """Connect to a daemon, starting an embedded one if needed. Raises the errors of opening Hob."""
        with self._opening:  # several messages may find the daemon gone at the same time
            self._open()

    def _open(self) -> None:
        until = time.monotonic() + REJOIN_SECONDS
        while True:
            try:
                call(self._path, "GET", "/health", timeout=5)
                return
            except (NotRunning, ConnectionLost):
                pass
            try:
                from hob.app.daemon.embedded_daemon import embedded_daemon

                self._stack.enter_context(embedded_daemon(self._home))
                self.embedded = True
                return
            except HomeInUse:
                # another process was faster, or the former daemon is still closing
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def model(self, language: str) -> str:
        """Return the answering model and why it was chosen, or how to connect one."""
        with suppress(NotRunning, ConnectionLost):
            line = str(call(self._path, "GET", "/status", timeout=5).body.get("model", ""))
            return printable(model_line(line, language)) if line and line != "none" else say(NO_MODEL, language)
        return say("not known", language)

    def send(self, body: Mapping[str, Any], files: Sequence[Path] = ()) -> Generator[ClientEvent, None, None]:
        """Send a message with files and follow it. Raises OSError and HobError before anything is sent."""
        key = f"chat-{os.urandom(12).hex()}"
        whole = {**body, **self._with_files(files, body.get("quoted"))} if files else body
        return self._rejoining(lambda: stream_chat(self._path, whole, key))

    def _with_files(self, files: Sequence[Path], quoted: str | None) -> dict[str, Any]:
        """Return the fields for the files: text files as quoted data after `quoted`, others as uploads."""
        texts, handed_in = [quoted] if quoted else [], []
        for file in files:
            data = read_file(file)
            if detect_media_type(data[:HEAD_BYTES]).startswith("text/"):
                texts.append(f"{one_line(file.name)}:\n{data.decode('utf-8', 'replace')}")
            else:
                handed_in.append({"id": self._upload_attachment(data), "name": one_line(file.name)[:200]})
        return {"quoted": "\n\n".join(texts) or None, "attachments": handed_in}

    def _upload_attachment(self, data: bytes) -> str:
        taken = upload(self._path, "/attachments", data).body
        if "error" in taken:
            raise error_of(taken)
        return str(taken["id"])

    def follow(self, id: str) -> Generator[ClientEvent, None, None]:
        """Follow an earlier message until it ends."""
        return self._rejoining(lambda: stream_again(self._path, id))

    def is_answered(self, id: str) -> bool:
        """Return whether the message's turn no longer waits for an answer."""
        with suppress(NotRunning, ConnectionLost):
            return "question" not in call(self._path, "GET", f"/chat/{id}", timeout=10).body
        return False

    def poll_unread(self, session: str, after: float) -> Sequence[Mapping[str, Any]]:
        """Return outcomes of the session after this time that no client has fetched; waits a while for the first.

        Returns none after a pause if no daemon runs. Raises HobError if the daemon refuses.
        """
        query = {"channel": "local", "session": session, "after": str(after), "wait": str(HEAR_SECONDS)}
        try:
            answer = call(self._path, "GET", "/unread", query, timeout=HEAR_SECONDS + 30)
        except (NotRunning, ConnectionLost):
            time.sleep(1)
            return ()
        if "error" in answer.body:
            raise error_of(answer.body)
        found: Sequence[Mapping[str, Any]] = answer.body.get("messages", [])
        return found

    def stop(self, body: Mapping[str, Any]) -> None:
        """Stop the running turn of this conversation."""
        self.command("/stop", body)

    def command(self, text: str, body: Mapping[str, Any]) -> None:
        """Run a slash command and ignore its answer."""
        with suppress(NotRunning, ConnectionLost):  # nothing runs without a daemon
            call(self._path, "POST", "/chat", body={**body, "message": text}, timeout=5)

    def decide(self, id: str, *, allowed: bool, scope: str) -> str:
        """Answer a request for approval; return a line about the outcome. Raises HobError."""
        body = {"allowed": allowed, "scope": scope}
        settled = call(self._path, "POST", f"/approvals/{quote(id, safe='')}", body=body, timeout=30).body
        if "error" in settled:
            raise error_of(settled)
        return str(settled["line"])

    def look(self, route: str, **query: str) -> Mapping[str, Any]:
        """Fetch a view of the daemon's state; empty without a daemon."""
        with suppress(NotRunning, ConnectionLost):
            answer = call(self._path, "GET", route, query, timeout=10)
            return answer.body if answer.status == 200 else {}
        return {}

    def _rejoining(self, begin: Callable[[], Generator[ClientEvent, None, None]]) -> Generator[ClientEvent, None, None]:
        """Yield events; if the daemon goes away, continue with its successor, which knows the same key.

        A `retracted` event voids what was shown before. Raises ConnectionLost if no daemon comes in time.
        """
        until = 0.0
        while True:
            try:
                for event in begin():
                    until = 0.0
                    yield event
                return
            except (NotRunning, ConnectionLost):
                yield ClientEvent("retracted", {"lost": True})
                until = until or time.monotonic() + REJOIN_SECONDS
                if time.monotonic() > until:
                    raise ConnectionLost from None
                time.sleep(0.1)
                self.open()
