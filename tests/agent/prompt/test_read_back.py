"""The text behind a stub can be read back, and taints again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hob.agent.prompt.read_back import ReadBackTool
from hob.core.errors import ToolFailed
from hob.core.ids import CallId, SessionKey
from hob.core.models import TranscriptEntry
from hob.core.ports.tools import CallContext
from hob.core.states import TurnState
from hob.core.tools import ToolCall, ToolResult
from hob.core.trust.labels import Origin, Trust
from hob.core.turns import Finish
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from tests.agent.prompting import fetched, inbound, said, turn
from tests.turns import SESSION, make_turn


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as opened:
        yield opened


async def keep(store: Store, entries: tuple[TranscriptEntry, ...]) -> None:
    made = await make_turn(store, message(entries[0].text))
    await store.journal.finish(Finish(made.id, SESSION, TurnState.DONE, entries, (), ()))


async def read_back(store: Store, arguments: str, session: SessionKey = SESSION) -> ToolResult:
    context = CallContext(turn(inbound("what did it say?"), session=session))
    return await ReadBackTool(store.transcript).call(ToolCall(CallId("c9"), "read_back", arguments), context)


async def test_result_is_read_back_with_its_origin_and_untrusted(store: Store) -> None:
    await keep(store, fetched("t1", "q", "a page " * 100, "answer"))
    found = await read_back(store, '{"number": 3}')
    assert found.text == "[result of c1]\n" + "a page " * 100
    assert (found.label.origin, found.label.trust) == (Origin.WEB, Trust.UNTRUSTED)


async def test_round_is_read_back_with_its_calls_and_their_results(store: Store) -> None:
    await keep(store, fetched("t1", "q", "a page", "answer"))
    found = await read_back(store, '{"number": 2}')
    assert found.text == '[called fetch {"url":"https://example.org"}]\n\n[result of c1]\na page'


async def test_trusted_text_that_is_read_back_is_untrusted(store: Store) -> None:
    await keep(store, said("t1", "q", "a"))
    assert (await read_back(store, '{"number": 1}')).label.trust is Trust.UNTRUSTED


@pytest.mark.parametrize(
    "arguments", ["{}", '{"number": 99}', '{"number": -1}', '{"number": 1e400}', "[]", '{"number": 0}']
)
async def test_empty_reference_is_reported(store: Store, arguments: str) -> None:
    await keep(store, said("t1", "q", "a"))
    with pytest.raises(ToolFailed):
        await read_back(store, arguments)


async def test_read_back_is_limited_to_its_session(store: Store) -> None:
    await keep(store, said("t1", "q", "a"))
    with pytest.raises(ToolFailed):
        await read_back(store, '{"number": 1}', SessionKey("local:other"))


async def test_undone_and_reset_messages_cannot_be_read_back(store: Store) -> None:
    await keep(store, said("t1", "old", "a"))
    await store.sessions.reset(SESSION, "/new")
    await keep(store, said("t2", "undone", "a"))
    await store.transcript.hide_last_turn(SESSION)
    for number in (1, 3):
        with pytest.raises(ToolFailed):
            await read_back(store, f'{{"number": {number}}}')
