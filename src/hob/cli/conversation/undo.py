"""`hob undo`: restore files that a turn changed."""

from collections.abc import Mapping
from typing import Any

from hob.app.daemon.daemon_client import reach
from hob.app.home import make_home
from hob.cli.output import line, paint, print_json, printable
from hob.cli.translating import _
from hob.config.environment import find_home, process_environment

_WIDTH = 4_096  # paths are never cut


def undo(id: str = "", /, *, session: str = "", preview: bool = False, json: bool = False) -> int:
    """Restore files that a turn changed, never over a later change.

    Parameters
    ----------
    id:
        A turn or message (`hob tasks --all` shows them); prefix `undo:` to redo what you undid. By default the
        newest turn of the conversation that changed files and is not undone.
    session:
        The conversation whose newest turn is undone; by default the one that `hob ask` continues.
    preview:
        Only show what would change.
    json:
        Print JSON.
    """
    home = find_home(process_environment())
    make_home(home)
    fields = {"id": id, "session": session, "preview": preview}
    seen = reach("POST", "/undo", fields)
    if json:
        print_json(seen)
    elif preview:
        _show_preview(seen)
    else:
        _show(seen)
    return 0 if preview or not seen["kept"] else 1


def _show(seen: Mapping[str, Any]) -> None:
    """Print what was restored and what was not."""
    words = line(seen["words"]) or seen["turn"]
    if seen["restored"]:
        print(_("Undone, as it was before “{words}”:", words=words))
    elif not seen["kept"]:
        print(_("All files are as they were before “{words}”.", words=words))
    for path in seen["restored"]:
        print(f"  {paint(line(path, _WIDTH), 'green')}")
    if seen["kept"]:
        print(_("Left as they are:"))
    for each in seen["kept"]:
        print(f"  {paint(line(each['path'], _WIDTH), 'yellow')}: {_(each['reason'])}")
    if seen["running"]:
        print(
            _(
                "Still running in the background, and able to change files again: {programs}",
                programs=line(", ".join(seen["running"])),
            )
        )
    if seen["restored"]:
        print(paint(_("`hob undo {id}` reverts this.", id=seen["back"]), "dim"))


def _show_preview(seen: Mapping[str, Any]) -> None:
    """Print the differences in colours."""
    if not seen["diff"]:
        print(_("All files are as they were before “{words}”.", words=line(seen["words"]) or seen["turn"]))
    for each in printable(seen["diff"]).splitlines():
        print(paint(each, _colour(each)))


def _colour(text: str) -> str:
    if text.startswith(("+++", "---", "@@")):
        return "cyan" if text.startswith("@@") else "bold"
    if text.startswith("#"):
        return "yellow"
    return {"+": "green", "-": "red"}.get(text[:1], "")
