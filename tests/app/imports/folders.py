"""Folders of other assistants, made up after their documentation."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import apsw

KEY = "sk-ant-" + "made-up-" * 5
AT = 1_760_000_000


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def write_lines(path: Path, entries: Iterable[Mapping[str, Any]]) -> None:
    write(path, "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in entries))


def claw_message(id: str, role: str, content: Any, at: float = AT, **more: Any) -> dict[str, Any]:
    """One entry of an OpenClaw transcript."""
    message = {"role": role, "content": content, "timestamp": int(at * 1000), **more}
    return {"type": "message", "id": id, "parentId": None, "timestamp": "2025-10-09T08:53:20.000Z", "message": message}


def said(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


CLAW_TALK = (
    {"type": "session", "version": 3, "id": "s-1", "timestamp": "2025-10-09T08:53:20.000Z", "cwd": "/home/x"},
    {"type": "model_change", "id": "m0", "provider": "anthropic", "modelId": "claude"},
    claw_message("m1", "user", said("What is in my notes?"), AT),
    claw_message(
        "m2", "assistant",
        [
            {"type": "thinking", "thinking": "I look."},
            {"type": "text", "text": "I look."},
            {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "notes.md"}},
        ],
        AT + 1,
    ),
    claw_message("m3", "toolResult", said("Buy bread"), AT + 2, toolCallId="c1", toolName="read", isError=False),
    claw_message("m4", "assistant", said("Buy bread, it says."), AT + 3),
    {"type": "compaction", "id": "m5", "summary": "Bread.", "firstKeptEntryId": "m4", "tokensBefore": 9},
)  # fmt: skip

CLAW_CONFIG = """{
  // how it was set up
  agents: { defaults: {
    workspace: "~/.openclaw/workspace",
    model: { primary: "anthropic/claude-opus-5", fallbacks: ["ollama/qwen3", "mystery/one"] },
    models: { "anthropic/claude-haiku-5": { alias: "quick" } },
    thinkingDefault: "low",
  } },
  models: { providers: {
    mine: { baseUrl: "http://127.0.0.1:9123/v1", apiKey: "${MINE_KEY}", api: "openai-completions", models: [] },
  } },
  channels: {
    telegram: { enabled: true, botToken: "123:SECRET", dmPolicy: "allowlist", allowFrom: ["tg1", 12345, "*"],
                groups: { "-100200": { requireMention: true } } },
    whatsapp: { dmPolicy: "open", allowFrom: ["+43 660 1234567"] },
  },
  gateway: { auth: { token: "gateway-secret" } },
  cron: { enabled: true },
}
"""


def openclaw(root: Path) -> Path:
    """A whole `~/.openclaw`."""
    write(root / "openclaw.json", CLAW_CONFIG)
    workspace = root / "workspace"
    write(workspace / "AGENTS.md", "# Rules\n\n- Be kind.\n")
    write(workspace / "SOUL.md", "# Soul\n\nDry.\n")
    write(workspace / "HEARTBEAT.md", "- look at the mail\n")
    write(workspace / "BOOTSTRAP.md", "Say hello.\n")
    write(workspace / "memory" / "2026-01-02.md", "Bread was bought.\n")
    write(workspace / "skills" / "bake" / "SKILL.md", "---\nname: bake\ndescription: Bakes.\n---\nBake.\n")
    write(workspace / "skills" / "bake" / "scripts" / "oven.sh", "echo hot\n")
    write(workspace / "pictures.txt", "none\n")
    sessions = root / "agents" / "main" / "sessions"
    row = {"sessionId": "s-1", "updatedAt": AT * 1000, "displayName": "Bread"}
    write(sessions / "sessions.json", json.dumps({"agent:main:main": row}))
    write_lines(sessions / "s-1.jsonl", CLAW_TALK)
    group = (CLAW_TALK[0], claw_message("g1", "user", said("I am somebody in a group"), AT + 9))
    write_lines(sessions / "s-0.jsonl.reset.2026-01-01T00-00-00.000Z", group)
    write(sessions / "s-9.jsonl.deleted.2026-01-01T00-00-00.000Z", "{}\n")
    profiles = {"anthropic:default": {"type": "api_key", "provider": "anthropic", "key": KEY}}
    write(root / "agents" / "main" / "agent" / "auth-profiles.json", json.dumps({"version": 1, "profiles": profiles}))
    (root / "credentials").mkdir()
    write(root / ".env", "MINE_KEY=mine-made-up\n# a comment\nexport OTHER='x'\n")
    return root


def openclaw_database(root: Path, session: str, entries: Iterable[Mapping[str, Any] | None]) -> None:
    """The transcripts as newer releases keep them; None is an entry that is stored compressed."""
    path = root / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(path))
    connection.execute(
        "CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, created_at INTEGER);"
        "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB)"
    )
    connection.execute("INSERT INTO session_windows VALUES (?, 'agent:main:main', ?)", (session, AT * 1000))
    rows = [(session, n, None if each is None else json.dumps(each)) for n, each in enumerate(entries)]
    connection.executemany("INSERT INTO transcript_events VALUES (?, ?, ?, NULL)", rows)
    connection.close()


NANO_TALK = (
    {"_type": "metadata", "key": "telegram:777", "created_at": "2026-03-08T14:53:54.118079", "metadata": {}},
    {"role": "user", "content": "How late is it?", "timestamp": "2026-03-08T14:53:56.457590"},
    {
        "role": "assistant", "content": None, "timestamp": "2026-03-08T14:53:56.457590",
        "tool_calls": [{"id": "call_1", "function": {"name": "exec", "arguments": '{"c": "date"}'}}],
    },
    {"role": "tool", "content": "14:53", "tool_call_id": "call_1", "name": "exec",
     "timestamp": "2026-03-08T14:53:56.457590"},
    {"role": "assistant", "content": "14:53.", "timestamp": "2026-03-08T14:53:56.457590"},
)  # fmt: skip
NANO_CONFIG = {
    "agents": {"defaults": {"model": "anthropic/claude-opus-5", "provider": "auto", "maxTokens": 8192}},
    "providers": {"openrouter": {"apiKey": "sk-or-" + "made-up-" * 5}, "anthropic": {"apiKey": ""}},
    "channels": {"telegram": {"enabled": True, "token": "123:SECRET", "allowFrom": ["777"]}, "sendProgress": True},
    "tools": {"exec": {"timeout": 60}},
}


def nanobot(root: Path) -> Path:
    """A whole `~/.nanobot`."""
    write(root / "config.json", json.dumps(NANO_CONFIG))
    workspace = root / "workspace"
    write(workspace / "SOUL.md", "# Soul\n\nA cat.\n")
    write(workspace / "memory" / "MEMORY.md", "# Long-term\n\n- bread\n")
    write(workspace / "memory" / "HISTORY.md", "[2026-03-08] bread\n")
    write(workspace / "skills" / "tea" / "SKILL.md", "Tea.\n")
    write_lines(workspace / "sessions" / "telegram_777.jsonl", NANO_TALK)
    return root


def nanobot_database(folder: Path, key: str, entries: Iterable[Mapping[str, Any]]) -> None:
    """The sessions as newer releases keep them."""
    folder.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(folder / "sessions.sqlite3"))
    connection.execute(
        "CREATE TABLE sessions (key TEXT PRIMARY KEY, title TEXT);"
        "CREATE TABLE messages (session_key TEXT, position INTEGER, record TEXT)"
    )
    connection.execute("INSERT INTO sessions VALUES (?, 'A title')", (key,))
    rows = [(key, n, json.dumps(each)) for n, each in enumerate(entries)]
    connection.executemany("INSERT INTO messages VALUES (?, ?, ?)", rows)
    connection.close()
