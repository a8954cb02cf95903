"""Cost of each API answer for the daemon of a home in use: every GET that answers JSON, the most expensive ones by
name.
"""

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from math import inf
from pathlib import Path

from benchmarks import dashboard, history
from benchmarks.bench import Bench, Client, Daemon
from benchmarks.processes import cpu_of, wait_until_idle
from benchmarks.rows import Row
from hob.app.daemon.unix_http import call
from hob.app.endpoints import ENDPOINTS
from hob.app.home import socket_of
from hob.app.subsystem import api_v1_of
from hob.app.subsystems import SUBSYSTEMS
from hob.gateway.http.endpoint import JSON

LIMIT = 1.5
_NAMED = 5
_MESSAGES, _EVENTS, _MEMORIES, _FILES = 400, 10_000, 300, 60
_PAGE = {"action": "present", "page": "sales", "html": "<!doctype html><title>Sales</title><h1>Sum</h1>"}
_SHOWN = {"calls": [["load_tools", '{"names": ["canvas"]}']]}, {"calls": [["canvas", json.dumps(_PAGE)]]}, "There."
_SAID = (
    'CALL read {"path": "notes-1.md"}',
    "Under which stone lies the key?",
)
_ASKED = 'CALL exec {"command": "rm -rf ."}'


def measure(bench: Bench) -> Iterator[Row]:
    """Measure how many answers cost more than the limit, and the most expensive ones."""
    home, rounds = bench.home(), bench.times(9, 5)
    asyncio.run(history.fill(home, _MESSAGES))
    asyncio.run(dashboard.fill(home, _EVENTS))
    _repository(bench.workspace(home) / "work")
    with bench.daemon(home) as daemon:
        socket = socket_of(home)
        for number in range(_MEMORIES):
            call(socket, "POST", "/memory/items", {"text": f"Anna's note {number}: the key lies under stone {number}."})
        wait_until_idle(daemon.pid)  # memory's own model calls must not take the script's lines
        client, page = daemon.client(), Client(str(call(socket, "POST", "/dashboard/link").body["address"]))
        Client(bench.model).call("POST", "/_fake/script", _SHOWN)
        client.say("Show me the sales.")
        examples = _examples(client, page)
        asked = {
            f"{path}{where}": (asks, path)
            for where, asks, rows in (("", client, ENDPOINTS), (" of the dashboard", page, api_v1_of(SUBSYSTEMS)))
            for row in rows
            if row.method == "GET" and row.media[:1] == (JSON,) and not row.local and 503 not in row.statuses
            for path in (_filled(row.path, examples),)
        }
        costs = _lowest_costs(daemon, asked, rounds)
    for path in sorted(costs, key=costs.__getitem__, reverse=True)[:_NAMED]:
        yield Row(f"GET {path}", costs[path], "ms CPU", LIMIT)
    over = sum(each > LIMIT for each in costs.values())
    yield Row(f"answers over {LIMIT} ms CPU, of {len(costs)}", over, "answers", 0)


def _repository(folder: Path) -> None:
    """Create a repository with one commit and an uncommitted change."""
    folder.mkdir(parents=True)
    for number in range(_FILES):
        (folder / f"notes-{number}.md").write_text("milk and bread\n" * 40)
    named = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*named, "commit", "-q", "-m", "Notes")):
        subprocess.run(("git", *command), cwd=folder, check=True)
    (folder / "notes-1.md").write_text("milk and butter\n" * 40)


def _examples(client: Client, page: Client) -> Mapping[str, str]:
    """Create what the routes need, and return their paths' parameters and queries."""
    for text in _SAID:
        client.say(text)
    asked = client.call("POST", "/chat", {"message": _ASKED, "session": "other"})
    tool = page.get("/api/v1/timeline?kind=tool&limit=1")["events"][0]
    trace, turn = tool["trace_id"], tool["turn"]
    spans = page.get(f"/api/v1/trace/{trace}")["spans"]
    step = next(each["metadata"]["step"] for each in spans if each["type"] == "LLM")
    session, task = "session=api:main", page.get("/api/v1/tasks?all=1&limit=1")["tasks"][0]["id"]
    user = page.call("POST", "/api/v1/webusers", {"name": "Anna"})["id"]
    response = client.call("POST", "/v1/responses", {"model": "hob", "input": "hello"})["id"]
    canvas, item = (page.get(path) for path in ("/api/v1/canvas", "/api/v1/memory/items?limit=1"))
    return {
        "/chat/{id}": asked["id"],
        "/trace/{id}": trace,
        "/trace-graph/{id}": trace,
        "/prompts/{id}": f"{turn}?step={step}",
        "/policy-decisions": f"?trace_id={trace}",
        "/tasks/{id}": task,
        "/tasks": "?all=1&limit=100",
        "/approvals/{id}": asked["approvals"][0],
        "/canvas/{id}": canvas["pages"][0]["id"],
        "/memory/items/{id}": item["items"][0]["id"],
        "/memory/recalled": f"?turn={turn}",
        "/memory/search": "?query=stone&limit=5",
        "/tools/{id}": "read",
        "/today": f"?since={time.time() - 86_400:.0f}",
        "/weblinks": f"?web_user_id={user}",
        "/v1/responses/{id}": response,
        "/v1/models/{id:path}": client.get("/v1/models")["data"][0]["id"],
        "/sessions/show": f"?{session}",
        "/sessions/history": f"?{session}",
        "/prompt": f"?{session}",
        "/repo/search": "?text=milk",
        "/repo/file": "?path=notes-1.md",
        "/repo/diff-file": "?path=notes-1.md",
    }


def _filled(path: str, examples: Mapping[str, str]) -> str:
    wanted = examples.get(path.removeprefix("/api/v1"), "")
    head, brace, _ = path.partition("{")
    return f"{head}{wanted}" if brace else f"{path}{wanted}"


def _lowest_costs(daemon: Daemon, asked: Mapping[str, tuple[Client, str]], rounds: int) -> Mapping[str, float]:
    """Return the lowest cost of each call in CPU milliseconds, over rounds of ten calls, each after one that warms.

    Background work of the daemon and other programs on its cores can only add to a cost, so the lowest is closest to
    that of the answer itself. The calls take turns, so that what lasts for seconds does not fall on one of them.
    """
    costs = dict.fromkeys(asked, inf)
    for number in range(rounds + 1):
        wait_until_idle(daemon.pid)
        for name, (client, path) in asked.items():
            client.close()  # the server may have closed it by now; the next call reconnects
            client.get(path)
            before = cpu_of(daemon.pid)
            for _ in range(10):
                client.get(path)
            if number:  # the first round loads modules and fills caches
                costs[name] = min(costs[name], (cpu_of(daemon.pid) - before) * 100)
    return costs
