"""A home with some history: conversations, tools, an open approval, a failure, spending.

`python -m tests.dashboard.scene` runs such a daemon and prints a link that signs a browser in.
"""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from hob.core.clock import SystemClock
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, TraceId, new_event_id, new_span_id
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.model_server import Reply
from tests.journeys.world import Daemon, World, open_world

_PLAN = """Here is a plan for the weekend in **Potsdam**:

1. *Saturday*: Sanssouci park before ten, then the Dutch Quarter for lunch
2. *Sunday*: boat to Sacrow, back by bus

| what | when | price |
|---|---|---:|
| Sanssouci Palace | Sat 10:00 | 14 € |
| Boat to Sacrow | Sun 11:30 | 19 € |

```python
total = 14 + 19
print(f"{total} € for one")
```

The palace asks for a booked time slot; shall I look for one?"""
_BARS = "".join(
    f"<p>{name} <b style='width: {cost * 8}px'></b> {cost} €</p>" for name, cost in (("Palace", 14), ("Boat", 19))
)
_CHART = f"""<!doctype html><title>Costs of the weekend</title><style>body {{ font: 16px system-ui; margin: 2rem }}
b {{ display: inline-block; height: 1em; background: #7c3aed }}</style><h1>Costs of the weekend</h1>{_BARS}"""
TALK: tuple[tuple[str, str, tuple[Reply, ...]], ...] = (
    ("weekend", "Plan a weekend in Potsdam for me, please.", (Reply(_PLAN, reasoning="Two days, by train."),)),
    (
        "weekend",
        "Write it down in my notes.",
        (
            Reply(calls=(("write", '{"path": "potsdam.md", "content": "# Potsdam\\n\\n- Sanssouci\\n- Sacrow\\n"}'),)),
            Reply("It is in `potsdam.md` now."),
        ),
    ),
    (
        "main",
        "How much disk space is left here?",
        (
            Reply("I look.", calls=(("exec", '{"command": "df -h . | tail -1"}'), ("exec", '{"command": "date"}'))),
            Reply("About half of the disk is free, enough for years of notes."),
        ),
    ),
    (
        "weekend",
        "Show me the costs as a chart.",
        (
            Reply(calls=(("load_tools", '{"names": ["canvas"]}'),)),
            Reply(calls=(("canvas", json.dumps({"action": "present", "page": "costs", "html": _CHART})),)),
            Reply("The chart is in Canvas."),
        ),
    ),
    ("main", "And what is seven times eight?", (Reply("Seven times eight is 56."),)),
)
KEPT = ("Anna is allergic to nuts.", "The bins go out on Thursday evening.", "Potsdam trips start from Wannsee, by S7.")
DAY = 86_400.0


def facts(now: float) -> list[dict[str, Any]]:
    """Return facts in the format of `hob memory export`: some old, one changed last night, one uncertain."""
    night, old = now - 8 * 3600, now - 900 * DAY

    def fact(subject: str, predicate: str, what: str, said: str, at: float, **further: Any) -> dict[str, Any]:
        text = f"{subject} {predicate.replace('_', ' ')} {what}: \u201c{said}\u201d"
        item = {"text": text, "layer": "fact", "origin": "owner", "trust": "trusted", "at": at}
        told = {"subject": subject, "predicate": predicate, "object": what, "recorded_from": at, "state": "said"}
        return {**item, "fact": {**told, "valid_from": at, "confidence": 0.9, "change": text, **further}}

    long_ago, gone = old - 900 * DAY, {"recorded_to": night, "closed": "night"}
    return [
        fact("owner", "works_at", "Siemens", "I work at Siemens.", long_ago, valid_to=old),
        fact("owner", "works_at", "Bosch", "I have a new job at Bosch.", old),
        fact("owner", "lives_in", "Munich", "I live in Munich.", old),
        fact("owner", "lives_in", "Hamburg", "Back home in Hamburg!", now - 3 * DAY, state="asked"),
        fact("Anna", "lives_in", "Berlin", "Anna lives in Berlin.", old, **gone),
        fact(
            "Anna",
            "lives_in",
            "Berlin",
            "Anna lives in Berlin, still.",
            night,
            valid_from=old,
            valid_to=night,
            change="night",
        ),
        fact("Anna", "lives_in", "Potsdam", "Anna moved to Potsdam.", night, change="night"),
    ]


ASKED = ("main", "Clean up the old build folder.", Reply(calls=(("exec", '{"command": "rm -rf ."}'),)))


@asynccontextmanager
async def scene(world: World, *, asking: bool = True) -> AsyncIterator[tuple[Daemon, str]]:
    """Yield the daemon and the dashboard's address."""
    async with world.serve() as daemon:
        async with at_the_socket(world) as client:
            for text in KEPT:
                (await client.post("/memory/items", json={"text": text})).raise_for_status()
            lines = "\n".join(map(json.dumps, facts(time.time())))
            (await client.post("/memory/import", json={"text": lines})).raise_for_status()
        for session, text, replies in TALK:
            world.model.script.extend(replies)
            await daemon.post(text, session=session)
        if asking:
            session, text, reply = ASKED
            world.model.script.append(reply)
            await daemon.post(text, session=session)
        yield daemon, await dashboard_of(world)


def at_the_socket(world: World) -> httpx2.AsyncClient:
    """Return a client at the Unix socket, which acts as the owner."""
    return httpx2.AsyncClient(
        transport=httpx2.AsyncHTTPTransport(uds=str(world.home / "hob.sock")), base_url="http://hob"
    )


async def link_of(world: World) -> str:
    """Return a link that signs one browser in."""
    async with at_the_socket(world) as client:
        url: str = (await client.post("/dashboard/link")).raise_for_status().json()["url"]
        return url


async def fill(world: World, count: int) -> None:
    """Fill the timeline with messages and answers."""
    world.home.mkdir(exist_ok=True)
    async with open_store(world.home, StoreSettings(), SystemClock()) as store:
        for start in range(0, count, 2_000):
            events: list[TimelineEvent] = []
            for n in range(start, min(start + 2_000, count)):
                kind, trace = (EventKind.OUTBOUND if n % 2 else EventKind.INBOUND), TraceId(f"{n // 2:032x}")
                events.append(
                    TimelineEvent(
                        new_event_id(), trace, new_span_id(), None, 1_760_000_000.0 + n * 7, kind, "api",
                        "reply" if n % 2 else "ok", session=SessionKey("api:main"), text=f"Event number {n}",
                    )
                )  # fmt: skip
            await store.timeline.add(events)


async def dashboard_of(world: World) -> str:
    """Return the dashboard's address."""
    return (await link_of(world)).partition("/#")[0]


async def _main() -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with open_world() as world, scene(world) as (daemon, _):
        print(await link_of(world), daemon.url, flush=True)
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(_main())
