"""`hob erase`: forget a person."""

import sys
from collections.abc import Mapping
from typing import Any

from hob.app.commands.output import line, paint, print_json
from hob.app.reaching import reach
from hob.config import find_home, process_environment
from hob.core.errors import InvalidRequest


def erase(person: str, *, yes: bool = False, json: bool = False) -> int:
    """Forget a person: all they said, all that came of it, and what is remembered of them. It cannot be undone.

    Parameters
    ----------
    person:
        Their id, as `hob people` tells it, or an address such as telegram:12345.
    yes:
        Do not ask.
    json:
        Print JSON; without --yes only what would be erased.
    """
    home = find_home(process_environment())
    fields = {"person": person}
    seen = reach(
        home, "POST", "/people/erase", {**fields, "preview": True}, lambda app: app.desk.erase(person, preview=True)
    )
    if json and not yes:
        print_json(seen)
        return 0
    if not json:
        _show(seen)
    if not yes:
        if not sys.stdin.isatty():
            raise InvalidRequest("nobody is there to be asked; --yes erases without asking")
        if input("Erase all of this for ever? [y/N] ").strip().lower() not in ("y", "yes"):
            print("Nothing was erased.")
            return 1
    done = reach(home, "POST", "/people/erase", fields, lambda app: app.desk.erase(person, preview=False), timeout=600)
    if json:
        print_json(done)
    else:
        print(paint(f"Erased: {done['erased']} pieces.", "green"))
        _show_left(done["left"])
    return 0


def _show(seen: Mapping[str, Any]) -> None:
    who = f"{seen['person']} ({line(seen['name'], 60)})" if seen["person"] else "somebody unknown"
    print(f"{paint(who, 'bold')}: {line(', '.join(seen['addresses']), 200)}")
    print(f"  {seen['messages']} messages in {seen['conversations']} conversations, with {seen['turns']} answers")
    for kind in ("memories", "notes"):
        if seen[kind]:
            print(f"  {len(seen[kind])} {kind} that name them:")
            for text in seen[kind][:10]:
                print(f"    {line(text, 100)}")


def _show_left(left: Mapping[str, Any]) -> None:
    print("What is left:")
    print(f"  {left['events']} events of the timeline: ids, sender, times and costs, without a text")
    for session, count in left["mentions"].items():
        print(f"  {count} messages of others that name them in {line(session, 60)}")
    if left["backups"]:
        print(f"  {len(left['backups'])} earlier backups; a restored one is erased again, but its file holds all:")
        for file in left["backups"]:
            print(f"    {line(file, 120)}")
    print("  the workspace and your own copies, which were not searched; the audit log holds hashes alone")
