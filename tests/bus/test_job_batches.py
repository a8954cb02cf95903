"""Which waiting messages form one turn."""

from dataclasses import replace
from typing import Any

import pytest

from hob.bus.job_batches import next_batch
from hob.core.ids import SessionKey
from hob.core.messages import Inbound
from hob.core.turns import QueueMode
from hob.store.messages.inbox import Waiting
from hob.testing.channel import message


def merged(*inbounds: Inbound, mode: QueueMode = QueueMode.COLLECT) -> list[str]:
    rows = [Waiting(inbound, SessionKey("chat"), n, 0.0, False) for n, inbound in enumerate(inbounds)]
    return [row.inbound.text for row in next_batch(rows, mode, lambda channel: 1.0)]


@pytest.mark.parametrize("mode", [QueueMode.COLLECT, QueueMode.FOLLOWUP])
@pytest.mark.parametrize("other", [{"model": "m2"}, {"background": True}, {"origin": message("", chat="other").origin}])
def test_messages_merge_only_if_one_turn_and_one_reply_can_serve_them(other: dict[str, Any], mode: QueueMode) -> None:
    one, two, last = message("one"), message("two"), message("last")
    assert merged(one, two, last, mode=mode) == ["one", "two", "last"]
    assert merged(one, two, replace(message("different"), **other), last, mode=mode) == ["one", "two"]
