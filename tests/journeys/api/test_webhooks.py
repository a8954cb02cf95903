"""Webhooks of a real daemon that is killed."""

import asyncio
import contextlib
import hashlib
import hmac
import json

import pytest

from tests.channels.receiving import HANG, Receiver, receiving
from tests.channels.receiving import SECRET as KEY
from tests.journeys.durability.test_boundaries import PLAIN
from tests.journeys.world import LOST, World, held_port, until

SECRET = "a-secret-of-the-tests-0123"
HOOKS = {"HOB_WEBHOOKS": f'{{ it = {{ secret = "{SECRET}" }} }}'}
BODY = json.dumps({"build": 7, "state": "failed"}).encode()
SIGNED = {
    "x-hob-signature": f"sha256={hmac.new(SECRET.encode(), BODY, hashlib.sha256).hexdigest()}",
    "content-type": "application/json",
    "authorization": "",
}


@pytest.mark.parametrize("boundary", PLAIN)
async def test_delivery_survives_the_daemon_and_is_processed_once(world: World, boundary: str) -> None:
    async with world.harness(boundary, **HOOKS) as daemon:
        with contextlib.suppress(*LOST):
            await daemon.client.post("/hooks/it", content=BODY, headers=SIGNED)
        assert await daemon.gone() == -9
    async with world.harness(**HOOKS) as daemon:
        (task,) = (await daemon.ask("/tasks", all=1))["tasks"]
        view = await daemon.get(task["id"], wait=5)
        assert view["state"] == "done", view
        again = await daemon.client.post("/hooks/it", content=BODY, headers=SIGNED)
        assert (again.status_code, again.json()) == (200, {"id": task["id"], "state": "duplicate"})
        assert len((await daemon.ask("/tasks", all=1))["tasks"]) == 1


@pytest.mark.parametrize("scheme", ["hob", "github", "stripe", "standard", "token"])
async def test_command_sends_a_sample_delivery(world: World, scheme: str) -> None:
    hooks = f'{{ it = {{ secret = "{SECRET}", scheme = "{scheme}" }} }}'
    async with world.serve(HOB_WEBHOOKS=hooks) as daemon:
        said = await world.hob("webhooks", "test", "it", HOB_WEBHOOKS=hooks)
        assert (said.status, said.out.partition(":")[0]) == (0, "accepted"), said.err
        (task,) = (await daemon.ask("/tasks", all=1))["tasks"]
        assert (await daemon.get(task["id"], wait=10))["state"] == "done"
        wrong = hooks.replace("0123", "9999")
        assert (await world.hob("webhooks", "test", "it", HOB_WEBHOOKS=wrong)).status == 2
        assert "signature is another one" in daemon.errors or "token is another one" in daemon.errors


async def test_unusable_webhook_is_reported_at_the_start(world: World) -> None:
    hooks = '{ door = { secret = "env:NO_SUCH_VARIABLE" } }'
    async with world.serve(HOB_WEBHOOKS=hooks) as daemon:
        await until(lambda: "webhook door takes nothing" in daemon.errors)


def notifier(receiver: Receiver, event: str = "turn.done") -> dict[str, str]:
    """Return the environment of a daemon that notifies this receiver."""
    to = f'{{ url = "{receiver.url}", secret = "{KEY}", allow_private = true, events = ["{event}"] }}'
    return {"HOB_WEBHOOKS_OUT": f"{{ operations = {to} }}", "HOB_BUS_SEND_PAUSE_SECONDS": "0.05"}


@pytest.mark.parametrize("boundary", ["finished", "outbox_written", "sending:1"])
async def test_pending_notification_survives_the_daemon(world: World, boundary: str) -> None:
    async with receiving() as receiver:
        async with world.harness(boundary, **notifier(receiver)) as daemon:
            with contextlib.suppress(*LOST):
                await daemon.post("hi", key="k")
            if not boundary.startswith("sending"):
                assert await daemon.gone() == -9
            else:
                await receiver.until(1)
                daemon.kill()
        async with world.harness(**notifier(receiver)) as daemon:
            view = (await daemon.post("hi", key="k")).json()
            told = await receiver.until(1)
            await daemon.post("again", key="k2")  # arrives after all other events
            async with asyncio.timeout(10):
                while told[-1].json["data"]["trace"] == view["trace_id"]:
                    told = await receiver.until(len(told) + 1)
        assert len({each.id for each in told if each.json["data"]["trace"] == view["trace_id"]}) == 1
        assert all(each.proven for each in told)


async def test_delivery_cut_by_a_kill_is_repeated_under_the_same_id(world: World) -> None:
    async with receiving(HANG) as receiver:
        async with world.serve(**notifier(receiver)) as daemon:
            await daemon.post("hi")
            await receiver.until(1)
            daemon.kill()
            await daemon.gone()
        async with world.serve(**notifier(receiver)):
            first, second = await receiver.until(2)
    assert (first.id, first.body) == (second.id, second.body)
    assert second.proven


async def test_approval_notification_has_no_details(world: World) -> None:
    async with receiving() as receiver, world.serve(**notifier(receiver, "approval.asked")) as daemon:
        view = (await daemon.post('CALL exec {"command": "rm -rf junk"}')).json()
        (told,) = await receiver.until(1)
    assert told.json["type"] == "approval.asked"
    assert told.json["data"]["approvals"] == view["approvals"]
    assert told.json["data"]["tool"] == "exec"
    assert b"junk" not in told.body


async def test_webhook_loop_back_to_its_sender_is_ignored(world: World) -> None:
    with held_port() as port:
        settings = {
            "HOB_GATEWAY_PORT": str(port),
            "HOB_WEBHOOKS": f'{{ it = {{ secret = "{KEY}", scheme = "standard" }} }}',
            **notifier(Receiver(f"http://127.0.0.1:{port}/hooks/it")),
        }
        async with world.serve(**settings) as daemon:
            await daemon.post("hi")
            await until(lambda: "came from Hob itself" in daemon.errors)
            assert len((await daemon.ask("/tasks", all=1))["tasks"]) == 1
            assert (await daemon.ask("/status"))["undeliverable"] == 0
