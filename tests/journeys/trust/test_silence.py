"""No telemetry, no update check: a daemon only ever connects to its model's server."""

import json
import subprocess
import sys
from pathlib import Path

from tests.journeys.world import Daemon, World, open_world

# An audit hook sees socket and name operations of every Python module, including compiled ones of the standard library.
LISTENING = """
import json, sys

file = open(sys.argv.pop(1), "a", buffering=1)

def hook(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"):
        told = [each.decode() if isinstance(each, bytes) else each for each in arguments]
        told = [each for each in told if isinstance(each, (str, int, tuple, list)) or each is None]
        file.write(json.dumps([event, told], default=str) + "\\n")

sys.addaudithook(hook)
from hob.__main__ import main
main()
"""


class Silent(World):
    """A world whose daemons record whom they contact."""

    @property
    def spoken(self) -> Path:
        return self.root / "spoken.jsonl"

    async def life(self, daemon: Daemon) -> None:
        """Exercise a bit of everything."""
        assert (await daemon.post("hi")).json()["reply"] == "You said: hi"
        await daemon.post('CALL exec {"command": "echo hi"}')
        await daemon.post('CALL remember {"text": "tea"}')
        await daemon.ask("/status")
        for command in ("status", "usage", "sessions", "secrets reload", f"backup {self.root}/b.db"):
            assert (await self.hob(*command.split())).status == 0
        daemon.process.terminate()
        assert await daemon.gone() == 0


async def test_daemon_contacts_only_its_model_server() -> None:
    async with open_world() as opened:
        world = Silent(opened.root, opened.model)
        program = ["-c", LISTENING, str(world.spoken), "serve"]
        async with world._started(program, {}) as daemon:
            await world.life(daemon)
        spoken = [json.loads(line) for line in world.spoken.read_text().splitlines()]
    port = int(opened.model.url.split(":")[2].split("/")[0])
    places = [told for event, told in spoken if not event.startswith("socket.get")]
    names = {told[0] for event, told in spoken if event in ("socket.getaddrinfo", "socket.gethostbyname")}
    assert names <= {"127.0.0.1", "localhost", None}
    assert places, "the hook has heard nothing"
    assert [place for place in places if place != [["127.0.0.1", port]] and not _is_here(place)] == []


def _is_here(place: list[object]) -> bool:
    """Return whether it is a socket in the file system."""
    return len(place) == 1 and isinstance(place[0], str) and place[0].startswith("/")


def test_audit_hook_records_connections(tmp_path: Path) -> None:
    heard = "import socket; socket.socket().connect_ex(('127.0.0.1', 9))"
    code = LISTENING.replace("from hob.__main__ import main\nmain()", heard)
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "spoken")], check=True)
    assert "127.0.0.1" in (tmp_path / "spoken").read_text()
