"""What is said to Hob enters its memory, once, and can be taken up again from the beginning."""

import asyncio
from pathlib import Path

import pytest

from hob.app.memory.opening import FOLLOWER, GATHER_SECONDS
from hob.core.errors import NotFound
from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.trust.labels import OWNER_LABEL, Trust
from hob.gateway.imports import ImportRequest, PastMessage, take_over
from hob.gateway.lazy_ports import MemoryControls
from hob.gateway.memory import ForgetRequest
from tests.app.visiting import ANNA, ME, Visited, visited

OWNER = Scope("owner")


async def eventually(hob: Visited, wanted: list[str], person: str = "owner") -> None:
    """Wait until the memory holds exactly what was said."""
    async with asyncio.timeout(10):
        while await texts(hob, Scope(person)) != wanted:
            await asyncio.sleep(0.005)
            await hob.clock.advance(GATHER_SECONDS)


async def texts(hob: Visited, scope: Scope = OWNER) -> list[str]:
    return sorted(item.text for item in await hob.app.store.items.of(scope).select("i.layer = 'conversation'"))


async def test_statement_is_stored_once_across_restarts_and_rebuilds(tmp_path: Path) -> None:
    async with visited(tmp_path, "Noted.") as hob:
        await hob.knows()
        await hob.answer("My sister is called Anna.", ME)
        await eventually(hob, ["My sister is called Anna."])
        await hob.app.store.followers.forget(FOLLOWER)
    async with visited(tmp_path, "Nice.") as hob:
        await hob.answer("The club meets on Friday.", ANNA)
        await eventually(hob, ["The club meets on Friday."], "person:anna")
        assert await texts(hob) == ["My sister is called Anna."]


async def test_forgotten_message_does_not_come_back_from_a_fork(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        for text in ("My sister is called Anna.", "/new", "The safe is behind the clock."):
            await hob.answer(text, ME)
        await eventually(hob, ["My sister is called Anna.", "The safe is behind the clock."])
        await hob.answer("/fork", ME)
        (safe,) = [
            item for item in await hob.app.store.items.of(OWNER).select("i.role = 'user'") if "safe" in item.text
        ]
        await hob.app.api.port(MemoryControls).upkeep.forget(ForgetRequest(id=safe.id))
        await hob.app.store.followers.forget(FOLLOWER)
    async with visited(tmp_path) as hob:
        await hob.answer("The club meets on Friday.", ME)
        await eventually(hob, ["My sister is called Anna.", "The club meets on Friday."])


async def test_earlier_conversations_are_recalled_only_for_the_owner(tmp_path: Path) -> None:
    async with visited(tmp_path, "Noted.", "Sure.", "Sure.", "Sure.") as hob:
        await hob.knows()
        await hob.answer("My sister is called Anna and she lives in Oslo.", ME)
        await eventually(hob, ["My sister is called Anna and she lives in Oslo."])
        await hob.answer("/new", ME)
        await hob.answer("Where does my sister live?", ME)
        day = f"{hob.clock.now():%Y-%m-%d}"
        assert f"My sister is called Anna and she lives in Oslo. [{day}, conversation:telegram, t_" in hob.seen
        await hob.answer("Where does my sister live?", ANNA)
        assert "Oslo" not in hob.seen
        for values, shown in (({"memory.citations": "off"}, True), ({"memory.recall": False}, False)):
            await hob.app.operations.change_settings(values, "owner")
            await hob.answer("/new", ME)
            await hob.answer("Where does my sister live?", ME)
            assert ("she lives in Oslo." in hob.seen) is shown
            assert "conversation:telegram, t_" not in hob.seen


async def test_recall_keeps_the_prompt_prefix_and_is_deterministic(tmp_path: Path) -> None:
    """The provider's cache holds: each request begins with all of the last but its volatile block."""
    async with visited(tmp_path, *["Noted."] * 51, HOB_AGENT_COMPACT_ABOVE="400", HOB_AGENT_WINDOW="200") as hob:
        await hob.knows()
        await hob.answer("My sister Anna lives in Oslo and grows leeks.", ME)
        await eventually(hob, ["My sister Anna lives in Oslo and grows leeks."])
        await hob.answer("/new", ME)
        blocks, before = set(), ""
        for _ in range(50):
            await hob.clock.advance(10)  # no more than so many messages in a minute
            await hob.answer("What grows my sister?", ME)
            request = hob.model.requests[-1]
            *head, last = request.messages
            shown = request.system + "".join(message.text for message in head)
            assert shown.startswith(before)
            before = request.system + "".join(message.text for message in head)
            blocks.add(last.text.partition("Memories:")[2].partition("- ")[2].partition("\n")[0])
        assert blocks == {next(iter(blocks))}
        assert "leeks" in blocks.pop()


async def test_turn_records_which_memories_it_was_shown_and_why(tmp_path: Path) -> None:
    async with visited(tmp_path, "Noted.", "In Oslo.") as hob:
        await hob.knows()
        await hob.answer("My sister Anna lives in Oslo and grows leeks.", ME)
        await eventually(hob, ["My sister Anna lives in Oslo and grows leeks."])
        await hob.answer("/new", ME)
        await hob.answer("What grows my sister?", ME)
        memory = hob.app.api.port(MemoryControls)
        told = await memory.items.recalled()
        (shown,) = told["items"]
        assert "forgotten" not in shown
        assert shown["text"] == "My sister Anna lives in Oslo and grows leeks."
        assert sum(shown["parts"].values()) == pytest.approx(shown["score"], abs=0.001)
        assert "same words +0.50" in await hob.answer("/memory why", ME)
        await memory.upkeep.forget(ForgetRequest(id=shown["id"], preview=False))
        assert ["forgotten" in each for each in (await memory.items.recalled(told["turn"]))["items"]] == [True]
        with pytest.raises(NotFound, match="t_none"):
            await memory.items.recalled("t_none")


async def test_adjacent_messages_are_shown_in_their_order(tmp_path: Path) -> None:
    def item(text: str, n: int) -> MemoryItem:
        return MemoryItem(
            scope=OWNER, layer=Layer.CONVERSATION, source="conversation:local", text=text, label=OWNER_LABEL, at=5.0,
            session="local:then", position=n, kind="turn", speaker="Mara",
        )  # fmt: skip

    texts = ["The harbour walk begins at the lighthouse.", "Then the harbour walk goes past the old fish market."]
    async with visited(tmp_path, "Noted.") as hob:
        await hob.knows()
        await hob.app.store.items.add([item("An aunt has a harbour.", 90), *map(item, texts, (1, 2))])
        await hob.answer("Where does the harbour walk go past?", ME)
        assert hob.seen.index(texts[0]) < hob.seen.index(texts[1]) < hob.seen.index("An aunt has a harbour.")


async def test_imported_conversation_is_stored_once_and_never_expires(tmp_path: Path) -> None:
    def past(key: str, text: str, at: float) -> PastMessage:
        return PastMessage(key, "user", text, at, owner=True)

    first = past("1", "I am going to Porto in May with my sister Ines.", 1_600_000_000.0)
    later = past("2", "The flat in Porto has a blue door.", 4_000_000_000.0)  # a clock there was wrong
    async with visited(tmp_path, "Noted.") as hob:
        await take_over(hob.app.store, ImportRequest("chatgpt:6561-aa", (first,), "Trip"))
        await eventually(hob, [first.text])
        await take_over(hob.app.store, ImportRequest("chatgpt:6561-aa", (first, later), "Trip"))
        await eventually(hob, [first.text, later.text])
        (item, _) = sorted(await hob.app.store.items.of(OWNER).select("i.layer = 'conversation'"), key=lambda i: i.at)
        assert (item.source, item.label.trust, item.expires_at) == ("conversation:chatgpt", Trust.UNTRUSTED, None)
