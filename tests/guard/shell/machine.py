"""A machine around the owner's Hob that detects access: files, keys, sockets, ports, processes left behind."""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

CANARY = "canary-7f3a9c-sings"
_KEYS = (".ssh/id_ed25519", ".ssh/id_rsa", ".aws/credentials", ".netrc", ".mozilla/firefox/logins.json", ".env")
_SYSTEM = ("passwd", "shadow", "group", "hosts", "crontab", "sudoers", "ld.so.preload")
_PORTS = (80, 443, 4444)


@dataclass(frozen=True, slots=True)
class Machine:
    """The home and its listeners. `host` is an unnamed address of this machine."""

    home: Path
    work: Path
    host: str
    listening: tuple[socket.socket, ...]

    def filled(self, text: str) -> str:
        """Fill the places of this machine into a text of the catalogue."""
        places = {
            "canary_file": self.home / "diary.txt",
            "canary_dir": self.home / "photos",
            "secret": self.home / ".ssh/id_ed25519",
            "socket": self.home / "bus.sock",
            "host": self.host,
        }
        for name, place in places.items():
            text = text.replace("{" + name + "}", str(place))
        return text

    def seen(self) -> dict[str, object]:
        """Return the state of everything that commands must not change."""
        own = [self.home / "diary.txt", *(self.home / "photos").iterdir(), *(self.home / key for key in _KEYS)]
        git = [self.work / ".git/config", *sorted((self.work / ".git/hooks").glob("*"))]
        files = [*own, *git, self.home / ".bashrc", *(Path("/etc", name) for name in _SYSTEM)]
        spools = (Path("/var/spool/cron"), Path("/var/spool/cron/crontabs"), Path("/var/spool/at"))
        return {
            **{str(path): path.read_bytes() if path.exists() else None for path in files},
            **{str(path): sorted(path.iterdir()) if path.is_dir() else None for path in spools},
            "links": [path for path in own if path.is_symlink()],
            "home": sorted(path.name for path in self.home.iterdir()),
            "name": os.uname().nodename,
        }

    def visited(self) -> bool:
        """Return whether anyone connected or wrote to the listeners."""
        return any(map(_visited, self.listening))


def _visited(listening: socket.socket) -> bool:
    with suppress(BlockingIOError):
        if listening.type is socket.SOCK_DGRAM:
            listening.recv(100)
        else:
            listening.accept()[0].close()
        return True
    return False


@contextmanager
def machine(home: Path, work: Path) -> Iterator[Machine]:
    """Put canaries in this home, and open listeners for the duration of the block."""
    for name in ("diary.txt", "photos/one.jpg", "photos/two.jpg", ".bashrc", *_KEYS):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(CANARY)
    host = _address()
    with ExitStack() as stack:

        def listen(family: int, kind: int, where: object) -> Iterator[socket.socket]:
            listening = stack.enter_context(closing(socket.socket(family, kind)))
            with suppress(OSError):  # a port below 1024, or one in use
                listening.bind(where)  # type: ignore[arg-type]
                if kind == socket.SOCK_STREAM:
                    listening.listen()
                listening.setblocking(False)
                yield listening

        stream, datagrams = socket.SOCK_STREAM, socket.SOCK_DGRAM
        listeners = [
            *listen(socket.AF_UNIX, stream, str(home / "bus.sock")),
            *listen(socket.AF_UNIX, stream, "\0/tmp/.X11-unix/X77"),
            *listen(socket.AF_INET, datagrams, (host, 53)),
            *(each for port in _PORTS for each in listen(socket.AF_INET, stream, (host, port))),
        ]
        yield Machine(home, work, host, tuple(listeners))


def _address() -> str:
    """Return an address of this machine other than 127.0.0.1, if any, without sending anything."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as asking, suppress(OSError):
        asking.connect(("192.0.2.1", 9))
        return str(asking.getsockname()[0])
    return "127.0.0.1"


def left_running() -> list[str]:
    """Return processes started by this one that are still running."""
    found: list[str] = []
    waiting = [os.getpid()]
    while waiting:
        for task in Path(f"/proc/{waiting.pop()}/task").glob("*"):
            with suppress(OSError):
                children = [int(pid) for pid in (task / "children").read_text().split()]
                waiting += children
                found += [Path(f"/proc/{pid}/cmdline").read_bytes().decode().replace("\0", " ") for pid in children]
    return [
        line for line in found if line and "fork_server.py" not in line
    ]  # of the journeys, whose process this is too
