"""Record the home of a release for `test_releases.py`: `python -m tests.releases.record tests/releases/0.2`.

Run it with the release's own code and bubblewrap, before the release. It uses the daemon as users do, so that the home
contains what users have. A recorded folder is never rewritten.

`home.tar.xz` contains a user's whole folder: `.hob`, the workspace, a backup, and `known.json` with what the test needs
to know. It is recorded in `/tmp` under a name of fixed length, since Hob stores absolute paths.
"""

import asyncio
import json
import os
import shutil
import sqlite3
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from hob.testing.model_server import ModelServer
from tests.journeys.world import Daemon, World

PREFIX = "hob-"  # with mkdtemp's eight characters every path has one length
CONFIG = """\
[agent]
language = "en"
taint_turns = 3

[approvals]
seconds = 86400.0

[bus]
slots = 3

[logs]
level = "info"
"""


def call(tool: str, **arguments: Any) -> str:
    """Return the text that makes the model call the tool."""
    return f"CALL {tool} {json.dumps(arguments)}"


async def said(daemon: Daemon, text: str, session: str) -> dict[str, Any]:
    view: dict[str, Any] = (await daemon.post(text, session=session)).json()
    assert view["state"] in ("done", "parked"), view
    return view


async def live(world: World) -> dict[str, Any]:
    """Use Hob in every way that leaves data behind; return what the test needs to know."""
    known: dict[str, Any] = {}
    token = (await world.hob("token", "new", "anna", "--class", "member")).out.strip()
    async with world.serve() as daemon:
        await said(daemon, "hello", "main")
        await said(daemon, call("remember", text="The cat of the house is called Fitz."), "main")
        await said(daemon, call("load_tools", names=["notes"]), "main")
        await said(daemon, call("update_working_memory", content="The shed is painted by Friday."), "main")
        view = await said(daemon, call("write", path="kept.md", content="kept\n"), "files")
        known["written"] = view["id"]
        await said(daemon, call("write", path="undone.md", content="undone\n"), "files")
        undone = await daemon.client.post("/undo", json={"session": "api:files"})
        known["back"] = undone.json()["back"]
        view = await said(daemon, call("exec", command="echo made > made.txt"), "commands")
        assert view["state"] == "done", view
        known["commanded"] = view["id"]
        (world.work / "letter.txt").write_text("Dear owner, a letter.\n")
        await said(daemon, call("read", path="letter.txt"), "letters")
        await said(daemon, call("write", path="answer.md", content="an answer\n"), "letters")
        headers = {"authorization": f"Bearer {token}"}
        body = {"message": "I am Anna and my number is 5551234.", "session": "anna"}
        view = (await daemon.client.post("/chat", json=body, headers=headers)).json()
        known["anna"] = view["id"]
        await said(daemon, call("remember", text="Anna likes walnut cake."), "main")
        linked = await world.hob("people", "link", "telegram:5551234", "anna", "--name", "Anna")
        assert linked.status == 0, linked.err
        await said(daemon, call("read", path="letter.txt"), "parked")  # the next text comes from a stranger's letter
        parked = await said(daemon, call("write", path="../AGENTS.md", content="Be brief.\n"), "parked")
        assert parked["state"] == "parked", parked
        known["parked"], known["approval"] = parked["id"], parked["approvals"][0]
        question = await said(daemon, call("ask_user", question="Which colour?"), "asked")
        assert question["state"] == "parked", question
        known["asked"] = question["id"]
        backup = await world.hob("backup", str(world.root / "backup.db"))
        assert backup.status == 0, backup.err
        await said(daemon, "after the backup", "main")
        daemon.kill()
    return known


def clean(root: Path) -> None:
    """Remove files specific to this machine; what Hob cannot recreate stays."""
    with sqlite3.connect(root / "home" / "hob.db") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    for folder in (root / "home" / "tools" / "sandbox", root / "home" / "logs", *root.rglob(".git/hooks")):
        shutil.rmtree(folder)
    for file in (root / "stderr.log", *(root / "home").glob("hob.[!d]*"), *(root / "home").glob("hob.db-*")):
        file.unlink()


async def record(target: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir="/tmp") as root:
        async with ModelServer() as model:
            world = World(Path(root), model)
            world.home.mkdir()
            (world.home / "config.toml").write_text(CONFIG)
            known = {"root": root, **await live(world)}
        clean(world.root)
        (world.root / "known.json").write_text(json.dumps(known, indent=1, sort_keys=True))
        target.mkdir(parents=True)
        with tarfile.open(target / "home.tar.xz", "w:xz") as archive:
            archive.add(root, arcname=".")


if __name__ == "__main__":
    os.umask(0o077)
    asyncio.run(record(Path(sys.argv[1])))
