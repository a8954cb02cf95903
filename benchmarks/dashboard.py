"""Cost of the dashboard: an event sent to fifty sockets, and Chromium scrolling and filtering a long timeline."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import quantiles

from playwright.async_api import CDPSession, Page, expect
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.bench import TOKEN, Bench, Daemon
from benchmarks.processes import cpu_of
from benchmarks.rows import Row
from hob.app.daemon.unix_http import call
from hob.app.home import socket_of
from hob.core.clock import SystemClock
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, TraceId, new_event_id, new_span_id
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from tests.dashboard.screenshots import CHROMIUM, chromium

SOCKETS = 50
EVENTS = 100_000
_OF_FRAME = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")


def measure(bench: Bench) -> Iterator[Row]:
    """Measure the daemon's CPU per event and 50 sockets, and the page's work per frame, filter and load."""
    with bench.daemon(bench.home()) as daemon:
        cost, late = asyncio.run(_fan_out(daemon, bench.times(60, 10)))
    yield Row(f"an event to {SOCKETS} sockets", cost, "ms CPU", 10)
    yield Row(f"the answer's event at the last of {SOCKETS} sockets, p95", late, "ms", 250)
    if not CHROMIUM:
        print("Chromium is not installed: the page is not measured", file=sys.stderr)
        return
    home, events = bench.home(), bench.times(EVENTS, 10_000)
    asyncio.run(fill(home, events))
    with bench.daemon(home) as daemon:
        url = str(call(socket_of(home), "POST", "/dashboard/link").body["url"])
        frame, shown, usable = asyncio.run(_looked(url, events, bench.times(200, 60)))
        url = str(call(socket_of(home), "POST", "/dashboard/link").body["url"])
        longest = asyncio.run(_busy(url, daemon, bench.times(200, 100)))
    yield Row(f"scrolling {events:,} events, script and layout per frame, p95", frame, "ms", 8)
    yield Row(f"filtering {events:,} events, until they show", shown, "ms", 300)
    yield Row(f"the timeline of {events:,} events, from its address until it shows", usable, "ms", 1_000)
    yield Row("the longest task of the page while 50 events a second come", longest, "ms", 50)


async def _fan_out(daemon: Daemon, turns: int) -> tuple[float, float]:
    """Return the CPU milliseconds for one event at all sockets, and how long after the answer the last socket gets the
    turn's last event (p95, milliseconds).
    """
    client = daemon.client()
    for _ in range(5):
        client.say("hi")
    before = cpu_of(daemon.pid)
    for _ in range(turns):
        client.say("hi")
    alone = (cpu_of(daemon.pid) - before) / turns
    headers = {"authorization": f"Bearer {TOKEN}"}
    url = daemon.url.replace("http://", "ws://") + "/ws"
    async with AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(connect(url, additional_headers=headers)) for _ in range(SOCKETS)]
        for wire in wires:
            await wire.send(json.dumps({"type": "subscribe"}))
        before, told, late = cpu_of(daemon.pid), 0, list[float]()
        for _ in range(turns):
            heard = [asyncio.ensure_future(_until_over(wire)) for wire in wires]
            began = time.perf_counter()
            await asyncio.to_thread(client.say, "hi")
            answered = time.perf_counter() - began
            told += sum(await asyncio.gather(*heard))
            late.append(max(0.0, time.perf_counter() - began - answered) * 1_000)
        shared = (cpu_of(daemon.pid) - before) / turns
    return (shared - alone) * 1_000 / (told / SOCKETS / turns), quantiles(late, n=20)[-1]


async def _until_over(wire: ClientConnection) -> int:
    """Return the number of events received until a turn is done."""
    count = 0
    while True:
        message = json.loads(await asyncio.wait_for(wire.recv(), 30))
        if message["type"] == "event":
            count += 1
            event = message["event"]
            if event["kind"] == "turn" and event["classification"] == "done":
                return count


async def fill(home: Path, count: int) -> None:
    """Fill a home's timeline with this many events: messages and their answers."""
    home.mkdir(exist_ok=True)
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        for start in range(0, count, 2_000):
            await store.timeline.add([_event(n) for n in range(start, min(start + 2_000, count))])


def _event(n: int) -> TimelineEvent:
    kind, status = (EventKind.OUTBOUND, "reply") if n % 2 else (EventKind.INBOUND, "ok")
    return TimelineEvent(
        new_event_id(), TraceId(f"{n // 2:032x}"), new_span_id(), None, 1_760_000_000.0 + n * 7, kind, "api", status,
        session=SessionKey("api:main"), text=f"Event number {n}",
    )  # fmt: skip


async def _looked(url: str, events: int, frames: int) -> tuple[float, float, float]:
    """Return milliseconds: script and layout per frame while scrolling (p95), from a filter to its results, and until
    the page shows.
    """
    async with chromium() as browser:
        page = await (await browser.new_context(viewport={"width": 1280, "height": 800})).new_page()
        await page.goto(url)
        await page.locator("#main").wait_for()
        began = time.perf_counter()
        await page.goto(f"{url.partition('/#')[0]}/timeline")
        newest = page.get_by_text(f"Event number {events - 1}", exact=True)
        await newest.wait_for()  # looks in every frame, unlike `expect`
        usable = (time.perf_counter() - began) * 1_000
        wire = await page.context.new_cdp_session(page)
        await wire.send("Performance.enable")
        spent = [await _frame(page, wire) for _ in range(frames)]
        await page.reload()
        await newest.wait_for()
        began = time.perf_counter()
        await page.get_by_label("Search the timeline").fill(f"number {events - 500}")
        await newest.wait_for(state="detached")
        await page.get_by_role("feed").get_by_text(f"Event number {events - 500}", exact=True).wait_for()
        return quantiles(spent, n=20)[-1], (time.perf_counter() - began) * 1_000, usable


_OBSERVE = """() => {
  window.longest = 0;
  const look = (list) => {
    for (const each of list.getEntries()) window.longest = Math.max(window.longest, each.duration);
  };
  new PerformanceObserver(look).observe({ entryTypes: ["longtask"] });
}"""
_PER_SECOND = 50


async def _busy(url: str, daemon: Daemon, events: int) -> float:
    """Return the longest task of the timeline page in milliseconds while events arrive; 0 if none took 50 ms."""
    client, base = daemon.client(), url.partition("/#")[0]
    async with chromium() as browser:
        page = await (await browser.new_context(viewport={"width": 1280, "height": 800})).new_page()
        await page.goto(url)
        await page.locator("#main").wait_for()
        await page.goto(f"{base}/timeline")
        await expect(page.get_by_role("article").first).to_be_visible(timeout=30_000)
        await asyncio.to_thread(client.say, "hi")
        await expect(page.get_by_text("hi", exact=True).first).to_be_visible(timeout=30_000)
        first = await page.evaluate(_COUNT)
        await page.evaluate(_OBSERVE)
        began = time.perf_counter()
        told = 0
        while told < events:
            await asyncio.to_thread(client.say, "hi")
            told = await page.evaluate(_COUNT) - first
            await asyncio.sleep(max(0.0, told / _PER_SECOND - (time.perf_counter() - began)))
        return float(await page.evaluate("window.longest"))


_COUNT = """() => fetch('/api/v1/timeline?limit=1', { headers: { 'x-csrf-token': localStorage.getItem('hob.csrf') } })
  .then((got) => got.json()).then((page) => page.newest)"""
"""Returns the position of the newest event."""


async def _frame(page: Page, wire: CDPSession) -> float:
    """Scroll one frame at 12,000 pixels per second; return its script and layout time in milliseconds."""
    before = await _work(wire)
    await page.get_by_test_id("timeline").evaluate(
        "box => new Promise(done => { box.scrollBy(0, 200); requestAnimationFrame(done) })"
    )
    return (await _work(wire) - before) * 1_000


async def _work(wire: CDPSession) -> float:
    told = await wire.send("Performance.getMetrics")
    return sum(float(each["value"]) for each in told["metrics"] if each["name"] in _OF_FRAME)
