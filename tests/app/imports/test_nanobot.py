"""What is taken over from nanobot."""

import json
from base64 import urlsafe_b64encode
from datetime import datetime

from hob.core.trust.labels import Origin
from tests.app.imports import folders
from tests.app.imports.conftest import User, reasons, statuses


def test_files_conversations_and_settings_are_imported(user: User) -> None:
    folders.nanobot(user.home / ".nanobot")
    view = user.takes("nanobot")
    files = statuses(view, "file")
    assert files == dict.fromkeys(("MEMORY.md", "SOUL.md", "memory/HISTORY.md", "skills/tea/SKILL.md"), "done")
    assert "- bread" in (user.workspace / "MEMORY.md").read_text()
    asked, called, given, told = user.history("nanobot:telegram:777")
    assert asked.at == datetime.fromisoformat("2026-03-08T14:53:56.457590").timestamp()
    assert (asked.label.origin, called.calls[0].id, given.call, told.text) == (
        Origin.OWNER, "call_1", "call_1", "14:53.",
    )  # fmt: skip
    settings = (user.state / "config.toml").read_text()
    assert 'name = "openrouter/anthropic/claude-opus-5"' in settings
    assert 'allow = ["telegram:777"]' in settings
    assert (user.state / "secrets/model.providers.openrouter.api_key").exists()
    for words in ("config.json: tools", "channels.send_progress", "agents.defaults.max_tokens", "channels.telegram"):
        assert words in reasons(view, "not_taken")


def test_database_of_newer_releases_is_read(user: User) -> None:
    root = folders.nanobot(user.home / ".nanobot")
    later = {"role": "user", "content": "Thanks!", "timestamp": "2026-03-09T08:00:00"}
    folders.nanobot_database(root / "workspace/sessions", "telegram:777", (*folders.NANO_TALK[1:], later))
    assert user.takes("nanobot")["messages"] == {"new": 5, "there": 4}
    assert user.history("nanobot:telegram:777")[-1].text == "Thanks!"


def test_messages_with_the_same_time_are_all_imported(user: User) -> None:
    root = folders.nanobot(user.home / ".nanobot")
    again = [{"role": role, "content": role, "timestamp": "2026-03-09T08:00:00"} for role in ("user", "assistant") * 3]
    folders.write_lines(root / "workspace/sessions/cli_direct.jsonl", again)
    user.takes("nanobot")
    assert [entry.text for entry in user.history("nanobot:cli:direct")] == ["user", "assistant"] * 3


def test_history_shortened_at_its_source_stays_complete_here(user: User) -> None:
    root = folders.nanobot(user.home / ".nanobot")
    user.takes("nanobot")
    later = {"role": "user", "content": "Later", "timestamp": "2026-03-10T08:00:00"}
    folders.write_lines(root / "workspace/sessions/telegram_777.jsonl", (folders.NANO_TALK[0], later))
    assert user.takes("nanobot")["messages"] == {"new": 1, "there": 0}
    assert len(user.history("nanobot:telegram:777")) == 5


def test_sessions_named_in_base64_below_a_workspace_id_are_imported(user: User) -> None:
    """0.3.5 keeps `sessions/<workspace-id>/<base64 of the key>.jsonl`; none was found, and nothing said so."""
    root = folders.nanobot(user.home / ".nanobot")
    own, other = "0f" * 16, "a1" * 16
    folders.write(root / "workspace/.nanobot/workspace-id", own + "\n")
    name = urlsafe_b64encode(b"telegram:777").decode().rstrip("=")
    folders.write_lines(root / f"sessions/{own}/{name}.jsonl", folders.NANO_TALK[1:])
    later = {"role": "user", "content": "Elsewhere", "timestamp": "2026-03-11T08:00:00"}
    folders.write_lines(root / f"sessions/{other}/{name}.jsonl", (later,))
    folders.write_lines(root / "sessions/archive/x.jsonl", (later,))
    (root / "workspace/sessions/telegram_777.jsonl").unlink()
    view = user.takes("nanobot")
    assert user.history("nanobot:telegram:777")[0].text == "How late is it?"
    assert [entry.text for entry in user.history("nanobot:a1a1a1a1/telegram:777")] == ["Elsewhere"]
    assert "sessions/archive" in reasons(view, "not_taken")


def test_earlier_sessions_beside_the_workspace_are_found(user: User) -> None:
    root = user.home / ".nanobot"
    folders.write(root / "config.json", json.dumps({"agents": {}}))
    folders.write_lines(root / "sessions/cli_direct.jsonl", folders.NANO_TALK[1:])
    assert user.takes("nanobot")["messages"]["new"] == 4
