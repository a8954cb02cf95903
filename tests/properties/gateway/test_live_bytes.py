"""Whatever is sent to `/ws`: a clear error or an end, no traceback in the log, and Hob answers the next one."""

import asyncio
import json
import logging
import os
import socket
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from hob.gateway.live import connection
from hob.gateway.live.messages import MESSAGES
from hob.gateway.live.table import CLOSES, KINDS
from tests.gateway.conftest import TOKEN, machine
from tests.gateway.lively import BEARER, reached
from tests.properties.gateway.test_requests import JSON

SHAKE = (
    b"GET /ws HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
SHOWN = b"authorization: Bearer " + TOKEN.encode() + b"\r\n"


@dataclass
class Complaints(logging.Handler):
    """What the log holds that nobody should have to read."""

    found: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def __hash__(self) -> int:
        return id(self)

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR or record.exc_info:
            self.found.append(self.format(record))


@dataclass(frozen=True)
class Place:
    port: int
    complaints: Complaints

    def send(self, *pieces: bytes) -> bytes:
        """Say this, end, and hear everything up to the other side's end."""
        heard = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as wire:
            for piece in pieces:
                with suppress(ConnectionError):
                    wire.sendall(piece)
                    if piece.startswith(SHAKE) and piece.endswith(b"\r\n\r\n"):
                        heard += wire.recv(65_536)
            with suppress(OSError):
                wire.shutdown(socket.SHUT_WR)
            with suppress(ConnectionError):
                while more := wire.recv(65_536):
                    heard += more
        return heard

    def check(self) -> None:
        """Nothing was logged, and the next one is answered."""
        with connect(f"ws://127.0.0.1:{self.port}/ws", additional_headers=BEARER, proxy=None) as wire:
            assert json.loads(wire.recv(20))["type"] == "welcome"
        assert self.complaints.found == []


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """The real application in a thread, for as long as the tests here run."""
    with tempfile.TemporaryDirectory(prefix="hob") as home, pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "BURST", 100_000)
        complaints = Complaints()
        logging.getLogger().addHandler(complaints)
        begun, ended, port = threading.Event(), [], [0]

        async def live() -> None:
            over = asyncio.Event()
            ended.append((asyncio.get_running_loop(), over))
            async with machine(Path(home)) as hob, reached(hob, message_bytes=10_000) as at:
                port[0] = at.port
                begun.set()
                await over.wait()

        thread = threading.Thread(target=lambda: asyncio.run(live()))
        thread.start()
        try:
            assert begun.wait(20)
            yield Place(port[0], complaints)
        finally:
            loop, over = ended[0]
            loop.call_soon_threadsafe(over.set)
            thread.join()
            logging.getLogger().removeHandler(complaints)
            assert complaints.found == []


def frame(
    opcode: int, payload: bytes, *, fin: bool = True, rsv: int = 0, masked: bool = True, length: int = -1
) -> bytes:
    """A frame as a client sends it, or as one that does not know how (https://www.rfc-editor.org/rfc/rfc6455#section-5.2)."""
    told = len(payload) if length < 0 else length
    head = bytes([fin << 7 | rsv << 4 | opcode])
    if told < 126:
        head += bytes([masked << 7 | told])
    elif told < 1 << 16:
        head += bytes([masked << 7 | 126]) + struct.pack("!H", told)
    else:
        head += bytes([masked << 7 | 127]) + struct.pack("!Q", told)
    if not masked:
        return head + payload
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))


texts = st.sampled_from([b'{"type":"ping"}', b"\xff\xfe", b"", b"{", b'{"type":"subscribe","after":0}', b"x" * 12_000])
frames = st.builds(
    frame,
    st.sampled_from([0, 1, 1, 1, 2, 3, 8, 9, 10, 15]),
    texts | st.binary(max_size=200),
    fin=st.sampled_from([True, True, False]),
    rsv=st.sampled_from([0, 0, 0, 1, 4, 7]),
    masked=st.sampled_from([True, True, True, False]),
    length=st.sampled_from([-1, -1, -1, 0, 126, 70_000, 2**63 - 1, 2**64 - 1]),
)


@given(said=st.binary(max_size=400), known=st.booleans())
@example(said=frame(1, b"\xff"), known=True)
@example(said=frame(1, b"\xff"), known=False)
def test_any_bytes_after_the_handshake(place: Place, said: bytes, known: bool) -> None:
    heard = place.send(SHAKE + (SHOWN if known else b"") + b"\r\n", said)
    assert heard.startswith(b"HTTP/1.1 101")
    place.check()


@given(said=st.lists(frames, max_size=6), known=st.booleans(), together=st.booleans())
def test_any_frames(place: Place, said: list[bytes], known: bool, together: bool) -> None:
    shake = SHAKE + (SHOWN if known else b"") + b"\r\n"
    pieces = [b"".join(said)] if together else said
    place.send(shake, *pieces)
    place.check()


@given(lines=st.lists(st.binary(max_size=40), max_size=4), early=st.binary(max_size=40))
@example(lines=[b"x-\xff: 1"], early=b"")
@example(lines=[b"x: \xff\xfe"], early=b"")
@example(lines=[b"x" * 9000 + b": 1"], early=b"")
@example(lines=[b"x: " + b"1" * 9000], early=b"")
@example(lines=[b"x: 1"] * 200, early=b"")
@example(lines=[b"sec-websocket-version: 8"], early=b"")
@example(lines=[b"sec-websocket-key: x"], early=b"")
@example(lines=[b"origin: \xff"], early=b"")
@example(lines=[b"content-length: 5"], early=b"hello")
@example(lines=[b"transfer-encoding: chunked"], early=b"5\r\nhello\r\n0\r\n\r\n")
@example(lines=[b"authorization: Bearer \xff"], early=b"")
@example(lines=[b"sec-websocket-protocol: a, b"], early=b"\x81\x85")
def test_any_handshake(place: Place, lines: list[bytes], early: bytes) -> None:
    head = SHAKE + b"".join(line + b"\r\n" for line in lines) + b"\r\n"
    assert place.send(head[:-1], head[-1:] + early).startswith(b"HTTP/1.1 ")
    place.check()


@given(path=st.binary(max_size=30))
@example(path=b"\xff")
@example(path=b"?token=x")
@example(path=b"/../ws")
@example(path=b"%ff%00")
@example(path=b"x" * 9000)
def test_any_address(place: Place, path: bytes) -> None:
    place.send(SHAKE.replace(b"/ws", b"/ws" + path, 1) + SHOWN + b"\r\n")
    place.check()


objects = st.builds(
    lambda kind, ref, fields: {"type": kind, "ref": ref, **fields},
    st.sampled_from([kind.name for kind in KINDS]) | JSON,
    st.just("r") | JSON,
    st.dictionaries(st.sampled_from(["after", "id", "key", "message", "token", "kinds", "sessions"]) | st.text(), JSON),
)


@given(said=st.lists(objects | JSON, min_size=1, max_size=4))
def test_any_json_gets_a_documented_answer(place: Place, said: list[Any]) -> None:
    with connect(f"ws://127.0.0.1:{place.port}/ws", additional_headers=BEARER, proxy=None) as wire:
        wire.recv(20)
        for each in said:
            wire.send(json.dumps(each))
        wire.send('{"type": "ping", "ref": "the last"}')
        heard: dict[str, Any] = {}
        with suppress(ConnectionClosed):
            while heard.get("ref") != "the last":
                heard = json.loads(wire.recv(20))
                assert heard["type"] in MESSAGES
        assert heard.get("ref") == "the last" or wire.close_code in CLOSES
    place.check()
