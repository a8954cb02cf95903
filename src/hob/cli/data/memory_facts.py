"""`hob memory facts` and `goals`."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import Parameter

from hob.app.daemon.daemon_client import reach
from hob.cli.data.memory_output import Json
from hob.cli.dates_and_figures import parse_time, when
from hob.cli.output import line, paint, printed_json
from hob.cli.translating import _
from hob.core.errors import InvalidRequest
from hob.core.translation.fact_words import render_fact_for_owner

_ID = re.compile(r"[0-9a-f]{6,32}")
_END = "T23:59:59"
FactId = Annotated[str, Parameter(help="The fact's id, or the beginning of it, as `hob memory facts` shows it.")]


def facts(*, as_of: Annotated[str, Parameter(help="As Hob knew them on this day (YYYY-MM-DD).")] = "",
          at: Annotated[str, Parameter(help="Facts that held on this day (YYYY-MM-DD).")] = "",
          past: Annotated[bool, Parameter(name="--all", help="Also facts that held once.")] = False,
          json: Json = False) -> None:  # fmt: skip
    """List what Hob knows as facts, with the words they were taken from."""
    wanted = {"known_at": _parse_day(as_of, _END), "valid_at": _parse_day(at, _END), "past": "true" if past else ""}
    seen = reach("GET", "/memory/facts", {name: value for name, value in wanted.items() if value})
    if printed_json(seen, json):
        return
    if not seen["facts"]:
        print(_("No facts learned from conversations yet."))
    for fact in seen["facts"]:
        _show_fact(fact)
    if seen["facts"]:
        told = _("`hob memory correct ID RIGHT` corrects a fact; `hob memory undo ID` undoes its last change.")
        print(paint(told, "dim"))
    print(paint(_("`hob memory search --layer fact` shows the notes you asked Hob to keep."), "dim"))


def correct(
    id: FactId,
    right: Annotated[str, Parameter(help="What is true instead, e.g. Rome.")] = "",
    *,
    json: Json = False,
) -> None:
    """Correct a fact. Without RIGHT, the fact just no longer counts as true."""
    _settle({"id": id, "action": "correct", "object": right}, json=json)


def confirm_fact(id: FactId, *, json: Json = False) -> None:
    """Confirm a fact that Hob is not sure of."""
    _settle({"id": id, "action": "confirm"}, json=json)


def undo(id: FactId, *more: Annotated[str, Parameter(help="Further facts.")], json: Json = False) -> None:
    """Undo the change that recorded a fact; the fact before it holds again."""
    for each in (id, *more):
        _settle({"id": each, "action": "undo"}, json=json)


def goals(*, closed: Annotated[bool, Parameter(name="--all", help="Also goals that are done or dropped.")] = False,
          json: Json = False) -> None:  # fmt: skip
    """List your goals with their progress; a goal without news for a week is stalled."""
    seen = reach("GET", "/memory/goals", {"closed": "true"} if closed else {})
    if printed_json(seen, json):
        return
    if not seen["goals"]:
        print(_("No goals yet; `hob memory goal TEXT` keeps one."))
    for each in seen["goals"]:
        _show_goal(each)


def goal(text: str, *, due: Annotated[str, Parameter(help="By this day (YYYY-MM-DD).")] = "",
         state: Annotated[str, Parameter(help="open, done or dropped.")] = "",
         note: Annotated[str, Parameter(help="What shows how far it has come.")] = "",
         json: Json = False) -> None:  # fmt: skip
    """Keep a goal, or change the one whose id is given.

    Parameters
    ----------
    text:
        What you want to reach; or the beginning of a goal's id.
    """
    if not text.strip():
        raise InvalidRequest(_("the text is empty"))
    known = bool(state or note or _ID.fullmatch(text))
    fields = {"id" if known else "text": text, "state": state, "note": note}
    fields = {name: value for name, value in fields.items() if value}
    done = reach("POST", "/memory/goals", {**fields, **({"due": _parse_day(due)} if due else {})})
    if not printed_json(done, json):
        _show_goal(done)


def _parse_day(day: str, end: str = "") -> float:
    """Parse a day or time; with `end`, a day without a time means its end."""
    try:
        whole = len(day) == len("2026-11-22")
        return parse_time(day + end if whole else day) if day else 0.0
    except ValueError:
        raise InvalidRequest(_("{day} is not a date; write it as 2026-11-22", day=day)) from None


def _settle(fields: Mapping[str, Any], *, json: bool) -> None:
    done = reach("POST", "/memory/facts", fields)
    if printed_json(done, json):
        return
    for fact in done["after"]:
        _show_fact(fact)
    if not done["after"]:
        print(_("No longer known: {fact}", fact=_fact_text(done["before"])))


def _show_fact(fact: Mapping[str, Any]) -> None:
    days = [(_("since {day}"), fact["valid_from"]), (_("until {day}"), fact["valid_to"])]
    told = [text.format(day=when(at)[:10]) for text, at in days if at is not None]
    if fact["state"] == "asked":
        told.append(paint(_("not sure: hob memory confirm {id}", id=fact["id"][:12]), "yellow"))
    if against := [each[:12] for each in fact["contradicts"]]:
        told.append(paint(_("contradicts {ids}", ids=", ".join(against)), "yellow"))
    told.append(_("said {day}", day=when(fact["said_at"])))
    quote = f" \u201c{line(fact['quote'], 80)}\u201d" if fact["quote"] else ""
    print(f"{paint(fact['id'][:12], 'dim')}  {_fact_text(fact)}  [{', '.join(told)}]{quote}")


def _fact_text(fact: Mapping[str, Any]) -> str:
    return line(_(render_fact_for_owner(fact["subject"], fact["predicate"], fact["object"])), 120)


def _show_goal(goal: Mapping[str, Any]) -> None:
    due = [_("due {day}", day=when(goal["due"])[:10])] if goal["due"] is not None else []
    state = paint(_(goal["state"]), "yellow" if goal["state"] == "stalled" else "dim")
    trust = [] if goal["trust"] == "trusted" else [paint(_("untrusted"), "yellow")]
    print(f"{paint(goal['id'][:12], 'dim')}  {line(goal['text'], 120)}  [{', '.join([state, *due, *trust])}]")
    for note in goal["evidence"]:
        print(f"    {when(note['at'])[:10]}  {line(note['text'], 120)}")
