"""`hob approvals`: open requests, answers, and approvals for more than one call."""

import sys
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from cyclopts import App, Parameter

from hob.app.daemon.daemon_client import reach
from hob.cli.conversation.questions import coloured_lines, show_approval, subject_of
from hob.cli.daemon_requests import USAGE, answered, perform
from hob.cli.dates_and_figures import when
from hob.cli.output import line, paint, print_table, printable, printed_json, session_name
from hob.cli.translating import _, terminal_language
from hob.config.environment import find_home, process_environment
from hob.core.translation.code_words import APPROVAL_WORDS

app = App(name="approvals", help="Show and answer requests for approval.")

Id = Annotated[str, Parameter(help="The id of the question, as `hob approvals` shows it.")]
Json = Annotated[bool, Parameter(help="Print JSON.")]


@app.default
@app.command(name="list")
def list_(*, json: Json = False) -> None:
    """List open requests for approval, oldest first."""

    seen = reach("GET", "/approvals")
    if printed_json(seen, json):
        return
    print_table(
        (_("id"), _("asked"), _("conversation"), _("what Hob wants to do, and why it asks")),
        [
            ((each["id"], "bold"), when(each["asked"]), session_name(each["session"], 30), _about(each))
            for each in seen["approvals"]
        ],
        _("Nothing waits for your approval."),
    )
    if seen["approvals"]:
        print(_("`hob approvals show ID` shows all of one."))


@app.command
def show(id: Id, *, json: Json = False) -> None:
    """Show one request for approval in full, and its outcome."""

    seen = reach("GET", f"/approvals/{quote(id, safe='')}")
    if printed_json(seen, json):
        return
    show_approval(seen, sys.stdout)
    told = _("{id} in {session}: {state}{note}")
    if seen["state"] == "open":
        told = _("{id} in {session}: {state} since {asked}; you can allow it: {scopes}")
    elif seen["answered"]:
        told = _("{id} in {session}: {state} by {by}, {answered}{note}")
    note = f", {seen['note']}" if seen["note"] else ""
    times = {"asked": when(seen["asked"]), "answered": when(seen["answered"] or 0)}
    codes = (seen["state"], seen["by"], *seen["scopes"])
    state, by, *scopes = (_(APPROVAL_WORDS.get(each, each)) for each in codes)
    words = {"note": note, "state": state, "by": by, "scopes": ", ".join(scopes)}
    print(printable(told.format_map({**seen, **times, **words, "session": session_name(seen["session"])})))


@app.command
def allow(
    id: Id,
    *,
    session: Annotated[bool, Parameter(help="Exactly this, in this conversation, from now on.")] = False,
    always: Annotated[bool, Parameter(help="Exactly this, everywhere, from now on.")] = False,
    json: Annotated[bool, Parameter(help="Print the turn's whole result as JSON.")] = False,
) -> int:
    """Say yes, and follow the waiting turn to its end. Without a daemon, this command runs it."""
    if session and always:
        print(_("say --session or --always, not both"), file=sys.stderr)
        return USAGE
    return _answer(id, allowed=True, scope="always" if always else "session" if session else "once", json=json)


@app.command
def deny(id: Id, *, json: Annotated[bool, Parameter(help="Print the turn's whole result as JSON.")] = False) -> int:
    """Say no, and follow the waiting turn to its end."""
    return _answer(id, allowed=False, scope="once", json=json)


@app.command
def grants(*, json: Json = False) -> None:
    """List approvals that hold for more than one call."""

    seen = reach("GET", "/grants")
    if printed_json(seen, json):
        return
    print_table(
        (_("id"), _("given"), _("tool"), _("where it holds")),
        [
            (
                (each["id"], "bold"),
                when(each["given"]),
                line(each["tool"], 30),
                _("in {session}", session=session_name(each["session"])) if each["session"] else _("everywhere"),
            )
            for each in seen["grants"]
        ],
        _("No approval holds for more than one call."),
    )
    if seen["grants"]:
        print(_("`hob approvals show ID` shows what was allowed."))


@app.command
def revoke(id: Id) -> None:
    """Withdraw an approval that holds for more than one call."""

    reach("DELETE", f"/grants/{quote(id, safe='')}")
    print(_("{id} does not hold any more", id=id))


def _about(approval: Mapping[str, Any]) -> str:
    first, _colour = next(coloured_lines(approval, terminal_language()))
    return f"{line(subject_of(approval), 100)}\n{paint(f'  {line(first, 110)}', 'dim')}"


def _answer(id: str, *, allowed: bool, scope: str, json: bool) -> int:
    return perform(find_home(process_environment()), answered(id, allowed=allowed, scope=scope), json=json)
