"""Webhooks with a real daemon that is killed in the middle."""

import contextlib
import hashlib
import hmac
import json

import pytest

from .test_boundaries import PLAIN
from .world import LOST, World

SECRET = "a-secret-of-the-tests-0123"
HOOKS = {"HOB_WEBHOOKS": f'{{ it = {{ secret = "{SECRET}" }} }}'}
BODY = json.dumps({"build": 7, "state": "failed"}).encode()
SIGNED = {
    "x-hob-signature": f"sha256={hmac.new(SECRET.encode(), BODY, hashlib.sha256).hexdigest()}",
    "content-type": "application/json",
    "authorization": "",
}


@pytest.mark.parametrize("boundary", PLAIN)
async def test_a_delivery_outlives_the_daemon_and_is_done_once(world: World, boundary: str) -> None:
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
async def test_a_webhook_is_tried_out_by_command(world: World, scheme: str) -> None:
    hooks = f'{{ it = {{ secret = "{SECRET}", scheme = "{scheme}" }} }}'
    async with world.serve(HOB_WEBHOOKS=hooks) as daemon:
        said = await world.hob("webhooks", "test", "it", HOB_WEBHOOKS=hooks)
        assert (said.status, said.out.partition(":")[0]) == (0, "accepted"), said.err
        (task,) = (await daemon.ask("/tasks", all=1))["tasks"]
        assert (await daemon.get(task["id"], wait=10))["state"] == "done"
        wrong = hooks.replace("0123", "9999")
        assert (await world.hob("webhooks", "test", "it", HOB_WEBHOOKS=wrong)).status == 2
        assert "signature is another one" in daemon.errors or "token is another one" in daemon.errors
