"""A masked secret is in no file of the home: journal, timeline, outbox, database log."""

import base64
import json
from dataclasses import replace
from pathlib import Path

from hob.core.clock import SystemClock
from hob.core.ids import CallId
from hob.core.steps import ToolReceived
from hob.core.tools import ToolResult
from hob.guard.screening.masking.known_secrets import KnownSecrets
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.channel import message
from tests.guard.canaries import CANARY, leaks
from tests.samples import ASKED, event_of, finish_of
from tests.turns import make_turn

MASK = KnownSecrets({"model.api_key": CANARY})
SHOWN = json.dumps({"env": CANARY, "auth": "Basic " + base64.b64encode(f"me:{CANARY}".encode()).decode()})


async def live(home: Path, mask: KnownSecrets) -> list[str]:
    """Run a turn in which the secret occurs everywhere; return what an API would show."""
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        inbound = message(mask(f"my key is {CANARY}"))
        turn = await make_turn(store, inbound)
        received = ToolReceived(ToolResult(CallId("c"), mask(SHOWN)))
        await store.journal.append(turn.id, [ASKED, received])
        await store.timeline.add([replace(event_of(inbound), text=mask(SHOWN))])
        await store.journal.finish(finish_of(turn, mask(f"it is {CANARY}")))
        found = await store.results.find(inbound.id)
        events = await store.timeline.trace(inbound.trace)
        assert found is not None
        return [found.reply, *(event.text for event in events)]


async def test_text_masked_before_storage_is_found_nowhere(tmp_path: Path) -> None:
    views = await live(tmp_path, MASK)
    assert leaks(tmp_path, views) == []


async def test_canary_is_found_without_the_mask(tmp_path: Path) -> None:
    views = await live(tmp_path, KnownSecrets())
    assert {"hob.db"} < set(leaks(tmp_path, views))
