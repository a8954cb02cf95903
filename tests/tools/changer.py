"""A process that changes files until it is killed: `python -m tests.tools.changer FOLDER write|undo`."""

import asyncio
import sys
from pathlib import Path

from hob.core.ids import TurnId
from tests.tools.calling import text_of
from tests.tools.keeping import kept_file_tools

SIZE = 200_000


async def write(top: Path) -> None:
    async with kept_file_tools(top) as files:
        for n in range(1_000_000):
            patch = "".join(f"*** Update File: {name}\n@@\n-{n}\n+{n + 1}\n" for name in "ab")
            await text_of(files.toolset, "apply_patch", turn=f"t_{n}", patch=f"*** Begin Patch\n{patch}*** End Patch")
            sys.stdout.write(f"{n}\n")
            sys.stdout.flush()


async def undo(top: Path) -> None:
    async with kept_file_tools(top) as files:
        sys.stdout.write("0\n")
        sys.stdout.flush()
        await files.undo.restore(TurnId("t"))
        await asyncio.sleep(3600)


if __name__ == "__main__":
    asyncio.run({"write": write, "undo": undo}[sys.argv[2]](Path(sys.argv[1])))
