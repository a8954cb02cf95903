"""GET /unread: what nobody has fetched yet."""

from hob.core.notices import Settled
from hob.gateway.inbound import owners_inbound
from tests.gateway.conftest import Machine


async def answered(hob: Machine, text: str, channel: str) -> str:
    """A message whose answer nobody looks at; its id."""
    with hob.app.bus.hub.subscribe() as notices:
        inbound = owners_inbound({"message": text, "channel": channel}, None, hob.app.api.clock)
        accepted = await hob.app.api.accept(inbound)
        while not isinstance(await anext(notices), Settled):
            pass
    return accepted.id


async def test_what_nobody_fetched_is_listed_where_it_waits(hob: Machine) -> None:
    first, second = await answered(hob, "one\nmore", "local"), await answered(hob, "two", "local")
    await answered(hob, "three", "api")
    listed = (await hob.unix.get("/unread", params={"channel": "local"})).json()["messages"]
    assert [(row["id"], row["session"], row["state"], row["title"]) for row in listed] == [
        (first, "local:main", "done", "one"),
        (second, "local:main", "done", "two"),
    ]


async def test_what_was_fetched_is_listed_no_more(hob: Machine) -> None:
    id = await answered(hob, "one", "api")
    assert len((await hob.tcp.get("/unread")).json()["messages"]) == 1
    await hob.tcp.get(f"/chat/{id}")
    assert (await hob.tcp.get("/unread")).json()["messages"] == []
