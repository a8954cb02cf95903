"""`hob retry`: process a failed or quarantined message again."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from hob.app.daemon.daemon_client import reach
from hob.app.home import socket_of
from hob.cli.translating import _, ngettext
from hob.config.environment import find_home, process_environment

NO_MODEL = "no_model"
"""Error code of messages that failed because there was no model (`hob.core.errors.ModelFault`)."""


def kept_without_model() -> str:
    """Return a line about messages kept because no model was connected; empty if there are none."""
    failed = reach("GET", "/tasks", {"state": "failed", "limit": "1000"})["tasks"]
    kept = sum(each["reason"] == NO_MODEL for each in failed)
    told = ngettext(
        "{count} message is kept without an answer, as no model was connected; `hob retry` answers it",
        "{count} messages are kept without an answer, as no model was connected; `hob retry` answers them",
        kept,
    )
    return told if kept else ""


def retry(id: str = "", /) -> None:
    """Try a message again that failed, or that repeated crashes quarantined.

    Without an ID: every message that was kept because no model was connected.

    Parameters
    ----------
    id:
        A message or task (`hob tasks --all` shows them), or an undelivered reply (`hob status`).
    """
    if id:
        retried = [reach("POST", f"/retry/{quote(id, safe='')}")]
    else:
        retried = reach("POST", "/retry", {"code": NO_MODEL})["retried"]
    alone = not socket_of(find_home(process_environment())).exists()
    for each in retried:
        print(
            _("{id} will be tried again{where}", id=each["message"] or each["id"], where=_next_step(each, alone=alone))
        )
    if any(each["message"] for each in retried) and reach("GET", "/status")["model"] == "none":
        print(_("No model is connected, so there is no answer yet; `hob onboard` connects one."))
    if not retried:
        print(_("No message is waiting for a model; `hob tasks --all` shows what failed for another reason."))


def _next_step(retried: Mapping[str, Any], *, alone: bool) -> str:
    """Return how processing continues; `alone`: no daemon is running that would continue at once."""
    if retried["message"] is None:  # an answer that exists but could not be delivered
        return _("; it is sent when `hob serve` runs") if alone else _("; it is sent now")
    if not alone:
        return _("; `hob ask --resume {id}` shows its answer", id=retried["message"])
    return _("; it runs with `hob serve`, or now with: hob ask --resume {id}", id=retried["message"])
