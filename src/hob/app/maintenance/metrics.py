"""Prometheus metrics and how each is read.

Counters restart with each run, except those of models, which count everything ever spent.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hob import __version__
from hob.bus.session_queues import SessionQueues
from hob.core.errors import ModelFault
from hob.core.models import Spending, Usage
from hob.core.states import TurnState
from hob.gateway.http.prometheus import Metric, gauge
from hob.store.store import Store

_ENDS = (TurnState.DONE, TurnState.SILENT, TurnState.FAILED, TurnState.CANCELLED, TurnState.SET_ASIDE)


async def collect_metrics(
    store: Store, session_queues: SessionQueues, status: dict[str, Any], default_model: str
) -> Sequence[Metric]:
    """Return metrics of turns, models, ages and queues from `status` (that of `hob status`).

    Known label values are present from the start with 0, `default_model` too. Raises StoreErrors.
    """
    health, backups = store.health(), status["backups"]
    turns = [({"state": name}, float(status[name])) for name in ("running", "waiting", "parked")]
    replies = [({"state": name}, float(status[name])) for name in ("pending", "owed", "undeliverable", "unread")]
    lags = [({"follower": each["name"]}, float(each["lag_seconds"])) for each in status["followers"]]
    apart = [({"follower": each["name"]}, float(each["quarantined"])) for each in status["followers"]]
    restarts = [({"job": each["name"]}, float(each["restarts"])) for each in status["jobs"]]
    failing = [({"job": each["name"]}, float(each["state"] in ("waiting", "stopped"))) for each in status["jobs"]]
    found = [
        Metric("hob_info", "gauge", "Show the version.", (({"version": __version__}, 1.0),)),
        *_turn_metrics(session_queues),
        *await _model_metrics(store, default_model),
        Metric("hob_turns", "gauge", "Turns now.", turns),
        Metric(
            "hob_replies",
            "gauge",
            "Replies by state: pending (until 1.0 counted as owed too), given up, waiting to be fetched.",
            replies,
        ),
        gauge(
            "hob_session_age_seconds",
            "How long the oldest message has waited for its turn.",
            status["oldest_waiting_seconds"],
        ),
        gauge("hob_lane_age_seconds", "The same, deprecated, until 1.0.", status["oldest_waiting_seconds"]),
        gauge(
            "hob_outbox_age_seconds",
            "How long the oldest reply has waited to be sent.",
            status["oldest_pending_seconds"],
        ),
        gauge("hob_writer_queue", "Writes that wait for the database.", health.queue),
        Metric("hob_follower_lag_seconds", "gauge", "How far behind the timeline its followers are.", lags),
        Metric("hob_follower_quarantined_events", "gauge", "Events that its followers could not take.", apart),
        Metric("hob_job_restarts_total", "counter", "How often a job was started again after a defect.", restarts),
        Metric("hob_job_failing", "gauge", "1 while a job waits to be started again, or has stopped.", failing),
        gauge("hob_store_bytes", "Size of the database.", health.size),
        gauge("hob_disk_free_bytes", "What may still be written beside it.", health.free),
        gauge("hob_store_writable", "1 while the database can be written.", float(health.writable)),
        gauge("hob_backup_timestamp_seconds", "When the newest daily backup was made; 0: never.", backups["at"] or 0.0),
        gauge("process_start_time_seconds", "When this Hob began, in Unix seconds.", status["since"]),
        gauge("hob_backup_ok", "1 unless the last daily backup failed.", float(backups["problem"] is None)),
    ]
    if (resident := _resident_bytes()) is not None:
        found.append(gauge("process_resident_memory_bytes", "Memory of this process.", resident))
    return found


def _turn_metrics(session_queues: SessionQueues) -> Sequence[Metric]:
    states = dict.fromkeys(_ENDS, 0)
    codes = dict.fromkeys((*(fault.value for fault in ModelFault), TurnState.SET_ASIDE.value), 0)
    for (state, code), count in session_queues.ended.items():
        states[state] = states.get(state, 0) + count
        if state in (TurnState.FAILED, TurnState.SET_ASIDE):
            codes[code or state.value] = codes.get(code or state.value, 0) + count
    ends = [({"state": state.value}, float(count)) for state, count in sorted(states.items())]
    failures = [({"code": code}, float(count)) for code, count in sorted(codes.items())]
    return (
        Metric("hob_turns_ended_total", "counter", "Turns that ended since the start, by state.", ends),
        Metric("hob_turn_failures_total", "counter", "Turns that failed since the start, by code.", failures),
    )


def _resident_bytes() -> float | None:
    """Return the resident memory per proc(5), `statm`; None if unavailable."""
    try:
        return float(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
    except (OSError, IndexError, ValueError):
        return None


async def _model_metrics(store: Store, default_model: str) -> Sequence[Metric]:
    known = dict(await store.ledger.sums("model"))
    if default_model:  # present from the first scrape, so that the first call counts as a change
        known.setdefault(default_model, Spending(0, 0, Usage(), 0))
    sums = sorted(known.items())
    tokens = [
        ({"model": model, "kind": kind}, float(count))
        for model, spent in sums
        for kind, count in (
            ("input", spent.usage.input),
            ("cached", spent.usage.cache_read),
            ("output", spent.usage.output),
        )
    ]
    costs = [({"model": model}, (spent.cost - spent.reserved) / 1_000_000) for model, spent in sums]
    calls = [({"model": model}, float(spent.calls)) for model, spent in sums]
    unknown = [({"model": model}, float(spent.unknown_calls)) for model, spent in sums]
    return (
        Metric("hob_model_tokens_total", "counter", "Tokens ever used; the cached ones are input too.", tokens),
        Metric("hob_model_cost_dollars_total", "counter", "Dollars ever spent, as far as prices are known.", costs),
        Metric("hob_model_calls_total", "counter", "Calls ever made.", calls),
        Metric("hob_model_unpriced_calls_total", "counter", "Calls of unknown price, which are not in it.", unknown),
    )
