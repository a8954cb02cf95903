"""The daemon and whoever started it: a real socket that hears what a service manager hears."""

import asyncio
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hob.app.daemon.service_notifier import ServiceNotifier
from hob.core.clock import SystemClock
from tests.journeys.world import World, open_world


class Manager:
    """What systemd is to a service: a datagram socket."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.settimeout(10)

    def receive(self) -> list[str]:
        """The lines of the next datagram."""
        return self.socket.recv(4096).decode().split("\n")

    def waiting(self) -> int:
        """How many datagrams have come that nobody has read; they are thrown away."""
        self.socket.setblocking(False)
        count = 0
        try:
            while self.socket.recv(4096):
                count += 1
        except BlockingIOError:
            return count
        finally:
            self.socket.settimeout(10)
        return count


@contextmanager
def managing(address: str) -> Iterator[Manager]:
    manager = Manager(address)
    try:
        yield manager
    finally:
        manager.socket.close()


async def told_of_a_life(world: World, manager: Manager, **environ: str) -> list[list[str]]:
    """All that is heard from the start to the end by SIGTERM, which comes after the third datagram."""
    async with world.serve(**environ) as daemon:
        first = 3 if "WATCHDOG_USEC" in environ else 1
        heard = [await asyncio.to_thread(manager.receive) for _ in range(first)]
        daemon.signal(signal.SIGTERM)
        while heard[-1][0] != "STOPPING=1":
            heard.append(await asyncio.to_thread(manager.receive))
        assert await daemon.gone() == 0
    return heard


async def test_service_manager_is_notified_of_ready_alive_and_stopping() -> None:
    async with open_world() as world:
        with managing(str(world.root / "notify")) as manager:
            environ = {"NOTIFY_SOCKET": str(world.root / "notify"), "WATCHDOG_USEC": "200000"}
            heard = await told_of_a_life(world, manager, **environ)
    said = [lines[0] for lines in heard]
    assert set(said[:-1]) == {"READY=1", "WATCHDOG=1"}
    assert said.count("WATCHDOG=1") >= 2
    assert next(lines[1] for lines in heard if lines[0] == "READY=1").startswith("STATUS=Ready: http://127.0.0.1:")


async def test_log_says_where_a_daemon_ended_by_the_watchdog_hung() -> None:
    async with open_world() as world:
        with managing(str(world.root / "notify")):
            environ = {"NOTIFY_SOCKET": str(world.root / "notify"), "WATCHDOG_USEC": "60000000"}
            async with world.serve(**environ) as daemon:
                daemon.signal(signal.SIGABRT)
                assert await daemon.gone() == -signal.SIGABRT
                assert "Fatal Python error: Aborted" in daemon.errors


async def test_daemon_without_a_watchdog_sends_no_heartbeat() -> None:
    async with open_world() as world:
        with managing(str(world.root / "notify")) as manager:
            heard = await told_of_a_life(world, manager, NOTIFY_SOCKET=str(world.root / "notify"))
    assert [lines[0] for lines in heard] == ["READY=1", "STOPPING=1"]


async def test_missing_service_manager_is_harmless(tmp_path: Path) -> None:
    async with open_world() as world, world.serve(NOTIFY_SOCKET=str(tmp_path / "nobody")) as daemon:
        assert (await daemon.ask("/health"))["status"] == "ok"
        assert "cannot be told READY=1" in daemon.errors


async def test_hung_event_loop_sends_no_heartbeat(tmp_path: Path) -> None:
    environ = {"NOTIFY_SOCKET": str(tmp_path / "n"), "WATCHDOG_USEC": "20000"}
    with managing(environ["NOTIFY_SOCKET"]) as manager:
        async with ServiceNotifier(environ).heartbeat(SystemClock()):
            assert await asyncio.to_thread(manager.receive) == ["WATCHDOG=1"]
            manager.waiting()
            time.sleep(0.2)  # noqa: ASYNC251 - the very thing: the loop hangs for ten times what is allowed
            assert manager.waiting() == 0
            assert await asyncio.to_thread(manager.receive) == ["WATCHDOG=1"]


@pytest.mark.parametrize(
    ("environ", "seconds"),
    [
        ({}, 0),
        ({"WATCHDOG_USEC": "1000000"}, 0),
        ({"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "1000000"}, 0.5),
        ({"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"}, 0),
        ({"NOTIFY_SOCKET": "vsock:2:1", "WATCHDOG_USEC": "1000000"}, 0),
        ({"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "soon"}, 0),
        ({"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "9" * 5000}, 0),
    ],
)
def test_heartbeat_interval_is_half_the_watchdog_time(environ: dict[str, str], seconds: float) -> None:
    assert ServiceNotifier(environ).beat_seconds == seconds


def test_abstract_socket_is_reached() -> None:
    name = f"hob-test-{time.monotonic_ns()}"
    with managing(f"\0{name}") as manager:
        ServiceNotifier({"NOTIFY_SOCKET": f"@{name}"}).send("READY=1", "STATUS=x")
        assert manager.receive() == ["READY=1", "STATUS=x"]
