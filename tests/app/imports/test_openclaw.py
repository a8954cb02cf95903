"""What is taken over from OpenClaw."""

import json
from pathlib import Path

from hob.core.trust.labels import Label, Origin, Trust
from tests.app.imports import folders
from tests.app.imports.conftest import User, reasons, statuses


def test_files_become_files_of_the_workspace(user: User) -> None:
    folders.openclaw(user.home / ".openclaw")
    view = user.takes("openclaw")
    assert statuses(view, "file") == dict.fromkeys(
        (
            "AGENTS.md", "HEARTBEAT.md", "SOUL.md", "memory/2026-01-02.md", "skills/bake/SKILL.md",
            "skills/bake/scripts/oven.sh",
        ),
        "done",
    )  # fmt: skip
    assert (user.workspace / "SOUL.md").read_text() == "# Soul\n\nDry.\n"
    assert (user.workspace / "skills/bake/scripts/oven.sh").stat().st_mode & 0o777 == 0o600
    (kept,) = (user.state / "backups").glob("workspace-*/SOUL.md")
    assert "Character" in kept.read_text()


def test_imported_files_are_untrusted_until_accepted(user: User) -> None:
    folders.openclaw(user.home / ".openclaw")
    user.takes("openclaw")
    _, out, _ = user.hob("accept", "--json")
    accepted = {each["name"]: each["accepted"] for each in json.loads(out)["files"]}
    assert (accepted["AGENTS.md"], accepted["SOUL.md"], accepted["USER.md"]) == (False, False, True)


def test_new_home_does_not_accept_imported_files_either(user: User, monkeypatch: object) -> None:
    folders.openclaw(user.home / ".openclaw")
    user.state.mkdir()
    folders.write(user.state / "config.toml", "[workspace]\nseed = false\n")
    user.takes("openclaw")
    _, out, _ = user.hob("accept", "--json")
    assert not any(each["accepted"] for each in json.loads(out)["files"])


def test_conversations_become_history_with_times_calls_and_labels(user: User) -> None:
    folders.openclaw(user.home / ".openclaw")
    user.takes("openclaw")
    asked, called, given, told = user.history("openclaw:main/s-1")
    assert (asked.text, asked.at, asked.label) == (
        "What is in my notes?", folders.AT, Label(Origin.OWNER, Trust.UNTRUSTED),
    )  # fmt: skip
    assert (called.text, called.calls[0].name, called.calls[0].arguments) == ("I look.", "read", '{"path": "notes.md"}')
    assert (given.text, given.call, given.label) == ("Buy bread", "c1", Label(Origin.TOOL, Trust.UNTRUSTED))
    assert (told.text, told.at) == ("Buy bread, it says.", folders.AT + 3)
    (group,) = user.history("openclaw:main/s-0")
    assert group.label == Label(Origin.FILE, Trust.UNTRUSTED)


def test_conversations_are_listed_and_exported(user: User) -> None:
    folders.openclaw(user.home / ".openclaw")
    user.takes("openclaw")
    _, listed, _ = user.hob("sessions", "--json")
    titles = {each["session"]: each["title"] for each in json.loads(listed)["sessions"]}
    assert titles == {"openclaw:main/s-1": "Bread", "openclaw:main/s-0": "I am somebody in a group"}
    _, exported, _ = user.hob("export", "--all")
    assert "Buy bread, it says." in exported


def test_settings_are_mapped_to_hobs_own(user: User) -> None:
    folders.openclaw(user.home / ".openclaw")
    view = user.takes("openclaw")
    settings = (user.state / "config.toml").read_text()
    for line in (
        'name = "anthropic/claude-opus-5"', 'fallbacks = ["ollama/qwen3"]', 'thinking = "low"',
        'base_url = "http://127.0.0.1:9123/v1"', 'quick = "anthropic/claude-haiku-5"', 'dm_policy = "allowlist"',
        'allow = ["telegram:tg1", "telegram:12345", "whatsapp:+43 660 1234567"]',
    ):  # fmt: skip
        assert line in settings
    told = reasons(view, "not_taken")
    for words in ("mystery/one", "it would let everybody in", "gateway", "cron", "channels.telegram", ".env: OTHER"):
        assert words in told
    assert ".env: MINE_KEY" not in told
    assert user.hob("config", "check")[0] == 0


def test_settings_that_hob_has_under_its_own_name_are_named(user: User) -> None:
    given = {"browser": {"enabled": True}, "mcp": {"servers": {}}, "memory": {"backend": "builtin"}}
    folders.write(user.home / ".openclaw/openclaw.json", json.dumps(given))
    told = reasons(user.takes("openclaw"), "not_taken")
    for words in ("show` for browser.*", "`hob mcp add` connects a server", "show` for memory.*"):
        assert words in told


def test_keys_are_stored_as_secrets_and_never_shown(user: User) -> None:
    folders.openclaw(user.home / ".openclaw")
    looked = user.hob("import", "openclaw", "--dry-run")
    done = user.hob("import", "openclaw", "--yes")
    listed = user.hob("import", "openclaw", "--json")
    secrets = (folders.KEY, "mine-made-up", "123:SECRET", "gateway-secret")
    assert not [secret for secret in secrets if secret in str((looked, done, listed))]
    assert not [secret for secret in secrets if secret in (user.state / "config.toml").read_text()]
    assert (user.state / "secrets/model.providers.anthropic.api_key").read_text() == folders.KEY + "\n"
    assert (user.state / "secrets/model.providers.mine.api_key").read_text() == "mine-made-up\n"


def test_database_of_newer_releases_adds_no_duplicates(user: User) -> None:
    root = folders.openclaw(user.home / ".openclaw")
    later = folders.claw_message("m9", "user", folders.said("And milk?"), folders.AT + 60)
    folders.openclaw_database(root, "s-1", (*folders.CLAW_TALK, later, None))
    view = user.takes("openclaw")
    assert [entry.text for entry in user.history("openclaw:main/s-1")][-2:] == ["Buy bread, it says.", "And milk?"]
    assert view["messages"] == {"new": 6, "there": 4}
    (rows,) = (each for each in view["items"] if each["source"].endswith("sqlite: s-1"))
    assert "compressed" in str(rows["passed"])


def test_copied_folder_is_read_with_its_workspace(user: User, tmp_path: Path) -> None:
    root = folders.openclaw(tmp_path / "copy")
    folders.write(user.home / ".openclaw/workspace/SOUL.md", "of somebody else")
    user.takes("openclaw", str(root))
    assert (user.workspace / "SOUL.md").read_text() == "# Soul\n\nDry.\n"


def test_workspace_alone_is_imported(user: User, tmp_path: Path) -> None:
    folders.write(tmp_path / "clawd/AGENTS.md", "- be kind\n")
    view = user.takes("openclaw", str(tmp_path / "clawd"))
    assert statuses(view, "file") == {"AGENTS.md": "done"}


def test_workspace_outside_a_copied_folder_is_listed_and_not_imported(user: User, tmp_path: Path) -> None:
    folders.write(user.home / "private/AGENTS.md", "private\n")
    folders.write(tmp_path / "copy/openclaw.json", json.dumps({"agents": {"defaults": {"workspace": "~/private"}}}))
    view = user.takes("openclaw", str(tmp_path / "copy"))
    assert statuses(view, "file") == {}
    assert "lies outside" in reasons(view, "not_taken")


def test_workspaces_of_other_agents_are_listed(user: User) -> None:
    """Where an agent has no workspace configured, OpenClaw makes `workspace-AGENT`; it was passed over in silence."""
    root = folders.openclaw(user.home / ".openclaw")
    folders.write(root / "workspace-work" / "SOUL.md", "# Soul\n\nBusy.\n")
    told = reasons(user.takes("openclaw"), "not_taken")
    assert f"the workspace of the agent work: {root}/workspace-work" in told


def test_default_agent_has_a_workspace_of_its_own(user: User) -> None:
    root = user.home / ".openclaw"
    agents = [{"id": "home", "default": True, "workspace": str(root / "mine")}, {"id": "b", "workspace": "~/second"}]
    folders.write(root / "openclaw.json", json.dumps({"agents": {"list": agents}}))
    folders.write(root / "mine" / "SOUL.md", "# Soul\n\nMine.\n")
    told = reasons(user.takes("openclaw"), "not_taken")
    assert (user.workspace / "SOUL.md").read_text() == "# Soul\n\nMine.\n"
    assert "the workspace of the agent b: ~/second" in told
    assert "agent home" not in told
