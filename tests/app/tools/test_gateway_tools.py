"""The tools `gateway` and `gateway_set` in a complete Hob."""

import json
from pathlib import Path
from typing import Any

from hob.core.models import ModelReply
from hob.testing.model import Line, calls
from tests.app.visiting import ANNA, ME, Visited, until, visited

OPEN = calls(("load_tools", '{"names": ["gateway"]}'))


def status() -> ModelReply:
    return calls(("gateway", '{"action": "status"}'))


def settings(query: str) -> ModelReply:
    return calls(("gateway", json.dumps({"action": "settings", "query": query})))


def change(name: str, value: str) -> ModelReply:
    return calls(("gateway_set", json.dumps({"name": name, "value": value})))


async def asked(home: Path, text: str, *script: Line, sender: str = ME, allow: bool = False, **environ: Any) -> Visited:
    """Return the outcome of a message; a question is allowed first if requested."""
    async with visited(home, OPEN, *script, "Done.", **environ) as hob:
        await hob.knows()
        await hob.comes(text, sender)
        await until(lambda: bool(hob.sent(sender)) or bool(hob.sent(ME)))
        if allow:
            assert "needs your approval" in hob.sent(ME)[0]
            await hob.comes("yes", ME)
            await until(lambda: "Done." in hob.sent(sender))
            kept = await hob.app.store.settings.load()
            assert kept == {"spending.daily": "5"}
        return hob


async def test_owner_sees_status_and_settings_and_no_secret(tmp_path: Path) -> None:
    script = (status(), settings("gateway."))
    hob = await asked(tmp_path, "how are you set?", *script, HOB_GATEWAY_AUTH_TOKEN="s3cret-s3cret-s3cret")
    assert '"version"' in hob.seen
    assert "gateway.wait_seconds = 300.0 (default)" in hob.seen
    assert "s3cret" not in hob.seen


async def test_setting_is_changed_to_the_owners_words_after_approval(tmp_path: Path) -> None:
    hob = await asked(tmp_path, "set my daily budget to 5 dollars", change("spending.daily", "5"), allow=True)
    assert "spending.daily is 5 from now on" in hob.seen


async def test_yes_in_a_chat_that_did_not_show_the_question_approves_nothing(tmp_path: Path) -> None:
    """A person's conversation spans their chats; in another one, a yes answers something else."""
    async with visited(tmp_path, OPEN, change("spending.daily", "5"), "Good.", "Done.") as hob:
        await hob.knows()
        await hob.app.api.people.link("signal:+491701234567", "owner", "")
        first = await hob.comes("set my daily budget to 5 dollars", ME)
        await until(lambda: bool(hob.sent(ME)))
        elsewhere = await hob.comes("yes", "+491701234567", channel="signal")
        assert first.session == elsewhere.session
        (question,) = await hob.app.store.approvals.open()
        assert await hob.app.store.settings.load() == {}
        await hob.comes(f"approve:{question.id}", ME)
        await until(lambda: "Done." in hob.sent(ME))
        assert await hob.app.store.settings.load() == {"spending.daily": "5"}


async def test_value_that_the_owner_did_not_write_is_not_set(tmp_path: Path) -> None:
    full = {"HOB_POLICY_MODE": "full", "HOB_POLICY_AUTONOMY": "autonomous"}
    async with visited(tmp_path, OPEN, change("spending.daily", "500"), "No.", **full) as hob:  # type: ignore[arg-type]
        await hob.knows()
        await hob.comes("set my daily budget to five", ME)
        await until(lambda: bool(hob.sent(ME)))
        assert hob.sent(ME) == ["No."], "nobody is asked for what a yes would not do"
        assert "did not write '500'" in hob.seen
        assert await hob.app.store.settings.load() == {}


async def test_policy_sections_are_never_changed(tmp_path: Path) -> None:
    async with visited(tmp_path, OPEN, change("approvals.seconds", "60"), "No.") as hob:
        await hob.knows()
        await hob.comes("let approvals stand for 60 seconds", ME)
        await until(lambda: bool(hob.sent(ME)))
        assert "a setting of the guard itself; you change it by hand only" in hob.seen


async def test_gateway_tool_is_for_the_owner_only(tmp_path: Path) -> None:
    hob = await asked(tmp_path, "how is Hob set?", settings(""), sender=ANNA)
    assert "spending.daily" not in hob.seen
