"""`hob import`: import another assistant's data."""

import shlex
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hob.app.imports.assistants import find_assistant, find_here
from hob.app.imports.contents import Assistant
from hob.app.imports.plan import ImportPlan, Item, ItemKind, ItemStatus
from hob.app.imports.run import carry_out, count_new, make_plan
from hob.app.imports.setting_mapping import ELSEWHERE
from hob.cli.output import ProgressLine, confirm, line, paint, print_json
from hob.cli.setup.secrets import notify_daemon
from hob.cli.translating import _, ngettext
from hob.config.environment import find_home, process_environment
from hob.core.errors import NotFound
from hob.core.translation.language import translatable
from hob.workspace.bootstrap import NAMES

_SHOWN = 12
_KINDS: Mapping[ItemKind, str] = {
    ItemKind.FILE: translatable("files"),
    ItemKind.SETTING: translatable("settings"),
    ItemKind.SECRET: translatable("keys"),
    ItemKind.CONVERSATION: translatable("conversations"),
    ItemKind.OTHER: translatable("other"),
}
_MARKS: Mapping[ItemStatus, tuple[str, str]] = {
    ItemStatus.NEW: ("+", "green"),
    ItemStatus.REPLACES: ("+", "green"),
    ItemStatus.DONE: ("✓", "green"),
    ItemStatus.THERE: ("=", "dim"),
    ItemStatus.CONFLICT: ("!", "yellow"),
    ItemStatus.NOT_TAKEN: ("-", "dim"),
    ItemStatus.FAILED: ("✗", "red"),
}
_COLUMNS: Sequence[tuple[str, tuple[ItemStatus, ...]]] = (
    (translatable("to take"), (ItemStatus.NEW, ItemStatus.REPLACES)),
    (translatable("taken"), (ItemStatus.DONE,)),
    (translatable("already here"), (ItemStatus.THERE,)),
    (translatable("conflicts"), (ItemStatus.CONFLICT,)),
    (translatable("not taken"), (ItemStatus.NOT_TAKEN,)),
    (translatable("failed"), (ItemStatus.FAILED,)),
)


def import_(
    assistant: str = "",
    path: Path | None = None,
    /,
    *,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    mine: Annotated[bool, Parameter(negative="")] = False,
    yes: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Import files, conversations and settings of another assistant; without a name, list those found here.

    Nothing is overwritten; running it again imports what is new. Exit status 0: done, or nothing to do; 1: something
    failed, nothing was found, or you said no; 2: wrong use or wrong settings.

    Parameters
    ----------
    assistant:
        openclaw, nanobot, kafclaw, chatgpt or claude.
    path:
        Its folder, a copy of it, or an unpacked export; by default its usual place.
    dry_run:
        Only show what would be imported.
    mine:
        The folder at PATH is your own: also import model addresses and allowed senders.
    yes:
        Do not ask.
    json:
        Print JSON; without --yes only what would be imported.
    """
    if not assistant:
        return _offer(as_json=json)
    chosen = find_assistant(assistant)
    home = find_home(process_environment())
    with ExitStack() as stack:
        plan = make_plan(chosen, path or _usual_place(chosen), process_environment(), Path.home(), stack, mine=mine)
        progress = ProgressLine()
        show = partial(_show_progress, progress)
        only_look = dry_run or (json and not yes)
        if only_look:
            plan = count_new(plan, home, show)
        progress.end()
        if not json:
            _show_plan(plan)
        if not only_look:
            if not yes and plan.open and not confirm("Take this over?"):
                return 1
            plan = carry_out(plan, home, show)
            progress.end()
            if any(item.status is ItemStatus.DONE for item in plan.of(ItemKind.SETTING, ItemKind.SECRET)):
                notify_daemon(home, quiet=json)
    if json:
        print_json({"dry_run": only_look, **plan.as_json()})
    else:
        again = ["hob", "import", chosen.id, *([str(path)] if path else ()), *(["--mine"] if mine else ())]
        _show_end(plan, again=shlex.join(again) if only_look else "")
    return 1 if any(item.status is ItemStatus.FAILED for item in plan.items) else 0


def _show_progress(line: ProgressLine, total: int, done: int, messages: int) -> None:
    line.show(_("conversations {done}/{total}, {messages:,} messages", done=done, total=total, messages=messages))


def _offer(*, as_json: bool) -> int:
    found = list(find_here(process_environment(), Path.home()))
    if as_json:
        print_json({"found": [{"assistant": each.id, "title": each.title, "folder": str(at)} for each, at in found]})
        return 0 if found else 1
    if not found:
        raise NotFound("no other assistant was found here; `hob import openclaw PATH` reads a folder elsewhere")
    for each, folder in found:
        print(
            _(
                "{assistant} in {folder}; `hob import {id}` takes it over",
                assistant=paint(each.title, "bold"),
                folder=line(str(folder), 200),
                id=each.id,
            )
        )
    return 0


def _usual_place(chosen: Assistant) -> Path:
    places = chosen.places(process_environment(), Path.home())
    for place in places:
        if place.is_dir() and chosen.knows(place):
            return place
    names = ", ".join(map(str, places))
    if not names:
        raise NotFound(translatable("say where the unpacked export is: `hob import {id} PATH`", id=chosen.id))
    raise NotFound(
        translatable(
            "there is no {assistant} in {places}; `hob import {id} PATH` reads a folder elsewhere",
            assistant=chosen.title,
            places=names,
            id=chosen.id,
        )
    )


def _show_plan(plan: ImportPlan) -> None:
    print(_("{assistant} in {folder}", assistant=paint(plan.title, "bold"), folder=line(plan.folder, 200)))
    for kind in (ItemKind.FILE, ItemKind.SETTING, ItemKind.SECRET):
        for status in ItemStatus:
            _show_some([item for item in plan.of(kind) if item.status is status])
    _show_left(plan.of(ItemKind.OTHER))
    if conversations := plan.of(ItemKind.CONVERSATION):
        size = sum(getattr(item.what, "size", 0) for item in conversations)
        shown = f", {size / 1_000_000:,.1f} MB" if size >= 100_000 else ""
        told = ngettext(
            "{count} conversation{size}, as history to read",
            "{count} conversations{size}, as history to read",
            len(conversations),
            size=shown,
        )
        print(paint("+", "green"), told)
    print()


def _show_some(items: Sequence[Item]) -> None:
    for item in items if items and items[0].kind is ItemKind.SETTING else items[:_SHOWN]:
        mark, colour = _MARKS[item.status]
        # settings are shown in full: a hidden end could admit a sender
        target = line(item.target, 90 if item.kind is ItemKind.FILE else len(item.target) + 1)
        source = line(item.source, 60 if target else 120)
        name = _("{target} (from {source})", target=target, source=source) if target else source
        text = f"{name}: {line(_(item.why), 160)}" if item.why else name
        print(f"{paint(mark, colour)} {text}")
    if len(items) > _SHOWN and items[0].kind is not ItemKind.SETTING:
        print(_("  … and {count} more; --json lists all", count=len(items) - _SHOWN))


def _show_left(items: Sequence[Item]) -> None:
    """Print the skipped items by reason, beginning with distrusted settings of a foreign folder."""
    sources: dict[str, list[str]] = {}
    for item in sorted(items, key=lambda item: not item.why.endswith(ELSEWHERE)):
        sources.setdefault(item.why, []).append(line(item.source, 120))
    mark, colour = _MARKS[ItemStatus.NOT_TAKEN]
    for why, names in islice(sources.items(), 2 * _SHOWN):
        more = _(" and {count} more", count=len(names) - _SHOWN) if len(names) > _SHOWN else ""
        print(f"{paint(mark, colour)} {', '.join(names[:_SHOWN])}{more}: {line(_(why), 160)}")
    if len(sources) > 2 * _SHOWN:
        print(_("  … and more for {count} other reasons; --json lists all", count=len(sources) - 2 * _SHOWN))


def _show_end(plan: ImportPlan, *, again: str) -> None:
    """Print the outcome, or for a dry run the command that imports."""
    for item in plan.items:
        if item.status is ItemStatus.FAILED or (item.kind is ItemKind.CONVERSATION and item.passed):
            reasons = [_(item.why)] if item.why else []
            reasons += [f"{count} {_(why)}" for why, count in item.passed.items()]
            mark, colour = _MARKS[item.status]
            print(f"{paint(mark, colour)} {line(item.source, 100)}: {line('; '.join(reasons), 200)}")
    _show_table(plan)
    new = sum(item.new for item in plan.items)
    there = sum(item.there for item in plan.items)
    if plan.of(ItemKind.CONVERSATION):
        told = _("{new:,} new messages, {there:,} already here.")
        print((told if again else _("{new:,} messages taken, {there:,} already here.")).format(new=new, there=there))
    if again:
        print(_("Nothing was changed. To take it over: {command}", command=line(again, 400)))
        return
    done = [item for item in plan.items if item.status is ItemStatus.DONE]
    if any(item.kind is ItemKind.FILE and item.target in NAMES for item in done):
        print(_("Hob does not follow what these files say until you have read and accepted them: hob accept"))
    if any(item.kind is ItemKind.CONVERSATION for item in done):
        print(_("The conversations are in `hob sessions`, and in `hob export --all`."))


def _show_table(plan: ImportPlan) -> None:
    counts: dict[str, dict[str, int]] = {
        name: {title: sum(item.status in statuses for item in plan.of(kind)) for title, statuses in _COLUMNS}
        for kind, name in _KINDS.items()
    }
    titles = [title for title, _statuses in _COLUMNS if any(row[title] for row in counts.values())]
    if not titles:
        print(_("It is empty."))
        return
    width = max(14, *(len(_(title)) + 2 for title in titles))
    print(" " * 14 + "".join(_(title).rjust(width) for title in titles))
    for name, row in counts.items():
        if any(row.values()):
            print(_(name).ljust(14) + "".join((str(row[title]) if row[title] else "").rjust(width) for title in titles))
    print()
