"""People and requests through the socket."""

from hob.core.trust.people import PairingRequest, SenderAddress
from tests.gateway.conftest import Machine


async def test_people_are_linked_listed_and_forgotten(hob: Machine) -> None:
    linked = await hob.unix.post("/people/link", json={"address": "telegram:7", "person": "anna", "name": "Anna"})
    anna = {"id": "anna", "name": "Anna", "class": "member", "addresses": ["telegram:7"]}
    assert linked.json() == anna
    assert (await hob.unix.get("/people")).json()["people"][1:] == [anna]
    assert (await hob.unix.post("/people/unlink", json={"address": "telegram:7"})).status_code == 200
    assert (await hob.unix.post("/people/unlink", json={"address": "telegram:7"})).status_code == 404
    await hob.unix.post("/people/forget", json={"person": "anna"})
    assert [person["id"] for person in (await hob.unix.get("/people")).json()["people"]] == ["owner"]


async def test_linked_person_is_stored(hob: Machine) -> None:
    await hob.unix.post("/people/link", json={"address": "telegram:1", "person": "owner"})
    (owner,) = await hob.app.store.people.persons()
    assert owner.addresses == (SenderAddress("telegram", "1"),)


async def test_pairing_code_approves_or_denies_a_sender(hob: Machine) -> None:
    registry = hob.app.api.people
    at = hob.app.api.clock.now().timestamp()
    for code, id in (("ABCDEFGH", "7"), ("HGFEDCBA", "8")):
        request = PairingRequest(code, SenderAddress("telegram", id), "Eve", at, at + 60)
        await hob.app.store.people.ask(request)
    await registry.load()
    waiting = (await hob.unix.get("/pairing")).json()["requests"]
    assert [(each["code"], each["address"]) for each in waiting] == [
        ("ABCDEFGH", "telegram:7"),
        ("HGFEDCBA", "telegram:8"),
    ]
    let_in = (await hob.unix.post("/pairing/approve", json={"code": "abcd-efgh", "name": "Eva"})).json()
    assert (let_in["id"], let_in["name"], let_in["addresses"]) == ("eva", "Eva", ["telegram:7"])
    denied = (await hob.unix.post("/pairing/deny", json={"code": "HGFEDCBA"})).json()
    assert denied["address"] == "telegram:8"
    assert (await hob.unix.get("/pairing")).json()["requests"] == []
    assert (await hob.unix.post("/pairing/deny", json={"code": "HGFEDCBA"})).status_code == 404


async def test_people_cannot_be_changed_over_tcp(hob: Machine) -> None:
    asked = await hob.tcp.post("/people/link", json={"address": "telegram:9", "person": "owner"})
    assert asked.status_code == 404
    assert (await hob.tcp.get("/people")).status_code == 404
