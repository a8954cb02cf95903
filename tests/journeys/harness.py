"""The daemon with a platform and tools, and a moment at which it dies: what the journeys start beside `hob serve`.

`harness.py PLATFORM [BOUNDARY[:NTH]] [POISON]`. PLATFORM is a directory: what was sent lies in it, what the tools did
stands in `never.log` and `again.log`, and `door` is the socket through which the platform's people write. To think
about a message that holds the text POISON is death.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hob.app.daemon.daemon import run_daemon, set_up_logging
from hob.app.home import own
from hob.app.settings.sections import read_config
from hob.core.errors import HobError
from hob.core.messages import Inbound
from hob.core.ports.accept import Accept
from hob.core.ports.guard import Admission, Admitted, Judge
from hob.core.ports.journal import Journal
from hob.core.ports.model import Model
from hob.core.ports.tools import Toolset
from hob.core.tools import Restart
from hob.core.trust.labels import SenderClass
from hob.testing.channel import SpoolChannel, message
from hob.testing.toolset import AllowAll, FunctionTools, tool

sys.path.append(str(Path(__file__).parents[2]))  # this is run by its path
from tests.journeys.crash import (
    Crash,
    CrashingAccept,
    CrashingChannel,
    CrashingJournal,
    CrashingModel,
    CrashingToolset,
    die,
)
from tests.stand_ins import stand_ins


class Platform(SpoolChannel):
    """A spool with a door: `{"key", "chat", "text"}` a line comes in, and each line is answered once it is accepted.

    The text `BREAK` is a defect of the channel itself.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._door = directory / "door"

    @asynccontextmanager
    async def _run(self, accept: Accept) -> AsyncIterator[None]:
        async def come_in(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            async for line in reader:
                sent = json.loads(line)
                if sent["text"] == "BREAK":
                    broken.set()
                    break
                inbound = message(sent["text"], key=sent["key"], channel=self.name, chat=sent["chat"])
                try:
                    accepted = await accept(inbound)
                except HobError as error:
                    told = {"error": str(error)}
                else:
                    told = {"id": accepted.id}
                writer.write(json.dumps(told).encode() + b"\n")
            writer.close()

        async def break_down() -> None:
            await broken.wait()
            raise RuntimeError("a defect of the channel")

        broken = asyncio.Event()
        self._door.unlink(missing_ok=True)
        async with asyncio.TaskGroup() as group, await asyncio.start_unix_server(come_in, self._door):
            defect = group.create_task(break_down())
            yield
            defect.cancel()


def tools_of(platform: Path) -> FunctionTools:
    """Tools whose effects can be counted, and one that is poison."""

    def noting(log: str, *, seconds: float = 0.0) -> Any:
        async def note(arguments: Mapping[str, Any]) -> str:
            with (platform / log).open("a") as out:
                out.write(f"{arguments['mark']}\n")
            await asyncio.sleep(seconds)
            return f"did {arguments['mark']}"

        return note

    async def poison(_: Mapping[str, Any]) -> str:
        if not (platform / "antidote").exists():
            die()
        return "nothing"

    return FunctionTools(
        tool("never", noting("never.log")),
        tool("again", noting("again.log"), restart=Restart.AGAIN),
        tool("slow", noting("slow.log", seconds=1.0)),
        tool("poison", poison, restart=Restart.AGAIN),
    )


class OwnerEverywhere:
    """Implements `Admission`: every channel is the owner's own."""

    def admit(self, inbound: Inbound) -> Admitted:
        return Admitted(replace(inbound.sender, cls=SenderClass.OWNER), classification="owner")


def guard_locks(home: Path, event: str, arguments: tuple[Any, ...]) -> None:
    """Only SQLite opens the files of the database while Hob runs: closing any other descriptor drops its locks."""
    if event != "open" or not isinstance(arguments[0], str | bytes):
        return
    file = Path(os.fsdecode(arguments[0]))
    if file.name in {"hob.db", "hob.db-wal", "hob.db-shm"} and file.parent == home:
        print(f"opened beside SQLite: {file}", file=sys.stderr, flush=True)
        os._exit(3)


def ready(home: Path, url: str) -> None:
    sys.addaudithook(partial(guard_locks, home))
    print(f"ready: {url}", flush=True)


def main(directory: str, boundary: str = "", poison: str = "") -> None:
    platform, crash = Path(directory), Crash.parse(boundary)
    platform.mkdir(exist_ok=True)
    subsystems = stand_ins(
        channels=(CrashingChannel(Platform(platform), crash),),
        wraps={
            Toolset: lambda _: CrashingToolset(tools_of(platform), crash),
            Judge: lambda _: AllowAll(),
            Admission: lambda _: OwnerEverywhere(),
            Model: lambda model: CrashingModel(model, crash, poison),
            Journal: lambda journal: CrashingJournal(journal, crash),
            Accept: lambda accept: CrashingAccept(accept, crash),
        },
    )
    config = read_config()
    set_up_logging()
    with own(config.home, "serve"):
        asyncio.run(run_daemon(config.home, config, subsystems=subsystems, on_ready=partial(ready, config.home)))


if __name__ == "__main__":
    main(*sys.argv[1:])
