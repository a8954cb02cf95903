"""`hob memory`: arguments are interpreted as meant, or refused before Hob is asked."""

import asyncio
import math
import time
from pathlib import Path
from typing import Any

import pytest

from hob.cli.daemon_requests import EventPrinter
from hob.cli.data.memory import add, search
from hob.cli.data.memory_facts import _END, _parse_day, goal
from hob.cli.table import run
from hob.core.clock import SystemClock
from hob.core.errors import InvalidRequest
from hob.core.memory import Fact, FactChange, Scope
from hob.gateway.chat.inbound import ClientEvent
from hob.store.settings import StoreSettings
from hob.store.store import open_store


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_adding_an_empty_text_is_refused_and_adds_no_folder(text: str) -> None:
    with pytest.raises(InvalidRequest, match="the text is empty"):
        add(text)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"hours": -5.0}, "--hours must be 0 or more"),
        ({"hours": math.nan}, "--hours must be 0 or more"),
        ({"limit": 0}, "--limit must be 1 or more"),
    ],
)
def test_search_refuses_limits_that_mean_nothing(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidRequest, match=problem):
        search("bike", **options)


def test_empty_goal_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="the text is empty"):
        goal(" ")


@pytest.mark.parametrize("text", ["relative/nothere.md", "notes/2026/plan.txt"])
def test_path_of_a_missing_file_is_not_kept_as_a_note(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRequest, match="is not there"):
        add(text)


def test_as_of_means_the_end_of_the_day() -> None:
    begins = _parse_day("2026-11-23")
    assert _parse_day("2026-11-23", _END) == begins + 86_399
    assert _parse_day("2026-11-23T10:30", _END) == begins + 37_800
    assert _parse_day("", _END) == 0
    with pytest.raises(InvalidRequest, match="2026-13-23 is not a date"):
        _parse_day("2026-13-23", _END)


def test_facts_show_how_to_correct_and_undo_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / ".hob"
    monkeypatch.setenv("HOB_HOME", str(home))
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(tmp_path / "work"))
    home.mkdir(mode=0o700)
    asyncio.run(_learn(home, Fact(subject="owner", predicate="lives_in", object="Paris", at=time.time())))
    run(["memory", "facts"])
    shown = capsys.readouterr().out
    assert "`hob memory correct ID RIGHT` corrects a fact; `hob memory undo ID` undoes its last change." in shown
    assert f"[said {time.strftime('%Y-%m-%d')}" in shown
    id = shown.split()[0]
    assert run(["memory", "forget", id, "--yes"]) in (0, None)
    assert "backups that you keep elsewhere may hold it too" in capsys.readouterr().out
    asyncio.run(_learn(home, Fact(subject="owner", predicate="lives_in", object="Oslo", at=time.time())))
    run(["memory", "facts"])
    id = capsys.readouterr().out.split()[0]
    assert run(["memory", "correct", id, "Rome"]) in (0, None)
    assert "you live in Rome" in capsys.readouterr().out
    assert run(["memory", "correct", "abcdef", "Rome"]) == 1
    assert "`hob memory facts` lists them" in capsys.readouterr().err


async def _learn(home: Path, fact: Fact) -> None:
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        await store.facts.change(Scope("owner"), [lambda _: FactChange(added=(fact,))], "e_1")


def test_export_writes_a_new_file_and_overwrites_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home, file = tmp_path / ".hob", tmp_path / "items.jsonl"
    monkeypatch.setenv("HOB_HOME", str(home))
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(tmp_path / "work"))
    home.mkdir(mode=0o700)
    asyncio.run(_learn(home, Fact(subject="owner", predicate="lives_in", object="Paris", at=time.time())))
    assert run(["memory", "export"]) in (0, None)
    whole = capsys.readouterr().out
    assert run(["memory", "export", str(file)]) in (0, None)
    assert file.read_text() == whole
    assert file.stat().st_mode & 0o777 == 0o600
    assert "Items written: 1" in capsys.readouterr().out
    assert run(["memory", "export", str(file)]) == 2
    assert "File exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"words": "two"}', "line 2 is not a memory item (it has no 'text'); nothing was imported"),
        ("SQLite format 3", 'line 2 is not a JSON object like {"text": "…"}; nothing was imported.'),
        ("[1]", 'line 2 is not a JSON object like {"text": "…"}; nothing was imported.'),
        ('{"text": "x", "at": "3000-01-01"}', "line 2 is not a memory item (its time 3000-01-01 is in the future)"),
        ('{"text": "x", "at": {}}', "line 2 is not a memory item ({} is no number)"),
        ('{"text": "x", "origin": "me"}', "line 2 is not a memory item ('me' is none of owner, member"),
        ('{"text": "x", "evidence": 3}', "line 2 is not a memory item (a field has a value of another kind)"),
    ],
)
def test_import_of_an_invalid_line_says_that_nothing_was_imported(
    line: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / ".hob"))
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(tmp_path / "work"))
    (file := tmp_path / "items.jsonl").write_text(f'{{"text": "one"}}\n{line}\n')
    assert run(["memory", "import", str(file)]) == 2
    assert problem in capsys.readouterr().err
    run(["memory", "export"])
    assert capsys.readouterr().out == ""


def test_skipped_link_is_reported_as_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / ".hob"))
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(tmp_path / "work"))
    (tmp_path / "program").write_bytes(b"\1")
    (link := tmp_path / "notes").symlink_to("program")
    run(["memory", "add", str(link)])
    assert f"{link} is a link to {tmp_path / 'program'}." in capsys.readouterr().err


def test_embedder_whose_folder_is_not_there_has_failed_before_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / ".hob"))
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(tmp_path / "work"))
    monkeypatch.setenv("HOB_MODEL_EMBEDDING", str(tmp_path / "none"))
    run(["memory", "embedding"])
    told = capsys.readouterr().out
    assert "failed" in told.splitlines()[0]
    assert "there is no config.json; `hob config set model.embedding FOLDER` names another" in told


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["show", ""], "id is empty; `hob memory search` shows the ids"),
        (["show", "a/b"], "a/b is not an id; `hob memory search` shows the ids"),
        (["trust", ""], "name a source: document:PATH or conversation:ASSISTANT; `hob memory search` shows them"),
        (
            ["reset", ""],
            "name a layer: soul, conversation, tool, group, er1, observation, fact, document, working_memory, all",
        ),
        (["search", "--layer", "dreams"], "there is no layer dreams; layers: soul, conversation, tool,"),
        (["forget", "--layer", "all", "--yes"], "`hob memory reset all` empties memory; to forget, name one layer"),
        (["import", "BINARY"], "is not text; `hob import` takes over other assistants, `hob memory add` documents"),
        (["import", "."], "cannot be read: Is a directory"),
    ],
)
def test_wrong_argument_is_refused_with_the_next_step(
    arguments: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / ".hob"))
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(tmp_path / "work"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "BINARY").write_bytes(b"SQLite format 3\0\xff")
    assert run(["memory", *arguments]) != 0
    assert problem in capsys.readouterr().err


def test_search_in_all_layers_is_a_search_without_a_layer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / ".hob"))
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(tmp_path / "work"))
    assert run(["memory", "add", "Anna likes tea."]) == 0
    assert run(["memory", "search", "tea", "--layer", "all"]) == 0
    assert "Anna likes tea." in capsys.readouterr().out.splitlines()[-2]


def test_report_of_what_was_remembered_names_the_command_of_the_shell(capsys: pytest.CaptureFixture[str]) -> None:
    told = "Remembered of what you said: you like tea. Wrong? `/memory undo a1b2c3 d4e5f6`"
    EventPrinter(json=False).show(ClientEvent("progress", {"what": "remark", "text": told}))
    assert "Wrong? `hob memory undo a1b2c3 d4e5f6`" in capsys.readouterr().err
