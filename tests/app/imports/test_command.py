"""`hob import`: what it changes, what it leaves, and how it ends."""

import itertools
import json
import os
from pathlib import Path

import pytest

from hob.app.home import own
from tests.app.imports import folders
from tests.app.imports.conftest import User, reasons, statuses


def listing(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file()}


def test_dry_run_counts_what_is_new_and_changes_nothing(user: User) -> None:
    folders.openclaw(user.home / ".openclaw")
    before = listing(user.home)
    view = user.imports("openclaw", "--dry-run", "--yes")
    assert (view["dry_run"], view["messages"], view["counts"]["new"]) == (True, {"new": 5, "there": 0}, 19)
    assert listing(user.home) == before
    assert user.imports("openclaw")["counts"] == view["counts"]
    assert listing(user.home) == before


def test_second_import_finds_everything_in_place(user: User) -> None:
    folders.openclaw(user.home / ".openclaw")
    user.takes("openclaw")
    settings = (user.state / "config.toml").read_bytes()
    again = user.takes("openclaw")
    assert {each["status"] for each in again["items"] if each["kind"] != "other"} == {"there"}
    assert again["messages"] == {"new": 0, "there": 5}
    assert (user.state / "config.toml").read_bytes() == settings
    assert user.imports("openclaw", "--dry-run")["messages"] == {"new": 0, "there": 5}


def test_newer_files_are_imported_and_local_changes_stay(user: User) -> None:
    root = folders.openclaw(user.home / ".openclaw")
    user.takes("openclaw")
    (user.workspace / "SOUL.md").write_text("mine\n")
    later = folders.claw_message("m9", "user", folders.said("And milk?"), folders.AT + 60)
    folders.write_lines(root / "agents/main/sessions/s-1.jsonl", (*folders.CLAW_TALK, later))
    folders.write(root / "workspace/memory/2026-01-03.md", "Milk.\n")
    view = user.takes("openclaw")
    assert view["messages"]["new"] == 1
    assert statuses(view, "file")["memory/2026-01-03.md"] == "done"
    assert statuses(view, "file")["SOUL.md"] == "conflict"
    assert (user.workspace / "SOUL.md").read_text() == "mine\n"


def test_existing_settings_are_not_overwritten(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    folders.openclaw(user.home / ".openclaw")
    own_settings = '[model]\nname = "ollama/mine"\n[admission]\nallow = ["telegram:1"]\n'
    folders.write(user.state / "config.toml", own_settings)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-key")
    view = user.takes("openclaw")
    told = reasons(view, "conflict")
    assert "model.name = anthropic/claude-opus-5: it is ollama/mine here; that stays" in told
    assert "model.providers.anthropic.api_key: there is another key" in told
    settings = (user.state / "config.toml").read_text()
    assert 'name = "ollama/mine"' in settings
    assert 'allow = ["telegram:1", "telegram:tg1", "telegram:12345", "whatsapp:+43 660 1234567"]' in settings


def test_changed_template_is_not_replaced(user: User) -> None:
    folders.write(user.workspace / "SOUL.md", "changed\n")
    folders.openclaw(user.home / ".openclaw")
    view = user.takes("openclaw")
    assert statuses(view, "file")["SOUL.md"] == "conflict"
    assert not list((user.state / "backups").glob("workspace-*/SOUL.md"))


@pytest.mark.parametrize("nth", range(6))
def test_import_stopped_between_any_two_files_can_be_resumed(
    user: User, nth: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders.openclaw(user.home / ".openclaw")
    link, links = os.link, itertools.count()

    def stop(source: Path, target: Path) -> None:
        if next(links) == nth:
            raise KeyboardInterrupt
        link(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", stop)
        with pytest.raises(SystemExit):
            user.hob("import", "openclaw", "--yes")
        capsys.readouterr()
    user.takes("openclaw")
    again = user.takes("openclaw")
    assert {each["status"] for each in again["items"] if each["kind"] != "other"} == {"there"}
    (kept,) = {each.read_bytes() for each in (user.state / "backups").glob("workspace-*/SOUL.md")}
    assert b"# Character" in kept


def test_dry_run_ends_with_the_command_that_imports(user: User, tmp_path: Path) -> None:
    root = folders.openclaw(tmp_path / "a copy")
    _, out, _ = user.hob("import", "openclaw", str(root), "--mine", "--dry-run")
    assert out.splitlines()[-1] == f"Nothing was changed. To take it over: hob import openclaw '{root}' --mine"
    assert "2 conversations, as history to read" in out


def test_untrusted_values_of_a_foreign_folder_are_listed_first(user: User, tmp_path: Path) -> None:
    root = folders.openclaw(tmp_path / "copy")
    for n in range(60):
        folders.write(root / f"workspace/memory/{n}\u200b.md", "x")
    config = {"channels": {"telegram": {"allowFrom": ["666"], "groups": {"-1": {}}}}}
    folders.write(root / "openclaw.json", json.dumps({**{f"part{n}": 1 for n in range(60)}, **config}))
    _, out, _ = user.hob("import", "openclaw", str(root), "--dry-run")
    told = [each for each in out.splitlines() if each.startswith("- ")]
    assert told[0].startswith("- channels.telegram.allowFrom, channels.telegram.groups: who may write is not taken")
    assert "'59\\u200b.md'" not in out
    assert "and 48 more: its name contains invisible characters" in out


def test_setting_is_shown_in_full_before_it_is_imported(user: User) -> None:
    ids = [str(10**9 + n) for n in range(60)]
    folders.write(user.home / ".openclaw/openclaw.json", json.dumps({"channels": {"telegram": {"allowFrom": ids}}}))
    assert "telegram:1000000059" in user.hob("import", "openclaw", "--dry-run")[1]


def test_leftovers_of_a_killed_import_do_not_block_the_next(user: User) -> None:
    folders.openclaw(user.home / ".openclaw")
    folders.write(user.workspace / ".HEARTBEAT.md.importing", "- lo")
    user.takes("openclaw")
    assert (user.workspace / "HEARTBEAT.md").read_text() == "- look at the mail\n"
    assert not list(user.workspace.rglob("*.importing"))


def test_import_without_a_name_lists_the_assistants_found(user: User) -> None:
    assert user.hob("import")[0] == 1
    folders.openclaw(user.home / ".openclaw")
    folders.nanobot(user.home / ".nanobot")
    status, out, _ = user.hob("import")
    assert status == 0
    assert "hob import openclaw" in out
    assert "hob import nanobot" in out
    _, listed, _ = user.hob("import", "--json")
    assert [each["assistant"] for each in json.loads(listed)["found"]] == ["openclaw", "nanobot"]


@pytest.mark.parametrize(
    ("arguments", "words", "ends"),
    [
        (["openclaw"], "there is no OpenClaw in", 1),
        (["clippy"], "it can from chatgpt, claude, kafclaw, nanobot, openclaw", 2),
        (["openclaw", "/nowhere/at/all"], "there is no folder", 1),
        (["openclaw", "."], "is not an OpenClaw folder", 1),
        (["nanobot", "{home}/file.tar"], "unpack it first", 1),
    ],
)
def test_wrong_usage_is_explained(
    user: User, arguments: list[str], words: str, ends: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders.write(user.home / "file.tar", "x")
    (user.home / "empty").mkdir()
    monkeypatch.chdir(user.home / "empty")
    status, _, err = user.hob("import", *(each.format(home=user.home) for each in arguments))
    assert (status, words in err) == (ends, True), err


def test_import_without_a_terminal_is_not_confirmed(user: User) -> None:
    folders.openclaw(user.home / ".openclaw")
    status, _, err = user.hob("import", "openclaw")
    assert status == 2
    assert "--yes" in err
    assert not user.workspace.exists()


def test_import_does_nothing_while_another_process_holds_the_home(user: User) -> None:
    folders.openclaw(user.home / ".openclaw")
    with own(user.state, "restore"):
        status, _, err = user.hob("import", "openclaw", "--yes")
    assert status == 1
    assert "is in use by hob restore" in err
    assert not user.workspace.exists()
    assert not (user.state / "config.toml").exists()


def test_import_is_in_the_audit_log(user: User) -> None:
    folders.openclaw(user.home / ".openclaw")
    user.takes("openclaw")
    assert "import" in user.hob("audit", "show")[1]
