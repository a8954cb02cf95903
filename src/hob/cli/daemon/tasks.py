"""`hob tasks`."""

from hob.app.daemon.daemon_client import reach
from hob.cli.language import _
from hob.cli.output import line, print_json, state, when


def tasks(*, all: bool = False, limit: int = 50, json: bool = False) -> None:  # noqa: A002 - the option's name
    """What is being done and what was.

    Parameters
    ----------
    all:
        Ended tasks too.
    limit:
        The most tasks to show, newest first.
    json:
        Print JSON.
    """

    query = {"limit": str(limit)} | ({"all": "1"} if all else {})
    seen = reach("GET", "/tasks", query)
    if json:
        print_json(seen)
        return
    if not seen["tasks"]:
        print(_("No open tasks; `hob tasks --all` shows ended ones.") if not all else _("No tasks yet."))
    for task in seen["tasks"]:
        reason = f"  [{task['reason']}]" if task["reason"] else ""
        print(f"{task['id']}  {when(task['created'])}  {state(task['state'], 9)}  {line(task['title'], 60)}{reason}")
