"""`hob tasks`: messages and their outcomes."""

import math
from collections.abc import Mapping
from typing import Any

from hob.app.daemon.daemon_client import reach
from hob.cli.conversation.retry import kept_without_model
from hob.cli.dates_and_figures import when
from hob.cli.output import line, paint, print_table, printed_json, state, status_word
from hob.cli.translating import _
from hob.core.errors import InvalidRequest
from hob.core.translation.language import translatable
from hob.core.turns import WaitsFor

WAITS_WORDS: Mapping[str, str] = {
    WaitsFor.APPROVAL: translatable("for your approval: `hob approvals`"),
    WaitsFor.ANSWER: translatable("for your answer"),
    WaitsFor.CHILD: translatable("for its sub-agents"),
    WaitsFor.CLIENT: translatable("for the program that asked"),
    WaitsFor.TIME: translatable("until it tries again"),
    WaitsFor.STORE: translatable("for room on the disk"),
}
"""What a waiting task waits for, in words."""
_PAGE = 1_000


def _newest(wanted: float, *, ended: bool) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    while (size := int(min(_PAGE, wanted - len(found)))) > 0:
        query = {"limit": str(size), "offset": str(len(found))} | ({"all": "1"} if ended else {})
        page = reach("GET", "/tasks", query)["tasks"]
        found += page
        if len(page) < size:
            break
    return found


def tasks(*, all: bool = False, limit: int = 50, json: bool = False) -> None:  # noqa: A002 - the option's name
    """List current and past tasks. Each message is a task, from its acceptance until its answer.

    Parameters
    ----------
    all:
        Include ended tasks.
    limit:
        Show at most this many tasks, newest first; 0 shows every task.
    json:
        Print JSON.
    """
    if limit < 0:
        raise InvalidRequest(translatable("--limit {limit} is not a number of tasks; 0 means all", limit=limit))
    found = _newest(limit + 1 if limit else math.inf, ended=all)
    seen = {"tasks": found[: limit or None]}
    if printed_json(seen, json):
        return
    print_table(
        (_("id"), _("since"), _("state"), _("message")),
        [(task["id"], when(task["created"]), state(task["state"]), _about(task)) for task in seen["tasks"]],
        _("No tasks yet.") if all else _("No open tasks; `hob tasks --all` shows ended ones."),
    )
    if len(found) > len(seen["tasks"]):
        print(paint(_("Older tasks are left out; --limit 0 shows every task."), "dim"))
    if kept := kept_without_model():
        print(paint(kept, "yellow"))


def _about(task: Mapping[str, Any]) -> str:
    why = status_word(task["reason"]) if task["reason"] else _(WAITS_WORDS.get(task["waits_for"], ""))
    return line(task["title"], 60) + (f"  [{why}]" if why else "")
