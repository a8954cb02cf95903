"""`hob sessions`: list and manage conversations."""

import time
from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import App, Parameter

from hob.app.daemon.daemon_client import reach
from hob.cli.dates_and_figures import age, when
from hob.cli.output import confirm, line, paint, print_table, printable, printed_json, session_name, width_of_screen
from hob.cli.translating import _, ngettext
from hob.core.money import MICRO, price
from hob.core.translation.code_words import ROLE_WORDS
from hob.core.translation.language import translatable

app = App(name="sessions", help="List, show, rename, pause and delete conversations.")

_MIN_TITLE = 12
_BESIDE_TITLE = 33
STANDING_WORDS: Mapping[str, str] = {"paused": translatable("paused"), "archived": translatable("archived")}
"""States of conversations, by the field that marks them."""

Session = Annotated[str, Parameter(help="The name in the terminal, e.g. main, or the whole key, e.g. telegram::12345.")]
Json = Annotated[bool, Parameter(help="Print JSON.")]


@app.default
@app.command(name="list")
def list_(
    *, archived: Annotated[bool, Parameter(help="List archived conversations instead.")] = False, json: Json = False
) -> None:
    """List conversations, the latest first."""

    seen = reach("GET", "/sessions", {"archived": "1"} if archived else {})
    if printed_json(seen, json):
        return
    now, columns = time.time(), width_of_screen()
    names = [session_name(each["session"]) for each in seen["sessions"]]
    room = max(_MIN_TITLE, min(60, columns - max(map(len, (*names, _("conversation")))) - _BESIDE_TITLE))
    paused = paint(f"  {_(STANDING_WORDS['paused'])}", "yellow")
    print_table(
        (_("conversation"), _("idle for"), _("entries"), _("title")),
        [
            (
                (name, "bold"),
                age(max(0.0, now - each["updated"])),
                str(each["entries"]),
                line(each["title"], room) + (paused if each["paused"] else ""),
            )
            for name, each in zip(names, seen["sessions"], strict=True)
        ],
        _("No conversation is archived.") if archived else _("No conversations yet; `hob` starts one."),
        right=(1, 2),
    )
    if names:
        print(paint(_("Entries are messages, answers and tools' results."), "dim"))


@app.command
def show(session: Session = "", *, json: Json = False) -> None:
    """Show a conversation: its rules, spending and last messages."""

    seen = reach("GET", "/sessions/show", {"session": session})
    if printed_json(seen, json):
        return
    print(f"{paint(session_name(seen['session']), 'bold')}  {line(seen['title'], 100)}")
    state = [_(word) for name, word in STANDING_WORDS.items() if seen[name]]
    print(
        _(
            "model: {model}; entries: {entries}; messages waiting: {waiting}",
            model=seen["model"] or _("as configured"),
            entries=seen["entries"],
            waiting=seen["waiting"],
        ),
        *state,
        sep=", ",
    )
    print(
        ngettext(
            "{cost} in {count} call, last used {updated}",
            "{cost} in {count} calls, last used {updated}",
            seen["calls"],
            cost=_(price(round(seen["cost_usd"] * MICRO))),
            updated=when(seen["updated"]),
        )
    )
    for entry in seen["last"]:
        role = paint(_(ROLE_WORDS[entry["role"]]).ljust(9), "cyan")
        print(f"  {role} {line(entry['text'], min(100, width_of_screen() - 12))}")


@app.command
def rename(session: Session, title: Annotated[str, Parameter(help="The new name.")]) -> None:
    """Give a conversation a title."""
    changed = _change(session, title=title)
    print(_("{session} is now titled {title}", session=_short(changed["session"]), title=printable(changed["title"])))


@app.command
def pause(session: Session) -> None:
    """Pause a conversation: new messages wait."""
    name = _short(_change(session, paused=True)["session"])
    print(_("{session} is paused; `hob sessions resume {session}` continues it", session=name))


@app.command
def resume(session: Session) -> None:
    """Let a paused conversation continue."""
    print(_("{session} continues", session=_short(_change(session, paused=False)["session"])))


@app.command
def archive(session: Session, *, back: Annotated[bool, Parameter(help="Restore it instead.")] = False) -> None:
    """Archive a conversation: it is kept but no longer listed."""
    print(
        _(
            "{session} is restored" if back else "{session} is archived",
            session=_short(_change(session, archived=not back)["session"]),
        )
    )


@app.command
def fork(
    session: Session = "",
    *,
    before: Annotated[int, Parameter(help="Copy only the entries before this place; 0: all.")] = 0,
    json: Json = False,
) -> None:
    """Copy a conversation into a new one; the original stays as it is."""
    made = reach("POST", "/sessions/fork", {"session": session, "before": before or None})
    if not printed_json(made, json):
        print(
            _(
                "{session} is a copy of {of} with {copied} entries",
                session=_short(made["session"]),
                of=_short(made["of"]),
                copied=made["copied"],
            )
        )


@app.command
def delete(session: Session, *, yes: Annotated[bool, Parameter(help="Do not ask.")] = False, json: Json = False) -> int:
    """Erase a conversation permanently; its cost stays in the totals."""
    if not yes and not confirm("Erase all of this for ever?", "Nothing was erased.", about=lambda: show(session)):
        return 1

    done = reach("POST", "/sessions/delete", {"session": session})
    if not printed_json(done, json):
        print(_("{session} is deleted: {erased} pieces", session=_short(done["session"]), erased=done["erased"]))
    return 0


def _short(key: str) -> str:
    return printable(key).removeprefix("local:")


def _change(session: str, title: str | None = None, paused: bool | None = None, archived: bool | None = None) -> Any:

    fields = {"session": session, "title": title, "paused": paused, "archived": archived}
    return reach("POST", "/sessions/change", fields)
