"""Outgoing webhooks."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from hob.app.composition import open_app
from hob.app.settings.sections import SECTIONS
from hob.config.loading import load_config
from hob.core.errors import ModelError, ModelFault, NotAllowed
from hob.core.ids import new_inbound_id, new_trace_id
from hob.core.messages import Address, Inbound, Sender
from hob.core.trust.labels import Label, Origin, Trust
from hob.testing.channel import MemoryChannel
from hob.testing.model import ScriptedModel
from tests.channels.receiving import SECRET, Receiver, receiving
from tests.gateway.conftest import Machine, machine
from tests.stand_ins import stand_ins


def told_to(receiver: Receiver, name: str = "desk", **settings: object) -> str:
    """Return the settings of a receiver on this machine."""
    given = {"url": receiver.url, "secret": SECRET, "allow_private": True, **settings}
    return f"{name} = {{ {', '.join(f'{key} = {json.dumps(value)}' for key, value in given.items())} }}"


def out(*receivers: str, **more: str) -> dict[str, str]:
    return {"HOB_WEBHOOKS_OUT": f"{{ {', '.join(receivers)} }}", "HOB_BUS_SEND_PAUSE_SECONDS": "0.01", **more}


async def say(hob: Machine, text: str, **more: object) -> dict[str, Any]:
    body: dict[str, Any] = (await hob.tcp.post("/chat", json={"message": text, **more})).json()
    return body


async def test_finished_turn_is_reported_without_message_text(tmp_path: Path) -> None:
    async with receiving() as receiver, machine(tmp_path, **out(told_to(receiver))) as hob:
        view = await say(hob, "the secret garden")
        (told,) = await receiver.until(1)
    assert told.proven
    assert told.json["type"] == "turn.done"
    assert told.json["id"] == told.id
    assert told.json["data"]["trace"] == view["trace_id"]
    assert told.json["data"]["state"] == "done"
    assert b"garden" not in told.body


async def test_message_text_is_sent_if_a_setting_allows_it(tmp_path: Path) -> None:
    async with receiving() as receiver, machine(tmp_path, **out(told_to(receiver, text=True))) as hob:
        view = await say(hob, "the secret garden")
        (told,) = await receiver.until(1)
    assert told.json["data"]["message"] == "the secret garden"
    assert told.json["data"]["reply"] == view["reply"]


async def test_failure_is_reported_with_its_reason(tmp_path: Path) -> None:
    broken = ModelError(ModelFault.BILLING, "because")
    async with receiving() as receiver, machine(tmp_path, broken, **out(told_to(receiver))) as hob:
        await say(hob, "hi")
        (told,) = await receiver.until(1)
    assert (told.json["type"], told.json["data"]["reason"]) == ("turn.failed", "billing")


async def test_receivers_get_their_chosen_events_in_order(tmp_path: Path) -> None:
    async with receiving("500 Oh", "500 Oh") as slow, receiving() as other:
        settings = out(told_to(slow), told_to(other, "other", events=["turn.failed"]))
        async with machine(tmp_path, "one", "two", ModelError(ModelFault.AUTH, "no"), **settings) as hob:
            traces = [(await say(hob, text))["trace_id"] for text in ("a", "b", "c")]
            told = await slow.until(5)
            await other.until(1)
    assert [each.json["data"]["trace"] for each in told] == [traces[0], traces[0], *traces]
    assert len({each.id for each in told[:3]}) == 1
    assert [each.json["type"] for each in other.told] == ["turn.failed"]


async def test_earlier_events_are_not_sent(tmp_path: Path) -> None:
    async with machine(tmp_path) as hob:
        await say(hob, "before")
    async with receiving() as receiver, machine(tmp_path, **out(told_to(receiver))) as hob:
        after = await say(hob, "after")
        (told,) = await receiver.until(1)
    assert told.json["data"]["trace"] == after["trace_id"]


async def test_added_receiver_does_not_get_events_pending_for_another(tmp_path: Path) -> None:
    async with receiving() as first, receiving() as second:
        async with machine(tmp_path, **out(told_to(first))) as hob:
            await say(hob, "one")
            await first.until(1)
            await hob.app.bus.delivery.drain(5)
            # as after a kill: the queued events are read again
            await hob.app.store.channel_state.put("webhook_out", "", {"cursor": "0"})
        async with machine(tmp_path, **out(told_to(first), told_to(second, "second"))) as hob:
            two = await say(hob, "two")
            await second.until(1)
            await first.until(2)
            await hob.app.bus.delivery.drain(5)
    assert [each.json["data"]["trace"] for each in second.told] == [two["trace_id"]]


async def test_receiver_disabled_for_a_while_does_not_get_missed_events(tmp_path: Path) -> None:
    async with receiving() as receiver:
        async with machine(tmp_path, **out(told_to(receiver))) as hob:
            await say(hob, "one")
            await receiver.until(1)
            await hob.app.bus.delivery.drain(5)
        async with machine(tmp_path, HOB_WEBHOOKS_OUT="{}") as hob:
            assert [each["name"] for each in (await hob.tcp.get("/status")).json()["followers"]] == [
                "memory",
                "subagents",
                "web_users",
            ]
            await say(hob, "meanwhile")
        async with machine(tmp_path, **out(told_to(receiver))) as hob:
            await say(hob, "two")
            told = await receiver.until(2)
    assert len({each.id for each in told}) == len(told) == 2


async def test_event_read_again_after_a_kill_is_sent_once(tmp_path: Path) -> None:
    async with receiving() as receiver:
        async with machine(tmp_path, **out(told_to(receiver))) as hob:
            await say(hob, "one")
            await receiver.until(1)
            await hob.app.bus.delivery.drain(5)
            # the queued events are on disk, the cursor is not
            await hob.app.store.channel_state.put("webhook_out", "", {"cursor": "0"})
        async with machine(tmp_path, **out(told_to(receiver))) as hob:
            await say(hob, "two")
            told = await receiver.until(2)
            await hob.app.bus.delivery.drain(5)
    assert len({each.id for each in told}) == len(told) == 2


async def test_dead_receiver_gets_nothing_until_retried_and_the_owner_is_told(tmp_path: Path) -> None:
    async with receiving("410 Gone") as receiver, machine(tmp_path, **out(told_to(receiver))) as hob:
        await say(hob, "hi")
        (told,) = await receiver.until(1)
        async with asyncio.timeout(10):
            while "webhook" not in [each.status for each in await hob.app.store.timeline.latest(9)]:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        (notice,) = [each for each in await hob.app.store.timeline.latest(9) if each.status == "webhook"]
        assert f"hob retry {told.id}" in notice.text
        (stuck,) = (await hob.unix.get("/status")).json()["stuck"]
        assert (stuck["id"], stuck["reason"]) == (told.id, "it answered 410")
        assert (await hob.unix.post(f"/retry/{told.id}")).status_code == 202
        again = await receiver.until(2)
        assert [each.id for each in again] == [told.id, told.id]
        receiver.answers.append("410 Gone")
        await say(hob, "hi again")
        await receiver.until(3)
        await say(hob, "and again")
        await receiver.until(4)
        told_of = [each for each in await hob.app.store.timeline.latest(99) if each.status == "webhook"]
        assert len(told_of) == 1  # the owner is told once a day


async def test_path_of_a_looping_event_grows(tmp_path: Path) -> None:
    async with receiving() as receiver, machine(tmp_path, **out(told_to(receiver))) as hob:
        await hob.app.api.accept(
            Inbound(
                new_inbound_id(), "k", Address("webhook", "it"), Sender("it"), "hi",
                Label(Origin.HOB, Trust.TRUSTED), new_trace_id(), hops=3, background=True,
            )
        )  # fmt: skip
        (told,) = await receiver.until(1)
        assert told.json["hops"] == 4


@asynccontextmanager
async def platform(home: Path, **environ: str) -> AsyncIterator[MemoryChannel]:
    channel = MemoryChannel()
    settings = {"HOB_MODEL_BASE_URL": "http://127.0.0.1:9/v1", "HOB_WORKSPACE_PATH": str(home / "w")}
    config = load_config(SECTIONS, home=home, environ=settings | environ)
    async with open_app(home, config, subsystems=stand_ins(ScriptedModel(), channels=(channel,))):
        yield channel


async def test_owner_notice_is_sent_as_an_alert(tmp_path: Path) -> None:
    async with receiving() as receiver, platform(tmp_path, **out(told_to(receiver, events=["alert"]))) as channel:
        stranger = Inbound(
            new_inbound_id(), "k", Address("memory", "c"), Sender("somebody"), "let me in",
            Label(Origin.STRANGER, Trust.UNTRUSTED), new_trace_id(),
        )  # fmt: skip
        with suppress(NotAllowed):
            await channel.receive(stranger)
        (told,) = await receiver.until(1)
    assert (told.json["type"], told.json["data"]) == ("alert", {"about": "pairing"})
