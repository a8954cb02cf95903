"""`hob status`: daemon, queue and storage status."""

import time
from collections.abc import Mapping
from typing import Any

from hob.app.daemon.daemon_client import reach
from hob.app.home import holder_of
from hob.cli.conversation.retry import kept_without_model
from hob.cli.dates_and_figures import age, local_time, number, when
from hob.cli.output import line, paint, print_json
from hob.cli.translating import _, model_line, ngettext, terminal_language
from hob.config.environment import find_home, process_environment
from hob.core.translation.code_words import FAULT_WORDS

LATE = 300.0
"""Seconds after which waiting counts as late."""
DAY = 86_400.0
LABELS = ("turns", "replies", "model", "settings", "files", "database", "follower", "job", "live", "backup")


def status(*, json: bool = False) -> None:
    """Show daemon, queue and storage status.

    `hob usage` shows spending.

    Parameters
    ----------
    json:
        Print JSON.
    """
    home = find_home(process_environment())
    holder = holder_of(home)
    seen = reach("GET", "/status")
    if json:
        own = {} if holder else {"pid": None, "since": None}  # otherwise this command would report itself
        print_json({**seen, **own, "holder": holder or None})
        return
    state = paint(_("running"), "green") if holder else paint(_("not running; start it with `hob serve`"), "yellow")
    print(_("Hob {version} in {home}: {state}", version=seen["version"], home=home, state=state))
    if holder:
        command, _comma, about = line(holder).partition(",")
        about = about.partition(" since ")[0] + _(" since ") + when(seen["since"])
        _row("", _("started with `{command}`,{about}", command=command, about=about))
        _row(
            "",
            _("at {address}", address=seen["address"] or _("hob.sock only (the API is not on the network)")),
        )
        _row("", _("`hob dashboard` opens its page in a browser"))
    if seen["halted"] is not None:
        since = age(time.time() - seen["halted"])
        _row("turns", _("all stopped for {age}; `hob resume` continues", age=since), "red")
    _show_messages(seen, holder)
    none = _("none; `hob onboard` connects one")
    _row("model", none if seen["model"] == "none" else model_line(seen["model"], terminal_language()))
    for row in seen["resting"]:
        left, reason = age(max(0.0, row["until"] - time.time())), _(FAULT_WORDS.get(row["reason"], row["reason"]))
        told = "{model} (key {key}) is paused for {left}: {reason}"
        _row("", _(told, model=row["model"], key=row["key"], left=left, reason=reason), "yellow")
    if problem := seen["settings"]["problem"]:
        told = _("invalid, so the previous ones stay in use: {problem}", problem=line(_(problem), 200))
        _row("settings", told, "red")
    for key in seen["settings"]["waiting"]:
        _row("settings", _("{key} was changed and takes effect at the next start", key=key), "yellow")
    for name in seen["unaccepted"]:
        _row("files", _("{name} was changed and is untrusted; `hob accept {name}` accepts it", name=name), "yellow")
    _show_store(seen)
    for guest in seen.get("connected", ()):  # only a running daemon has guests
        since = age(time.time() - guest["since"])
        _row("live", _("{who} {address} for {age}", who=guest["who"], address=guest["address"], age=since))
    _show_backups(seen["backups"])


def _row(label: str, text: str, colour: str = "") -> None:
    """Print a line under its label; without a label it continues the last line."""
    print(paint(f"{_(label):{max(len(_(each)) for each in LABELS) + 2}}{text}", colour))


def _show_messages(seen: Mapping[str, Any], holder: str) -> None:
    oldest = _aged(_(", the oldest message waits for {age}"), seen["oldest_waiting_seconds"], 30)
    # without an owner, interrupted turns continue at the next start
    told = (
        "{running} running, {waiting} waiting{oldest}" if holder else "{running} interrupted, {waiting} waiting{oldest}"
    )
    _row("turns", _(told, running=seen["running"], waiting=seen["waiting"], oldest=oldest))
    _show_held(seen["for_approval"], seen["for_answer"], seen["parked"])
    if kept := kept_without_model():
        _row("", kept, "yellow")
    oldest = _aged(_(", the oldest for {age}"), seen["oldest_pending_seconds"], 60)
    unread = _(", {count} not fetched yet", count=seen["unread"]) if seen["unread"] else ""
    _row("replies", _("{count} to be sent{oldest}{unread}", count=seen["pending"], oldest=oldest, unread=unread))
    if seen["undeliverable"]:
        _row("", _("{count} could not be delivered:", count=seen["undeliverable"]), "red")
        for row in seen["stuck"]:
            _row(
                "",
                _(
                    "{channel}: {reason}; `hob retry {id}` sends it again",
                    channel=row["channel"],
                    reason=line(_(row["reason"])),
                    id=row["id"],
                ),
            )


def _show_store(seen: Mapping[str, Any]) -> None:
    health = seen["store_health"]
    lagging = [each for each in seen["followers"] if each["lag_seconds"] >= 1 or each.get("quarantined", 0)]
    writes = ngettext(", {count} write waits", ", {count} writes wait", seen["writer_queue"])
    _row(
        "database",
        _(
            "{state}, {size} MB, {free} GB free{writes}",
            state=paint(_(seen["store"]), "green" if seen["store"] == "ok" else "red"),
            size=number(health["size"] / 1e6),
            free=number(health["free"] / 1e9),
            writes=paint(writes, _colour(seen["writer_queue"], 100, 1_000)) if seen["writer_queue"] else "",
        ),
    )
    for follower in lagging:
        lag = _("{age} behind", age=age(follower["lag_seconds"]))
        lag = paint(lag, _colour(follower["lag_seconds"], 60, LATE))
        apart = follower.get("quarantined", 0)
        kept = ngettext(", {count} event quarantined", ", {count} events quarantined", apart) if apart else ""
        _row("follower", f"{follower['name']}: {lag}{paint(kept, 'red')}")
    if why := seen.get("memory", {}).get("why"):
        _row("memory", _("background work is waiting: {why}", why=line(_(why), 120)), "yellow")
    if problem := seen.get("memory", {}).get("problem"):
        told = _("finds by words alone, the embedder failed: {problem}", problem=line(_(problem), 200))
        _row("memory", told, "red")
    if problem := seen.get("memory", {}).get("unassisted"):
        _row("memory", _("no model helps with searches: {problem}", problem=line(problem, 200)), "yellow")
    if count := seen.get("memory", {}).get("permanent"):
        _row(
            "memory",
            _("{count} items never expire, more than memory.max_items; see `hob memory stats`", count=number(count, 0)),
            "yellow",
        )
    if problem := seen.get("knowledge", {}).get("problem"):
        _row("knowledge", _("failed: {problem}", problem=line(_(problem), 200)), "red")
    for job in seen.get("jobs", ()):
        if job["state"] in ("waiting", "stopped"):
            stopped = job["state"] == "stopped"
            told = (
                "{name} failed and stopped: {problem}" if stopped else "{name} failed and restarts by itself: {problem}"
            )
            _row("job", _(told, name=job["name"], problem=line(_(job["problem"]), 200)), "red")


def _show_held(for_approval: int, for_answer: int, parked: int) -> None:
    if for_approval:
        wait = paint(
            ngettext("{count} waits for your approval", "{count} wait for your approval", for_approval), "yellow"
        )
        _row("", _("{wait}: `hob approvals` shows what is asked", wait=wait))
    if for_answer:
        wait = paint(ngettext("{count} waits for your answer", "{count} wait for your answer", for_answer), "yellow")
        _row("", _("{wait}, where it was asked", wait=wait))
    if later := parked - for_approval - for_answer:
        _row("", _("{count} waiting, Hob continues later", count=later))


def _show_backups(backups: Mapping[str, Any]) -> None:
    if backups["problem"]:
        told = _("failed: {problem}; it is tried again every hour", problem=line(_(backups["problem"]), 200))
        _row("backup", told, "red")
    elif backups["running"]:
        _row("backup", _("is being made"))
    if backups["at"] is not None:
        old = time.time() - backups["at"]
        colour = _colour(old, 2 * DAY, 4 * DAY) if backups["daily"] else "dim"
        aged = paint(_("{age} old", age=age(old)), colour)
        _row(
            "backup",
            _("{age}, {count} kept: {newest}", age=aged, count=backups["kept"], newest=backups["newest"]),
        )
    elif not backups["daily"]:
        _row("backup", _("automatic backups are off (backups.daily)"), "yellow")
    elif not backups["problem"]:
        first = local_time(backups["next_at"]).strftime(_("%a %H:%M"))
        _row("backup", _("none yet; Hob makes the first after {time}, if it runs then", time=first))


def _aged(words: str, seconds: float, warn: float) -> str:
    return paint(words.format(age=age(seconds)), _colour(seconds, warn, LATE)) if seconds else ""


def _colour(amount: float, warn: float, alarm: float) -> str:
    return "red" if amount >= alarm else "yellow" if amount >= warn else "green"
