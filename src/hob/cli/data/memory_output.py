"""Output of items, problems and progress for `hob memory`."""

import sys
from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import Parameter

from hob.app.daemon.daemon_client import reach_long
from hob.cli.dates_and_figures import when
from hob.cli.output import ProgressLine, line, paint
from hob.cli.translating import _

Json = Annotated[bool, Parameter(help="Print JSON.")]
Layer = Annotated[str, Parameter(help="One layer, as `hob memory stats` names them, e.g. conversation.")]


def labelled(label: str, text: str) -> None:
    """Print a labelled line."""
    print(f"{paint(label.ljust(12), 'dim')} {text}")


def followed(route: str, fields: Mapping[str, Any], shown: str) -> Mapping[str, Any]:
    """Return the last answer, showing the progress meanwhile."""
    progress = ProgressLine()
    try:
        return reach_long(route, fields, lambda step: progress.show(shown.format(**step)))
    finally:
        progress.end()


def show_problem(seen: Mapping[str, Any]) -> None:
    """Print on standard error which means of search were unavailable."""
    if problem := seen.get("problem"):
        told = _("By words alone; the embedder failed: {problem}", problem=line(problem, 300))
        print(paint(told, "red"), file=sys.stderr)
    if problem := seen.get("unassisted"):
        told = _("In Hob's own order; no model helped: {problem}", problem=line(problem, 300))
        print(paint(told, "yellow"), file=sys.stderr)


def show_how() -> None:
    """Print how to see an item in full."""
    print(paint(_("`hob memory show ID` shows all of one."), "dim"))


def show_item(item: Mapping[str, Any]) -> None:
    """Print an item as a line: id, beginning, time and source."""
    trust = "" if item["trust"] == "trusted" else f", {paint(_('untrusted'), 'yellow')}"
    where = f"{when(item['at'])}, {line(item['source'], 60)}{trust}"
    print(f"{paint(item['id'][:12], 'dim')}  {line(' '.join(item['text'].split()), 100)}  [{where}]")
