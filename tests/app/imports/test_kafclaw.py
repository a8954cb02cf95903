"""What is taken over from KafClaw."""

import json
from pathlib import Path

import apsw

from tests.app.imports import folders
from tests.app.imports.conftest import User, reasons, statuses

TALK = (
    {"_type": "metadata", "created_at": "2026-03-08T14:00:00Z", "updated_at": "2026-03-08T14:00:00Z", "metadata": {}},
    {"role": "user", "content": "When does the bakery open?", "timestamp": "2026-03-08T14:53:50Z"},
    {"role": "assistant", "content": "At seven.", "timestamp": "2026-03-08T14:53:56Z"},
)


def kafclaw(home: Path) -> Path:
    """A whole `~/.kafclaw` with its workspace."""
    root = home / ".kafclaw"
    config = {
        "model": {"name": "anthropic/claude-sonnet-4-5", "maxTokens": 8192},
        "providers": {"anthropic": {"apiKey": "sk-ant-" + "made-up-" * 5}},
        "tools": {"exec": {"timeout": 60}},
    }
    folders.write(root / "config.json", json.dumps(config))
    folders.write_lines(root / "sessions" / "whatsapp_49170.jsonl", TALK)
    connection = apsw.Connection(str(root / "timeline.db"))
    connection.execute(
        "CREATE TABLE memory_chunks (id TEXT PRIMARY KEY, content TEXT, embedding BLOB, source TEXT DEFAULT 'user',"
        " tags TEXT DEFAULT '', version INTEGER DEFAULT 1, created_at DATETIME, updated_at DATETIME)"
    )
    rows = [
        ("00aa", "The owner is allergic to nuts.", "user", "2026-03-01 10:00:00"),
        ("00bb", "Q: hi A: hello", "conversation:whatsapp", "2026-03-01 11:00:00"),
    ]
    connection.executemany("INSERT INTO memory_chunks (id, content, source, created_at) VALUES (?, ?, ?, ?)", rows)
    connection.close()
    folders.write(home / "KafClaw-Workspace" / "SOUL.md", "# Soul\n\nA fox.\n")
    folders.write(home / "KafClaw-Workspace" / "memory" / "MEMORY.md", "# Long-term\n\n- bread\n")
    folders.write(home / "KafClaw-Workspace" / "tasks" / "t.md", "not taken\n")
    return root


def test_files_conversations_settings_and_memories_are_imported(user: User) -> None:
    kafclaw(user.home)
    view = user.takes("kafclaw")
    assert statuses(view, "file") == dict.fromkeys(("SOUL.md", "MEMORY.md"), "done")
    assert [entry.text for entry in user.history("kafclaw:whatsapp_49170")] == [
        "When does the bakery open?",
        "At seven.",
    ]
    (kept,) = user.history("kafclaw:remembered")
    assert (kept.text, kept.at) == ("The owner is allergic to nuts.", 1_772_359_200.0)
    assert 'name = "anthropic/claude-sonnet-4-5"' in (user.state / "config.toml").read_text()
    assert (user.state / "secrets/model.providers.anthropic.api_key").exists()
    assert "config.json: tools" in reasons(view, "not_taken")


def test_observations_and_working_notes_are_imported_and_other_memories_listed(user: User) -> None:
    connection = apsw.Connection(str(kafclaw(user.home) / "timeline.db"))
    chunks = [("00cc", "R", "tool:exec", "2026-03-01"), ("00dd", "S", "soul:SOUL.md", "2026-03-01")]
    connection.executemany("INSERT INTO memory_chunks (id, content, source, created_at) VALUES (?, ?, ?, ?)", chunks)
    connection.execute(
        "CREATE TABLE observations (id INTEGER PRIMARY KEY, session_id TEXT, content TEXT, priority TEXT,"
        " observed_at DATETIME, referenced_at DATETIME)"
    )
    connection.execute(
        "INSERT INTO observations VALUES (1, 's', 'The owner bakes.', 'high', '2026-03-01 10:00:00', '')"
    )
    connection.execute(
        "CREATE TABLE working_memory (resource_id TEXT, thread_id TEXT DEFAULT '', content TEXT, updated_at DATETIME,"
        " PRIMARY KEY (resource_id, thread_id))"
    )
    connection.execute("INSERT INTO working_memory VALUES ('49170', '', 'Plans a garden.', '2026-03-01 10:00:00')")
    connection.close()
    view = user.takes("kafclaw")
    for session, text in (("observations", "The owner bakes."), ("working-notes", "Plans a garden.")):
        (kept,) = user.history(f"kafclaw:{session}")
        assert (kept.text, kept.at, kept.label.trusted) == (text, 1_772_359_200.0, False)
    for left in (
        "conversation (1) : a copy of its sessions",
        "tool (1) : results",
        "soul (1) : a copy of its identity",
    ):
        assert f"timeline.db: memory_chunks, {left}" in reasons(view, "not_taken")
    assert user.takes("kafclaw")["messages"] == {"new": 0, "there": 5}


def test_workspace_beside_a_foreign_folder_is_not_imported(user: User) -> None:
    kafclaw(user.home / "stick")
    view = user.takes("kafclaw", str(user.home / "stick/.kafclaw"))
    assert statuses(view, "file") == {}
    assert view["messages"] == {"new": 3, "there": 0}


def test_damaged_database_affects_only_itself(user: User) -> None:
    root = kafclaw(user.home)
    (root / "timeline.db").write_bytes(b"no database")
    view = user.takes("kafclaw")
    assert view["messages"] == {"new": 2, "there": 0}
    assert "timeline.db" in reasons(view, "not_taken")
