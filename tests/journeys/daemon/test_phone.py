"""The dashboard opened to a phone, and closed again: the real daemon, TLS, and the command."""

import ssl

import httpx2
import pytest

from tests.dashboard.scene import at_the_socket
from tests.journeys.world import World

HERE = "127.0.0.9"


def phone(world: World, url: str) -> httpx2.AsyncClient:
    """A phone that has installed Hob's authority and no other."""
    knows = ssl.create_default_context(cafile=str(world.home / "phone" / "hob-ca.crt"))
    return httpx2.AsyncClient(base_url=url, verify=knows)


async def test_phone_link_works_once_and_access_ends_when_closed(world: World) -> None:
    async with world.serve(HOB_DASHBOARD_PORT="0"), at_the_socket(world) as owner:
        assert (await owner.post("/dashboard/phone")).status_code == 404  # off by default
        set_to = "/settings"
        (await owner.post(set_to, json={"values": {"dashboard.phone": HERE}})).raise_for_status()
        made = (await owner.post("/dashboard/phone")).raise_for_status().json()
        assert {len(row) for row in made["qr"]} == {len(made["qr"])}
        code = made["url"].partition("#login=")[2]
        async with phone(world, made["address"]) as browser:
            assert (await browser.get("/")).headers["content-type"].startswith("text/html")
            got = await browser.get("/hob-ca.crt")
            assert (got.headers["content-type"], got.content) == (
                "application/x-x509-ca-cert", (world.home / "phone" / "hob-ca.crt").read_bytes(),
            )  # fmt: skip
            assert (await browser.get("/api/v1/tasks")).status_code == 401
            login = await browser.post("/api/v1/auth/login", json={"code": code})
            assert "secure" in login.headers["set-cookie"].lower()
            csrf = {"x-csrf-token": login.json()["csrf"]}
            assert (await browser.get("/api/v1/tasks", headers=csrf)).status_code == 200
            again = await browser.post("/api/v1/auth/login", json={"code": code})
            assert again.status_code == 401
            assert (await browser.get("/", headers={"host": "bank.example"})).status_code == 421
        (await owner.post(set_to, json={"values": {"dashboard.phone": ""}})).raise_for_status()
        async with phone(world, made["address"]) as browser:
            for _ in range(200):
                try:
                    await browser.get("/")
                except httpx2.ConnectError:
                    break
                except httpx2.ReadError:
                    continue  # it was let in by a listener that is just being closed
            else:
                pytest.fail("it is still open")


async def test_invalid_phone_address_is_reverted(world: World) -> None:
    async with world.serve(HOB_DASHBOARD_PORT="0"), at_the_socket(world) as owner:
        done = await world.hob("dashboard", "--phone", "--at", "8.8.8.8")
        assert (done.status, "gateway.tls_cert" in done.err) == (2, True)
        assert (await owner.get("/dashboard/phone")).json()["wanted"] == ""
        done = await world.hob("dashboard", "--phone", "--at", HERE)
        assert done.status == 0
        assert f"https://{HERE}:" in done.out
        assert "▀" in done.out
        assert "SHA-256" in done.out
