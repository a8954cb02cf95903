"""`hob tasks`: messages and what became of them."""

from collections.abc import Mapping

from hob.app.daemon.daemon_client import reach
from hob.cli.conversation.retry import kept_without_model
from hob.cli.dates_and_figures import when
from hob.cli.output import line, paint, print_head, printed_json, state, status_word
from hob.cli.translating import _
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
"""What a waiting task waits for."""


def tasks(*, all: bool = False, limit: int = 50, json: bool = False) -> None:  # noqa: A002 - the option's name
    """List current and past tasks: each message is one, from when it is accepted until its answer is there.

    Parameters
    ----------
    all:
        Include ended tasks.
    limit:
        Show at most this many tasks, newest first.
    json:
        Print JSON.
    """

    query = {"limit": str(limit)} | ({"all": "1"} if all else {})
    seen = reach("GET", "/tasks", query)
    if printed_json(seen, json):
        return
    if not seen["tasks"]:
        print(_("No open tasks; `hob tasks --all` shows ended ones.") if not all else _("No tasks yet."))
    else:
        print_head((_("id"), 16), (_("since"), 19), (_("state"), 13), (_("message"), 0))
    for task in seen["tasks"]:
        why = status_word(task["reason"]) if task["reason"] else _(WAITS_WORDS.get(task["waits_for"], ""))
        reason = f"  [{why}]" if why else ""
        print(f"{task['id']}  {when(task['created'])}  {state(task['state'], 13)}  {line(task['title'], 60)}{reason}")
    if kept := kept_without_model():
        print(paint(kept, "yellow"))
