"""`hob erase`: forget a person."""

from collections.abc import Mapping
from typing import Any

from hob.app.daemon.daemon_client import reach
from hob.cli.output import confirm, line, paint, print_json


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
    fields = {"person": person}
    seen = reach("POST", "/people/erase", {**fields, "preview": True})
    if json and not yes:
        print_json(seen)
        return 0
    if not json:
        _show(seen)
    if not yes and not confirm("Erase all of this for ever?", "Nothing was erased."):
        return 1
    done = reach("POST", "/people/erase", fields, timeout=600)
    if json:
        print_json(done)
    else:
        print(paint(f"Erased: {counted(done['erased'], 'piece')}.", "green"))
        _show_left(done["left"])
    return 0


_COPIES = {
    "erased": "erased too in this copy of the database",
    "deleted": "deleted, because nothing can be erased in this copy of the database",
}


def counted(count: int, word: str) -> str:
    """A number with its word, in the plural where it is not one."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def _show(seen: Mapping[str, Any]) -> None:
    called = f" ({line(seen['name'], 60)})" if seen["name"] else ""
    who = f"{seen['person']}{called}" if seen["person"] else "somebody unknown"
    print(f"{paint(who, 'bold')}: {line(', '.join(seen['addresses']), 200)}")
    if seen["messages"]:
        where, answers = counted(seen["conversations"], "conversation"), counted(seen["turns"], "answer")
        print(f"  {counted(seen['messages'], 'message')} in {where}, with {answers}")
    else:
        print("  no message of theirs is left")
    for kind in ("memories", "notes"):
        if seen[kind]:
            one = len(seen[kind]) == 1
            what = {"memories": "memory", "notes": "note"}[kind] if one else kind
            print(f"  {len(seen[kind])} {what} that name{'s' if one else ''} them:")
            for text in seen[kind][:10]:
                print(f"    {line(text, 100)}")
    for how, told in _COPIES.items():
        for file in seen["copies"][how]:
            print(f"  {told}: {line(file, 200)}")


def _show_left(left: Mapping[str, Any]) -> None:
    print("What is left:")
    print(f"  {counted(left['events'], 'event')} of the timeline: ids, sender, times and costs, without a text")
    for session, count in left["mentions"].items():
        names = "names" if count == 1 else "name"
        print(f"  {counted(count, 'message')} of others that {names} them in {line(session, 60)}")
    if left["sessions"]:
        print("  conversations whose own names name them, empty or not; no command renames such a key:")
        for session in left["sessions"]:
            print(f"    {line(session, 120)}")
    if left["backups"]:
        print(f"  {counted(len(left['backups']), 'earlier backup')}, erased again when restored; a file holds all:")
        for file in left["backups"]:
            print(f"    {line(file, 120)}")
    print("  the workspace and your own copies, which were not searched; the audit log holds hashes alone")
