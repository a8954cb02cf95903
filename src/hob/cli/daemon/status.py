"""`hob status`."""

import time
from collections.abc import Mapping
from typing import Any

from hob.app.daemon.daemon_client import reach
from hob.app.home import holder_of
from hob.cli.output import age, line, paint, print_json
from hob.config.environment import find_home, process_environment

LATE = 300.0
"""Seconds; what waits longer is late."""
DAY = 86_400.0


def status(*, json: bool = False) -> None:
    """Show daemon, queue and storage status.

    `hob usage` tells what was spent.

    Parameters
    ----------
    json:
        Print JSON.
    """
    home = find_home(process_environment())
    holder = holder_of(home)
    seen = reach("GET", "/status")
    if json:
        own = {} if holder else {"pid": None, "since": None}  # else this command would tell of itself
        print_json({**seen, **own, "holder": holder or None})
        return
    owner = paint("running", "green") if holder else paint("not running; start it with `hob serve`", "yellow")
    print(f"Hob {seen['version']} in {home}: {owner}")
    if holder:
        print(f"          as `{line(holder).partition(',')[0]}`,{line(holder).partition(',')[2]}")
        print(f"          at {seen['address'] or 'hob.sock alone: no other program reaches its API'}")
    print(f"turns     {seen['running']} running, {seen['waiting']} waiting", end="")
    print(_aged(", the oldest message waits for", seen["oldest_waiting_seconds"], 30))
    _show_held(seen["for_leave"], seen["for_answer"], seen["parked"])
    oldest = _aged(", the oldest for", seen["oldest_owed_seconds"], 60)
    unread = f", {seen['unread']} not fetched yet" if seen["unread"] else ""
    print(f"replies   {seen['owed']} to be sent{oldest}{unread}")
    if seen["undeliverable"]:
        print(paint(f"          {seen['undeliverable']} could not be delivered:", "red"))
        for row in seen["stuck"]:
            print(f"          {row['channel']}: {line(row['reason'])}; `hob retry {row['id']}` sends it again")
    print(f"model     {seen['model']}")
    for row in seen["resting"]:
        left = age(max(0.0, row["until"] - time.time()))
        print(paint(f"          {row['model']} (key {row['key']}) rests for {left}: {row['reason']}", "yellow"))
    if seen["settings"]["problem"]:
        print(paint(f"settings  wrong, the former ones hold: {line(seen['settings']['problem'], 200)}", "red"))
    for key in seen["settings"]["waiting"]:
        print(paint(f"settings  {key} was changed and holds from the next start on", "yellow"))
    for name in seen["unaccepted"]:
        print(paint(f"files     {name} was changed and is untrusted; `hob accept {name}` accepts it", "yellow"))
    _show_store(seen)
    for guest in seen.get("connected", ()):  # only who runs for a while has guests
        print(f"live      {guest['who']} {guest['address']} for {age(time.time() - guest['since'])}")
    _show_backups(seen["backups"])


def _show_store(seen: Mapping[str, Any]) -> None:
    health = seen["store_health"]
    room = f"{health['size'] / 1e6:,.1f} MB, {health['free'] / 1e9:,.1f} GB free"
    state = paint(seen["store"], "green" if seen["store"] == "ok" else "red")
    queue = paint(str(seen["writer_queue"]), _colour(seen["writer_queue"], 100, 1_000))
    follows = "" if seen["followers"] else ", nothing lags behind"
    print(f"store     {state}, {room}, {queue} writes wait{follows}")
    for follower in seen["followers"]:
        lag = paint(f"{age(follower['lag_seconds'])} behind", _colour(follower["lag_seconds"], 60, LATE))
        apart = follower.get("quarantined", 0)
        kept = paint(f", {apart} {'event' if apart == 1 else 'events'} quarantined", "red") if apart else ""
        print(f"follower  {follower['name']}: {lag}{kept}")
    for job in seen.get("jobs", ()):
        if job["state"] in ("waiting", "stopped"):
            how = "stopped" if job["state"] == "stopped" else "is started again by itself"
            print(paint(f"job       {job['name']} failed and {how}: {line(job['problem'], 200)}", "red"))


def _show_held(for_leave: int, for_answer: int, parked: int) -> None:
    if for_leave:
        wait = "waits" if for_leave == 1 else "wait"
        print(
            f"          {paint(f'{for_leave} {wait} for your approval', 'yellow')}: `hob approvals` shows what is asked"
        )
    if for_answer:
        wait = "waits" if for_answer == 1 else "wait"
        print(f"          {paint(f'{for_answer} {wait} for your answer', 'yellow')}, where it was asked")
    if later := parked - for_leave - for_answer:
        print(f"          {later} held up, to go on later by itself")


def _show_backups(backups: Mapping[str, Any]) -> None:
    if backups["problem"]:
        print(paint(f"backup    failed: {line(backups['problem'], 200)}; it is tried again every hour", "red"))
    elif backups["running"]:
        print("backup    is being made")
    if backups["at"] is not None:
        old = time.time() - backups["at"]
        colour = _colour(old, 2 * DAY, 4 * DAY) if backups["daily"] else "dim"
        print(f"backup    {paint(f'{age(old)} old', colour)}, {backups['kept']} kept: {backups['newest']}")
    elif not backups["daily"]:
        print(paint("backup    none is made by itself (backups.daily)", "yellow"))
    elif not backups["problem"]:
        first = time.strftime("%a %H:%M", time.localtime(backups["next_at"]))
        print(f"backup    the first is made while Hob runs after {first}")


def _aged(words: str, seconds: float, warn: float) -> str:
    return paint(f"{words} {age(seconds)}", _colour(seconds, warn, LATE)) if seconds else ""


def _colour(amount: float, warn: float, alarm: float) -> str:
    return "red" if amount >= alarm else "yellow" if amount >= warn else "green"
