"""`hob memory`: search, add to and forget what Hob remembers."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from hob.app.daemon.daemon_client import reach
from hob.cli.data.memory_eval import eval_
from hob.cli.data.memory_facts import confirm_fact, correct, facts, goal, goals, undo
from hob.cli.data.memory_output import Json, Layer, followed, labelled, show_how, show_item, show_problem
from hob.cli.data.memory_upkeep import embedding, export, import_, prune, reindex, reset, show_trusted, stats, trust
from hob.cli.dates_and_figures import in_language, number, when
from hob.cli.output import confirm, line, paint, print_json, printed_json
from hob.cli.translating import _, ngettext
from hob.core.errors import InvalidRequest
from hob.core.translation.code_words import PART_WORDS
from hob.core.translation.language import translatable
from hob.core.trust.labels import Origin
from hob.gateway.memory import MAX_QUOTES

ITEM_LABELS: Mapping[str, str] = {
    "id": translatable("id"),
    "layer": translatable("layer"),
    "source": translatable("source"),
    "speaker": translatable("speaker"),
    "origin": translatable("origin"),
    "trust": translatable("trust"),
    "session": translatable("session"),
    "turn": translatable("turn"),
    "at": translatable("time"),
}
_PATH = re.compile(r"(?:/|~/|\.{1,2}/)\S+")
"""Matches what looks like a path, even if it does not exist."""
_FILE = re.compile(r"(?!\w+://)\S*/\S*\.\w{1,8}")
"""Matches what can only be a path, even if it does not exist."""
app = App(name="memory", help="Search, add to and prune what Hob remembers.")

Query = Annotated[str, Parameter(help="What to look for, in your words.")]
Id = Annotated[str, Parameter(help="The item's id, or the beginning of it, as `hob memory search` shows it.")]
Limit = Annotated[int, Parameter(help="Show at most this many items.")]
Source = Annotated[str, Parameter(help="A source, e.g. tool:web_fetch.")]
From = Annotated[Origin | None, Parameter(help="Where it came from.")]
Since = Annotated[float, Parameter(help="Only items of the last so many hours; 0: all.")]


def _given(**values: Any) -> dict[str, Any]:
    since = values.pop("hours", 0.0)
    if not since >= 0:  # also refuses nan
        raise InvalidRequest(translatable("--hours must be 0 or more"))
    if values.get("limit", 1) < 1:
        raise InvalidRequest(translatable("--limit must be 1 or more"))
    if since:
        import time

        values["since"] = time.time() - since * 3600
    return {name: value for name, value in values.items() if value not in (None, "", 0, 0.0, False)}


@app.command
def search(query: Query = "", *, layer: Layer = "", source: Source = "", origin: From = None, hours: Since = 0.0,
           limit: Limit = 20, json: Json = False) -> None:  # fmt: skip
    """Search memory; without words, show the newest items."""
    seen = reach("GET", "/memory/items", _given(query=query, layer=layer, source=source, origin=origin, hours=hours,
                                                limit=limit))  # fmt: skip
    if printed_json(seen, json):
        return
    show_problem(seen)
    if not seen["items"]:
        print(_("Nothing found."))
    for item in seen["items"]:
        show_item(item)
    if seen["items"]:
        show_how()


@app.command
def why(
    query: Annotated[str, Parameter(help="A message of yours, to see what memory would recall for it.")] = "",
    *,
    turn: Annotated[str, Parameter(help="A turn or one of its messages.")] = "",
    limit: Limit = 5,
    json: Json = False,
) -> None:
    """Show what memory recalled for your newest message, or would for QUERY, and how each score is computed."""
    if query:
        seen = reach("GET", "/memory/items", {"query": query, "limit": limit})
    else:
        seen = reach("GET", "/memory/recalled", {"turn": turn} if turn else {})
    if printed_json(seen, json):
        return
    show_problem(seen)
    if not seen["items"]:
        print(_("Nothing was recalled."))
    for item in seen["items"]:
        if item.get("forgotten"):
            print(_("{id}  forgotten since", id=paint(item["id"], "dim")))
        else:
            show_item(item)
        parts = ", ".join(
            f"{_(PART_WORDS.get(name, name))} {in_language(f'{value:+.2f}')}"
            for name, value in item.get("parts", {}).items()
        )
        print(f"    {number(item.get('score', 0.0), 2)} = {line(parts, 200)}")


@app.command
def show(id: Id, *, json: Json = False) -> None:
    """Show one item in full, with its source."""
    if not id.strip():
        raise InvalidRequest(_("id is empty; `hob memory search` shows the ids"))
    if not id.isalnum():
        raise InvalidRequest(_("{id} is not an id; `hob memory search` shows the ids", id=id))
    item = reach("GET", f"/memory/items/{id}")
    if printed_json(item, json):
        return
    for name, label in ITEM_LABELS.items():
        if item[name]:
            labelled(_(label), when(item[name]) if name == "at" else line(str(item[name]), 120))
    for piece in item["evidence"]:
        labelled(_("evidence"), line(piece, 120))
    print()
    for text in item["text"].split("\n"):
        print(line(text, 2_000))


@app.command
def add(
    text: Annotated[str, Parameter(help="What to remember, or the path of a file or folder.")],
    *,
    mine: Annotated[bool, Parameter(negative="", help="The files are your own: count them as your words.")] = False,
    json: Json = False,
) -> None:
    """Remember a text, a file, or a folder of files, by section; changed files are read again."""
    if not text.strip():
        raise InvalidRequest(_("the text is empty"))
    path = Path(text).expanduser()
    looks = len(text) < 1_000 and "\n" not in text and (bool(_PATH.fullmatch(text)) or path.exists())
    if not looks and _FILE.fullmatch(text):
        raise InvalidRequest(
            _("{path} is not there. Check the path; to remember the name itself, put it into a sentence.", path=text)
        )
    if looks:
        shown = _("files {seen:,}/{of:,}, {new:,} new sections")
        done = followed("/memory/files", {"path": str(path.resolve())}, shown)
        if mine:
            done = {**done, **reach("POST", "/memory/trust", {"source": f"document:{path.resolve()}"}, timeout=600)}
    else:
        done = reach("POST", "/memory/items", {"text": text}, timeout=None)
    if json:
        print_json(done)
    elif looks:
        print(_("Files read: {files}; new sections remembered: {new}.", files=done["files"], new=done["new"]))
        if mine:
            show_trusted(done["changed"])
        elif done["files"]:
            print(
                paint(
                    _(
                        "Untrusted: Hob names it and reads it on demand. If it is your own: hob memory trust {source}",
                        source=line(f"document:{path.resolve()}", 200),
                    ),
                    "dim",
                )
            )
        if count := done["unread"]:
            kinds = ", ".join([kind or _("no ending") for kind in done["kinds"][:5]] + ["…"] * (len(done["kinds"]) > 5))
            told = ngettext(
                "Not read: {count} file of a kind that Hob does not read ({kinds}).",
                "Not read: {count} files of kinds that Hob does not read ({kinds}).",
                count,
                kinds=kinds,
            )
            print(paint(line(told, 200), "yellow"), file=sys.stderr)
            if path.is_symlink():
                print(
                    line(_("{path} is a link to {target}.", path=path, target=path.resolve()), 200),
                    file=sys.stderr,
                )
        for problem in done["problems"]:
            print(f"  {line(problem, 160)}", file=sys.stderr)
    else:
        show_item(done)
        show_how()


@app.command
def forget(id: Id = "", *, layer: Layer = "", source: Source = "", origin: From = None, hours: Since = 0.0,
           said: Annotated[bool, Parameter(help="Include the messages in which it was said or is repeated.")] = False,
           yes: Annotated[bool, Parameter(help="Do not ask.")] = False, json: Json = False) -> int:  # fmt: skip
    """Forget for ever: one item by id, or everything of a source, an origin, a layer or a time."""
    fields = _given(id=id, layer=layer, source=source, origin=origin, hours=hours, said=said)
    seen = reach("POST", "/memory/forget", {**fields, "preview": True})
    if not json or not yes:
        _show_forgotten(seen, json=json)
    if not (seen["items"] or seen["quoted"]) or (
        not yes and (json or not confirm(_("Forget this for ever?"), _("Nothing was forgotten.")))
    ):
        return 0 if json else 1
    done = reach("POST", "/memory/forget", fields, timeout=600)
    if not printed_json(done, json):
        print(paint(ngettext("Forgotten: {count} piece.", "Forgotten: {count} pieces.", done["erased"]), "green"))
        if done["quoted"]:
            print(ngettext("{count} message still repeats it", "{count} messages still repeat it", done["quoted"]))
            if id and not said and done["quoted"] <= MAX_QUOTES:
                print(_("To erase that too: hob memory forget {id} --said", id=seen["items"][0]["id"][:12]))
    return 0


def _show_forgotten(seen: Mapping[str, Any], *, json: bool) -> None:
    if printed_json(seen, json):
        return
    for item in seen["items"][:20]:
        show_item(item)
    if seen["count"] > 20:
        print(_("… and {count} more", count=number(seen["count"] - 20, 0)))
    if not seen["items"] and not seen["quoted"]:
        print(_("Nothing found."))
    if seen["turns"]:
        print(
            ngettext(
                "and the turn in which it was said", "and the {count} turns in which it was said", len(seen["turns"])
            )
        )
    if quoted := seen["quoted"]:
        print(
            ngettext(
                "{count} other message repeats it; `--said` erases it too, up to 20",
                "{count} other messages repeat it; `--said` erases them too, up to 20",
                quoted,
            )
        )
    if seen["items"]:
        print(paint(_("  backups that you keep elsewhere may hold it too; restoring one erases it again"), "dim"))
    for file in seen["backups"]:
        print(_("  this backup may still hold it; restoring it erases it again: {file}", file=line(file, 120)))


for command in (facts, correct, undo, goals, goal, stats, embedding, reindex, prune, reset, trust, export):
    app.command(command)
app.default(stats)
app.command(confirm_fact, name="confirm")
app.command(import_, name="import")
app.command(eval_, name="eval")
