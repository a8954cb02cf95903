"""`hob audit`: decisions, approvals and refusals, and the log's integrity."""

import json as json_text
from collections.abc import Mapping, Sequence

from cyclopts import App

from hob.cli.dates_and_figures import when
from hob.cli.output import Cell, line, paint, print_json, print_table
from hob.cli.translating import _, ngettext
from hob.config.environment import find_home, process_environment
from hob.core.translation.code_words import APPROVAL_WORDS, CLASS_WORDS
from hob.core.translation.language import translatable
from hob.guard.audit.entries import AuditKind
from hob.guard.policy.rule_names import describe_rule
from hob.store.audit.audit import AuditRow, show_audit, verify_audit

app = App(
    name="audit",
    help="Show the audit log, and verify that it is complete.",
    result_action="return_value",
)
KIND_WORDS: Mapping[str, str] = {
    AuditKind.DECISION: translatable("decision"),
    AuditKind.APPROVAL: translatable("approval"),
    AuditKind.AUTHENTICATION: translatable("login"),
    AuditKind.ADMISSION: translatable("admission"),
    AuditKind.RATE: translatable("rate limit"),
    AuditKind.SCAN: translatable("check of texts"),
    AuditKind.ACTION: translatable("action"),
    AuditKind.AUDIT: translatable("audit log"),
}
OUTCOME_WORDS: Mapping[str, str] = {
    "allow": translatable("allowed"),
    "ask": translatable("needs your approval"),
    "deny": translatable("refused"),
    "denied": translatable("refused"),
    "granted": translatable("approved"),
    "open": translatable("waiting"),
    "used": translatable("used"),
    "expired": translatable("expired"),
    "done": translatable("done"),
    "failed": translatable("failed"),
    "void": translatable("no longer valid"),
    "wrong": translatable("wrong key"),
    "too_often": translatable("too often"),
    "turned_away": translatable("turned away"),
    "block": translatable("blocked"),
    "flag": translatable("flagged"),
    "broken": translatable("broken"),
}
"""Outcomes in words; --json has the stored codes."""
DETAIL_WORDS: Mapping[str, str] = {
    "requester": translatable("asked by"),
    "by": translatable("answered by"),
    "scope": translatable("holds"),
}
"""Names of details, in words."""
_BAD = frozenset({"deny", "denied", "wrong", "too_often", "turned_away", "block", "broken"})
_FOR_PROGRAMS = frozenset({"call", "hash"})
_PLAIN = frozenset({"id", "reason", "note", "who", "target", "findings"})


@app.command
def verify(*, head: str | None = None, json: bool = False) -> int:
    """Check that no entry was changed or removed; works while Hob runs. Exit status 1 if one was.

    Parameters
    ----------
    head:
        The head (number and hash of the last entry) that `hob audit verify` printed earlier: that entry must still
        exist.
    json:
        Print JSON.
    """
    checked = verify_audit(find_home(process_environment()), head)
    if json:
        print_json(
            {
                "whole": checked.whole,
                "count": checked.head.count,
                "head": str(checked.head),
                "erased": checked.erased,
                "breaks": list(checked.breaks),
                "problems": list(checked.problems),
            }
        )
        return 0 if checked.whole else 1
    for problem in checked.problems:
        print(f"{paint(_('changed'), 'red')}  {_(problem)}")
    for seq in checked.breaks:
        told = _("entry {seq} tells of a loss, e.g. that an older backup was put in place")
        print(f"{paint(_('note'), 'yellow')}     {told.format(seq=seq)}")
    erased = _(", the details of {count} were erased", count=checked.erased) if checked.erased else ""
    state = _("intact") if checked.whole else _("not as they were written")
    count = checked.head.count
    print(
        ngettext(
            "{count} entry{erased}: {state}", "{count} entries{erased}: {state}", count, erased=erased, state=state
        )
    )
    print(_("last hash {head} (to compare later)", head=checked.head))
    return 0 if checked.whole else 1


@app.default
@app.command
def show(*, limit: int = 50, kind: AuditKind | None = None, json: bool = False) -> None:
    """Show the newest entries, in order of time.

    Parameters
    ----------
    limit:
        Show at most this many entries.
    kind:
        Only entries of this kind.
    json:
        Print JSON.
    """
    rows = show_audit(find_home(process_environment()), max(1, limit), kind or "")
    if json:
        print_json({"entries": [_view(row) for row in rows]})
        return
    names = (_("number"), _("time"), _("kind"), _("what, and how it ended"))
    print_table(names, map(_row, rows), _("No entries yet."), right=(0,))


def _view(row: AuditRow) -> dict[str, str | int | float | None]:
    e = row.entry
    return {
        "seq": row.seq,
        "at": e.at,
        "kind": e.kind,
        "name": e.name,
        "outcome": e.outcome,
        "rule": e.rule,
        "sender": e.sender,
        "turn": e.turn or None,
        "trace_id": e.trace or None,
        "detail": row.detail,
        "hash": row.hash,
    }


def _row(row: AuditRow) -> Sequence[Cell]:
    e = row.entry
    outcome = paint(_(OUTCOME_WORDS.get(e.outcome, e.outcome)), "red" if e.outcome in _BAD else "green")
    detail = paint(_("(erased)"), "dim") if row.detail is None else line(_format_detail(row.detail), 100)
    told = "" if e.rule.startswith("mode.") or not row.detail else line(_(describe_rule(e.rule)), 100)
    rule = paint(f"  {told}", "dim") if told else ""
    kind, sender = _(KIND_WORDS.get(e.kind, e.kind)), _(CLASS_WORDS.get(e.sender, e.sender))
    return str(row.seq), when(e.at), kind, f"{e.name} {outcome}{rule}  {sender}  {detail}"


def _format_detail(detail: str) -> str:
    """Return the details without call ids and hashes, which --json has."""
    try:
        values = json_text.loads(detail)
    except ValueError:
        return detail
    if not isinstance(values, dict):
        return detail
    shown = {name: str(value) for name, value in values.items() if name not in _FOR_PROGRAMS}
    return ", ".join(value if name in _PLAIN else _labelled(name, value) for name, value in shown.items())


def _labelled(name: str, value: str) -> str:
    return f"{_(DETAIL_WORDS.get(name, name))} {_(APPROVAL_WORDS.get(value, value))}"
