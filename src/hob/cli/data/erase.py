"""`hob erase`: forget a person."""

from collections.abc import Mapping, Sequence
from typing import Any

from hob.app.daemon.daemon_client import reach
from hob.cli.output import confirm, line, paint, print_json, printed_json
from hob.cli.translating import _, ngettext
from hob.core.translation.language import translatable


def erase(person: str, *, yes: bool = False, json: bool = False) -> int:
    """Forget a person: everything they said, what resulted from it, and what is remembered of them. Cannot be undone.

    Parameters
    ----------
    person:
        The person's id, as `hob people` shows it, or an address such as telegram:12345.
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
    if not printed_json(done, json):
        print(paint(ngettext("Erased: {count} piece.", "Erased: {count} pieces.", done["erased"]), "green"))
        _show_left(done["left"])
    return 0


_COPIES = {
    "erased": translatable("erased too in this copy of the database"),
    "deleted": translatable("deleted, because nothing can be erased in this copy of the database"),
}


def _show(seen: Mapping[str, Any]) -> None:
    called = f" ({line(seen['name'], 60)})" if seen["name"] else ""
    who = f"{seen['person']}{called}" if seen["person"] else _("an unknown person")
    print(f"{paint(who, 'bold')}: {line(', '.join(seen['addresses']), 200)}")
    if seen["messages"]:
        told = _(
            "{messages} in {conversations}, with {answers}",
            messages=ngettext("{count} message", "{count} messages", seen["messages"]),
            conversations=ngettext("{count} conversation", "{count} conversations", seen["conversations"]),
            answers=ngettext("{count} answer", "{count} answers", seen["turns"]),
        )
        print(f"  {told}")
    else:
        print(f"  {_('none of their messages is left')}")
    _show_texts(
        ngettext("{count} memory names them:", "{count} memories name them:", len(seen["memories"])), seen["memories"]
    )
    _show_texts(ngettext("{count} note names them:", "{count} notes name them:", len(seen["notes"])), seen["notes"])
    for how, told in _COPIES.items():
        for file in seen["copies"][how]:
            print(f"  {_(told)}: {line(file, 200)}")


def _show_texts(title: str, texts: Sequence[str]) -> None:
    if texts:
        print(f"  {title}")
    for text in texts[:10]:
        print(f"    {line(text, 100)}")


def _show_left(left: Mapping[str, Any]) -> None:
    print(_("What is left:"))
    events = ngettext(
        "{count} event of the timeline: ids, sender, times and costs, without a text",
        "{count} events of the timeline: ids, sender, times and costs, without a text",
        left["events"],
    )
    print(f"  {events}")
    for session, count in left["mentions"].items():
        told = ngettext(
            "{count} message of others in {session} names them",
            "{count} messages of others in {session} name them",
            count,
            session=line(session, 60),
        )
        print(f"  {told}")
    if left["sessions"]:
        print(f"  {_('conversations whose own key names them, empty or not; no command renames such a key:')}")
        for session in left["sessions"]:
            print(f"    {line(session, 120)}")
    if left["backups"]:
        backups = ngettext(
            "{count} earlier backup, erased again when restored; the file still holds everything:",
            "{count} earlier backups, erased again when restored; each file still holds everything:",
            len(left["backups"]),
        )
        print(f"  {backups}")
        for file in left["backups"]:
            print(f"    {line(file, 120)}")
    unsearched = _(
        "the workspace, files of MCP servers, a log of the level debug and your own copies, which were not searched;"
        " the audit log holds only hashes"
    )
    print(f"  {unsearched}")
