"""Conversations by the API, and by the command without a daemon."""

import io
import json
from pathlib import Path

import pytest

from hob.cli.table import run
from tests.gateway.conftest import Machine


async def said(hob: Machine, text: str, session: str = "main") -> str:
    view = (await hob.tcp.post("/chat", json={"message": text, "session": session, "wait": 20})).json()
    assert view["reply"] is not None, view
    return str(view["session"])


async def test_session_is_listed_shown_named_and_archived(hob: Machine) -> None:
    key = await said(hob, "first words")
    (found,) = (await hob.tcp.get("/sessions")).json()["sessions"]
    assert (found["session"], found["title"], found["entries"]) == (key, "first words", 2)
    shown = (await hob.tcp.get("/sessions/show", params={"session": key})).json()
    assert shown["last"][0]["text"] == "first words"
    changed = await hob.tcp.post("/sessions/change", json={"session": key, "title": "a  new\n name", "archived": True})
    assert changed.json()["title"] == "a new name"
    assert (await hob.tcp.get("/sessions")).json()["sessions"] == []
    (away,) = (await hob.tcp.get("/sessions", params={"archived": "true"})).json()["sessions"]
    assert away["title"] == "a new name"


async def test_messages_to_a_paused_session_wait_until_resumed(hob: Machine) -> None:
    key = await said(hob, "hi")
    await hob.tcp.post("/sessions/change", json={"session": key, "paused": True})
    waits = (await hob.tcp.post("/chat", json={"message": "later", "session": key, "wait": 0})).json()
    assert (await hob.tcp.get("/sessions/show", params={"session": key})).json()["waiting"] == 1
    assert (await hob.tcp.get("/status")).json()["oldest_waiting_seconds"] == 0  # on purpose
    await hob.tcp.post("/sessions/change", json={"session": key, "paused": False})
    done = (await hob.tcp.get(f"/chat/{waits['id']}", params={"wait": 20})).json()
    assert done["state"] == "done"


async def test_deleted_session_is_empty_and_can_be_restarted(hob: Machine) -> None:
    key = await said(hob, "canary-77 is my word")
    deleted = (await hob.tcp.post("/sessions/delete", json={"session": key})).json()
    assert deleted["erased"] > 3
    shown = (await hob.tcp.get("/sessions/show", params={"session": key})).json()
    assert (shown["title"], shown["last"], shown["entries"]) == ("", [], 0)
    assert (await hob.tcp.get("/sessions")).json()["sessions"] == []
    await said(hob, "anew", key)
    assert len((await hob.tcp.get("/sessions")).json()["sessions"]) == 1
    assert "canary-77" not in str(hob.model.requests[-1])


async def test_wrong_session_or_title_is_refused(hob: Machine) -> None:
    key = await said(hob, "hi")
    assert (await hob.tcp.get("/sessions/show", params={"session": "nowhere"})).status_code == 404
    assert (await hob.tcp.post("/sessions/delete", json={"session": "x:y"})).status_code == 404
    for title in ("", " \n", "x" * 201):
        assert (await hob.tcp.post("/sessions/change", json={"session": key, "title": title})).status_code == 400


def test_command_works_without_a_daemon_and_asks_before_it_deletes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path))
    monkeypatch.setenv("HOB_WORKSPACE_SEED", "false")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert run(["sessions"]) == 0
    assert "No conversations yet" in capsys.readouterr().out
    assert run(["sessions", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"sessions": []}
    assert run(["sessions", "show"]) == 1
    assert "hob sessions" in capsys.readouterr().err
    assert run(["sessions", "delete", "main"]) == 2
    assert "--yes" in capsys.readouterr().err
