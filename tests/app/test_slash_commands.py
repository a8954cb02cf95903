"""Slash commands over the whole application: no model is asked, and each does what `/help` says."""

from pathlib import Path

import pytest

from hob.agent.commands.table import COMMANDS, parse
from hob.core.models import ModelReply, Usage
from hob.testing.model import Silence
from tests.gateway.conftest import Machine, hob, machine

__all__ = ["hob"]


async def say(hob: Machine, text: str, session: str | None = None) -> str:
    body = {"message": text, "wait": 20} | ({"session": session} if session else {})
    response = await hob.tcp.post("/chat", json=body)
    reply = response.json().get("reply")
    assert isinstance(reply, str), response.text
    return reply


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
async def test_every_command_answers_without_a_model(hob: Machine, command: str) -> None:
    assert await say(hob, f"/{command}")
    assert hob.model.requests == []


async def test_help_lists_every_command(hob: Machine) -> None:
    text = await say(hob, "/help")
    assert all(command.usage in text for command in COMMANDS)
    table = [line for line in text.splitlines() if line.startswith("  /")]
    assert [line for line in table if len(line) >= 80] == []
    assert "`approve:ID` or `deny:ID`" in text


@pytest.mark.parametrize("text", ["approve:a_nope", "approve:zzz", "/approve zzz", "deny: zzz"])
async def test_answer_without_a_question_is_not_sent_to_the_model(hob: Machine, text: str) -> None:
    typed = text.replace(":", " ").split()[-1]
    assert f"no question {typed};" in await say(hob, text)
    assert "Say which question" in await say(hob, "/deny")
    assert hob.model.requests == []


async def test_answers_are_available_in_german(tmp_path: Path) -> None:
    async with machine(tmp_path, HOB_AGENT_LANGUAGE="de") as hob:
        text = await say(hob, "/help")
        assert "ohne Modell beantwortet" in text
        assert "was Hob sich gemerkt hat" in text
        assert [line for line in text.splitlines() if line.startswith("  /") and len(line) >= 80] == []
        assert await say(hob, "/stop") == "Hier läuft gerade nichts."
        assert "(aus dem Cache)" in await say(hob, "/context")


async def test_mistyped_command_is_answered_with_the_nearest_and_not_sent_to_the_model(hob: Machine) -> None:
    assert "Did you mean /status?" in await say(hob, "/statsu")
    assert hob.model.requests == []


@pytest.mark.parametrize("text", ["/etc/hosts is a file", "/ new", " /new", "/2nd floor", "//"])
def test_text_that_only_looks_like_a_command_is_a_message(text: str) -> None:
    assert parse(text) is None


def test_command_names_ignore_case_and_arguments_may_have_lines() -> None:
    assert parse("/NEW") == ("new", "")
    assert parse("/session title Tea and\nscones") == ("session", "title Tea and\nscones")
    assert parse("/compact\nundo") == ("compact", "undo")


async def test_new_starts_over_and_keeps_the_history(hob: Machine) -> None:
    await say(hob, "I am Ada")
    await say(hob, "/new")
    await say(hob, "who am I?")
    assert all("Ada" not in message.text for message in hob.model.requests[-1].messages)
    assert "I am Ada" in (await hob.tcp.get("/export")).text


async def test_undo_removes_the_last_turn(hob: Machine) -> None:
    await say(hob, "I am Ada")
    await say(hob, "I like tea")
    assert "I like tea" in await say(hob, "/undo")
    await say(hob, "and?")
    texts = "\n".join(message.text for message in hob.model.requests[-1].messages)
    assert "I am Ada" in texts
    assert "I like tea" not in texts


async def test_undo_without_a_turn_says_so(hob: Machine) -> None:
    assert await say(hob, "/undo") == "Nothing to undo."


async def test_model_is_chosen_per_session_and_reset(hob: Machine) -> None:
    await say(hob, "/model gpt-5")
    await say(hob, "hi")
    await say(hob, "hi", session="other")
    await say(hob, "/model default")
    await say(hob, "hi")
    assert [request.model for request in hob.model.requests] == ["gpt-5", "scripted", "scripted"]


async def test_named_sessions_are_switched_listed_titled_and_archived(hob: Machine) -> None:
    await say(hob, "about the garden")
    assert "api:tea" in await say(hob, "/session switch tea")
    await say(hob, "about tea")
    assert all("garden" not in message.text for message in hob.model.requests[-1].messages)
    await say(hob, "/session title All about tea")
    listing = await say(hob, "/session list")
    assert "* api:tea" in listing
    assert "All about tea" in listing
    assert "about the garden" in listing
    await say(hob, "/session switch main")
    await say(hob, "/session archive tea")
    assert "api:tea" not in await say(hob, "/session list")
    await say(hob, "/session switch tea")
    assert "* api:tea" in await say(hob, "/session list")


async def test_chat_of_an_archived_session_returns_to_its_first_session(hob: Machine) -> None:
    await say(hob, "about the garden")
    await say(hob, "/session switch tea")
    await say(hob, "about tea")
    told = await say(hob, "/session archive")
    assert "api:tea is archived" in told
    assert "continues in the conversation api:main" in told
    await say(hob, "hi")
    assert any("garden" in message.text for message in hob.model.requests[-1].messages)


async def test_message_to_an_archived_conversation_restores_it(hob: Machine) -> None:
    await say(hob, "hi")
    assert "api:main is archived" in await say(hob, "/session archive")
    assert (await hob.tcp.get("/sessions")).json()["sessions"] == []
    await say(hob, "hi again")
    assert [each["session"] for each in (await hob.tcp.get("/sessions")).json()["sessions"]] == ["api:main"]


async def test_unknown_conversation_cannot_be_archived(hob: Machine) -> None:
    assert "There is no conversation nope" in await say(hob, "/session archive nope")
    shown = await hob.tcp.get("/sessions/show", params={"session": "api:nope"})
    assert shown.status_code == 404


async def test_conversation_is_named_by_its_key_as_well(hob: Machine) -> None:
    """The answer to `/session archive` names the key, and that made a conversation `api:api-tea`."""
    await say(hob, "/session switch tea")
    await say(hob, "/session switch main")
    assert "conversation api:tea." in await say(hob, "/session switch api:tea")
    assert "conversation api:main." in await say(hob, "/session switch api:main")


async def test_list_has_the_current_conversation_and_those_begun_by_name(hob: Machine) -> None:
    await say(hob, "about the garden", session="garden")
    listing = await say(hob, "/session list")
    assert "* api:main" in listing
    assert "  api:garden" in listing


async def test_default_session_is_the_one_the_terminal_switched_to(hob: Machine) -> None:
    for text in ("about main", "/session switch w2", "about w2"):
        await hob.tcp.post("/chat", json={"message": text, "channel": "local", "wait": 20})
    assert (await hob.tcp.get("/sessions/show")).json()["session"] == "local:w2"
    assert (await hob.tcp.get("/sessions/show", params={"session": "main"})).json()["session"] == "local:main"
    prompt = await hob.tcp.get("/prompt"), await hob.tcp.get("/prompt", params={"session": "w2"})
    assert prompt[0].json()["sections"] == prompt[1].json()["sections"]


async def test_paused_session_holds_messages_until_resumed(hob: Machine) -> None:
    await say(hob, "/pause")
    kept = (await hob.tcp.post("/chat", json={"message": "hi", "wait": 0})).json()
    assert kept["reply"] is None
    await say(hob, "/resume")
    ended = (await hob.tcp.get(f"/chat/{kept['id']}", params={"wait": 20})).json()
    assert ended["reply"].startswith("You said: hi")


async def test_cancel_ends_one_task_and_leaves_the_others(tmp_path: Path) -> None:
    async with machine(tmp_path, Silence(), HOB_BUS_QUEUE_MODE="followup") as hob:
        running = (await hob.tcp.post("/chat", json={"message": "one", "wait": 0})).json()
        waiting = (await hob.tcp.post("/chat", json={"message": "two", "wait": 0})).json()
        assert waiting["id"] in await say(hob, "/tasks")
        assert waiting["id"] in await say(hob, f"/cancel {waiting['id']}")
        assert (await hob.tcp.get(f"/chat/{waiting['id']}")).json()["state"] == "cancelled"
        assert (await hob.tcp.get(f"/chat/{running['id']}")).json()["state"] != "cancelled"
        assert await say(hob, "/cancel m_nothing") == "There is no open task m_nothing; `/tasks` lists them."
        await say(hob, "/stop")


async def test_usage_reports_unknown_prices(tmp_path: Path) -> None:
    async with machine(tmp_path, HOB_MODEL_PRICES="{ scripted = { input = 1.0 } }") as hob:
        await say(hob, "hi")
        text = await say(hob, "/usage")
        assert "1 calls of unknown price" in text
        assert all(f"  {scope}: " in text for scope in ("api:main", "24 h", "30 d", "scripted"))


async def test_usage_reports_dollars_for_known_prices(tmp_path: Path) -> None:
    prices = "{ scripted = { input = 1000000.0, output = 0.0 } }"
    async with machine(tmp_path, HOB_MODEL_PRICES=prices) as hob:
        await say(hob, "hi")
        text = await say(hob, "/usage")
        assert "unknown" not in text
        assert "$0.0000" not in text


async def test_usage_reports_the_cached_share(tmp_path: Path) -> None:
    replies = [ModelReply("Yes.", usage=Usage(400, 10, cached)) for cached in (300, 100)]
    async with machine(tmp_path, *replies) as hob:
        await say(hob, "hi")
        await say(hob, "hi again")
        assert "800 tokens in (400 cached, 50%), 20 out" in await say(hob, "/usage")


async def test_usage_reports_what_is_left_of_each_limit(tmp_path: Path) -> None:
    async with machine(tmp_path, HOB_SPENDING_DAILY="2", HOB_SPENDING_PER_SESSION="5") as hob:
        await say(hob, "hi")
        text = await say(hob, "/usage")
        assert "spending.daily: $0.00 of $2.00, $2.00 left" in text
        assert "spending.per_session: $0.00 of $5.00, $5.00 left" in text


async def test_queue_mode_is_chosen_by_session(hob: Machine) -> None:
    assert "collect" in await say(hob, "/queue collect")
    assert "collect" in await say(hob, "/queue")
    assert "steer" in await say(hob, "/queue nonsense")
    await say(hob, "/queue default")


async def test_impossible_compaction_says_why(hob: Machine) -> None:
    assert "nothing is old enough" in await say(hob, "/compact")
    assert await say(hob, "/compact undo") == "No summary to undo."


async def test_context_reports_bytes_and_tokens_by_section(hob: Machine) -> None:
    text = await say(hob, "/context")
    assert "identity" in text
    assert "(cached)" in text
