"""`hob memory`: what Hob remembers."""

import asyncio
import re
import sys
from collections.abc import Mapping
from contextlib import aclosing
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from hob.app.daemon.daemon_client import reach, reach_lines, reach_long
from hob.cli.dates_and_figures import number, when
from hob.cli.output import ProgressLine, confirm, line, paint, print_json, printed_json
from hob.cli.translating import _, ngettext
from hob.core.errors import InvalidRequest
from hob.core.translation.language import translatable
from hob.memory.evaluation import METRICS, EvaluationReport, Score, evaluate, read_labelled
from hob.memory.expertise import Trend

LAYER_WORDS: Mapping[str, str] = {
    "soul": translatable("your files on how Hob should be (SOUL.md, USER.md and others)"),
    "er1": translatable("what the ER1 recorder took down, if you connected one"),
}
"""Layers of which more is to be said than their description."""
TREND_WORDS: Mapping[str, str] = {
    Trend.IMPROVING: translatable("getting better"),
    Trend.DECLINING: translatable("getting worse"),
    Trend.STABLE: translatable("as before"),
}
EMBEDDING_WORDS: Mapping[str, str] = {
    "disabled": translatable("off"),
    "indexing": translatable("takes up what is there"),
    "ready": translatable("ready"),
    "error": translatable("failed"),
}
PART_WORDS: Mapping[str, str] = {
    "words": translatable("words"),
    "coverage": translatable("coverage"),
    "meaning": translatable("meaning"),
    "phrase": translatable("phrase"),
    "session": translatable("session"),
    "speaker": translatable("speaker"),
    "question": translatable("question"),
    "bare question": translatable("bare question"),
    "own past": translatable("own past"),
    "liking": translatable("liking"),
    "assistant": translatable("assistant"),
    "time": translatable("time"),
    "name": translatable("name"),
    "day": translatable("day"),
    "recency": translatable("recency"),
    "importance": translatable("importance"),
}
"""What an item's score is made of."""
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
"""What is meant as one, also where nothing is there."""
_ID = re.compile(r"[0-9a-f]{6,32}")
app = App(name="memory", help="Search, add to and prune what Hob remembers.")

Json = Annotated[bool, Parameter(help="Print JSON.")]
Query = Annotated[str, Parameter(help="What to look for, in your words.")]
Id = Annotated[str, Parameter(help="The item's id, or the beginning of it, as `hob memory search` shows it.")]
FactId = Annotated[str, Parameter(help="The fact's id, or the beginning of it, as `hob memory facts` shows it.")]
Limit = Annotated[int, Parameter(help="Show at most this many items.")]
Layer = Annotated[str, Parameter(help="One layer, as `hob memory stats` names them, e.g. conversation.")]
Source = Annotated[str, Parameter(help="A source, e.g. tool:web_fetch.")]
Origin = Annotated[str, Parameter(help="The origin: owner, model, web, file, mail, mcp, tool.")]
Since = Annotated[float, Parameter(help="Leave out what is older than this many hours; 0 leaves out nothing.")]


def _given(**values: Any) -> dict[str, Any]:
    since = values.pop("hours", 0.0)
    if since:
        import time

        values["since"] = time.time() - since * 3600
    return {name: value for name, value in values.items() if value not in ("", 0, 0.0, False)}


@app.command
def search(query: Query = "", *, layer: Layer = "", source: Source = "", origin: Origin = "", hours: Since = 0.0,
           limit: Limit = 20, json: Json = False) -> None:  # fmt: skip
    """Search memory; without words, show the newest items."""
    seen = reach("GET", "/memory/items", _given(query=query, layer=layer, source=source, origin=origin, hours=hours,
                                                limit=limit))  # fmt: skip
    if printed_json(seen, json):
        return
    _show_problem(seen)
    if not seen["items"]:
        print(_("Nothing is remembered that fits."))
    for item in seen["items"]:
        _show_line(item)


@app.command
def why(query: Query = "", *, turn: Annotated[str, Parameter(help="A turn or one of its messages.")] = "",
        limit: Limit = 5, json: Json = False) -> None:  # fmt: skip
    """Show what was recalled for the newest message, or would be for this one, and how each score is made."""
    if query:
        seen = reach("GET", "/memory/items", {"query": query, "limit": limit})
    else:
        seen = reach("GET", "/memory/recalled", {"turn": turn} if turn else {})
    if printed_json(seen, json):
        return
    _show_problem(seen)
    if not seen["items"]:
        print(_("Nothing was recalled."))
    for item in seen["items"]:
        if item.get("forgotten"):
            print(_("{id}  forgotten since").format(id=paint(item["id"], "dim")))
        else:
            _show_line(item)
        parts = ", ".join(
            f"{_(PART_WORDS.get(name, name))} {value:.3f}" for name, value in item.get("parts", {}).items()
        )
        print(f"    {item.get('score', 0.0):.3f} = {line(parts, 160)}")


@app.command
def show(id: Id, *, json: Json = False) -> None:
    """Show one item in full, with its source."""
    item = reach("GET", f"/memory/items/{id}")
    if printed_json(item, json):
        return
    for name, label in ITEM_LABELS.items():
        if item[name]:
            _labelled(_(label), when(item[name]) if name == "at" else line(str(item[name]), 120))
    for piece in item["evidence"]:
        _labelled(_("evidence"), line(piece, 120))
    print()
    for text in item["text"].split("\n"):
        print(line(text, 2_000))


@app.command
def facts(*, as_of: Annotated[str, Parameter(help="As Hob knew them on this day (YYYY-MM-DD).")] = "",
          at: Annotated[str, Parameter(help="What was so on this day (YYYY-MM-DD).")] = "",
          past: Annotated[bool, Parameter(name="--all", help="Also what was so once.")] = False,
          json: Json = False) -> None:  # fmt: skip
    """What Hob knows as facts, with the words they were taken from."""
    wanted = {"known_at": _moment(as_of), "valid_at": _moment(at), "past": "true" if past else ""}
    seen = reach("GET", "/memory/facts", {name: value for name, value in wanted.items() if value})
    if printed_json(seen, json):
        return
    if not seen["facts"]:
        none = _("No facts were taken from conversations; `hob memory search --layer fact` shows what Hob was told.")
        print(none)
    for fact in seen["facts"]:
        _show_fact(fact)


@app.command
def correct(id: str, right: str = "", *, json: Json = False) -> None:
    """Correct a fact; leave RIGHT out if it is just not true.

    Parameters
    ----------
    id:
        The beginning of the fact's id.
    right:
        What is so instead, e.g. Rome.
    """
    _settle({"id": id, "action": "correct", "object": right}, json=json)


@app.command(name="confirm")
def confirm_fact(id: FactId, *, json: Json = False) -> None:
    """Confirm a fact of which Hob is not sure."""
    _settle({"id": id, "action": "confirm"}, json=json)


@app.command
def undo(id: FactId, *, json: Json = False) -> None:
    """Take back the change that recorded a fact: what was known before is known again."""
    _settle({"id": id, "action": "undo"}, json=json)


@app.command
def goals(*, closed: Annotated[bool, Parameter(name="--all", help="Also what is done or dropped.")] = False,
          json: Json = False) -> None:  # fmt: skip
    """What you want to reach, with what came of it; without news for a week a goal is stalled."""
    seen = reach("GET", "/memory/goals", {"closed": "true"} if closed else {})
    if printed_json(seen, json):
        return
    if not seen["goals"]:
        print(_("No goals yet; `hob memory goal TEXT` keeps one."))
    for each in seen["goals"]:
        _show_goal(each)


@app.command
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
    known = bool(_ID.fullmatch(text))
    fields = {"id" if known else "text": text, "state": state, "note": note}
    fields = {name: value for name, value in fields.items() if value}
    done = reach("POST", "/memory/goals", {**fields, **({"due": _moment(due)} if due else {})})
    if not printed_json(done, json):
        _show_goal(done)


@app.command
def add(text: str, *, json: Json = False) -> None:
    """Remember a text, a file, or a folder of files, by section; changed files are read again."""
    path = Path(text).expanduser()
    looks = len(text) < 1_000 and "\n" not in text and (bool(_PATH.fullmatch(text)) or path.exists())
    if looks:
        shown = _("files {seen:,}/{of:,}, {new:,} new sections")
        done = _followed("/memory/files", {"path": str(path.resolve())}, shown)
    else:
        done = reach("POST", "/memory/items", {"text": text}, timeout=None)
    if json:
        print_json(done)
    elif looks:
        print(_("Files read: {files}; new sections remembered: {new}.").format(files=done["files"], new=done["new"]))
        for problem in done["problems"]:
            print(f"  {line(problem, 160)}", file=sys.stderr)
    else:
        _show_line(done)


@app.command
def forget(id: Id = "", *, layer: Layer = "", source: Source = "", origin: Origin = "", hours: Since = 0.0,
           said: Annotated[bool, Parameter(help="Include the conversations in which it was said.")] = False,
           yes: Annotated[bool, Parameter(help="Do not ask.")] = False, json: Json = False) -> int:  # fmt: skip
    """Forget for ever: one item by id, or everything of a source, an origin, a layer or a time."""
    fields = _given(id=id, layer=layer, source=source, origin=origin, hours=hours, said=said)
    seen = reach("POST", "/memory/forget", {**fields, "preview": True})
    if not json or not yes:
        _show_forgotten(seen, json=json)
    if not seen["items"] or (
        not yes and (json or not confirm(_("Forget this for ever?"), _("Nothing was forgotten.")))
    ):
        return 0 if json else 1
    done = reach("POST", "/memory/forget", fields, timeout=600)
    if not printed_json(done, json):
        print(paint(ngettext("Forgotten: {count} piece.", "Forgotten: {count} pieces.", done["erased"]), "green"))
    return 0


def _labelled(label: str, text: str) -> None:
    print(f"{paint(label.ljust(12), 'dim')} {text}")


@app.default
@app.command
def stats(*, json: Json = False) -> None:
    """Show how much Hob remembers, by layer."""
    seen = reach("GET", "/memory/status")
    if printed_json(seen, json):
        return
    for layer in seen["layers"]:
        if layer["name"] == "er1" and not layer["chunk_count"]:
            continue  # nobody has to know of a recorder that is not theirs
        told = LAYER_WORDS.get(layer["name"], layer["description"])
        days = _("{days:g} days").format(days=layer["ttl_days"]) if layer["ttl_days"] else _("stays")
        print(f"{layer['name']:<13} {number(layer['chunk_count'], 0):>8}  {days:<9}  {paint(_(told), 'dim')}")
    totals = seen["totals"]
    print(_("{total:,} items; at most {most:,} of those that expire").format(
        total=totals["total_chunks"], most=totals["max_chunks"]))  # fmt: skip
    if totals["permanent_chunks"] > totals["max_chunks"]:
        told = _("{count} never expire, more than memory.max_items; `hob memory forget` removes what you do not need")
        print(paint(told.format(count=number(totals["permanent_chunks"], 0)), "yellow"))
    embedding = seen["embedding"]
    if embedding["model"]:
        waits = _("found by meaning too: {model}; items not prepared for that yet: {count:,}")
        print(waits.format(model=embedding["model"], count=embedding["waiting"]))
        _show_problem(embedding)
    else:
        print(_("found by words alone; model.embedding names what finds by meaning too"))
    for path in seen["watched"]:
        print(_("watched: {path}").format(path=line(path, 200)))
    for skill in seen["expertise"]:
        print(
            _("practice with {skill}: {score:.0%} reliable, {trend}, uses: {uses:,}").format(
                **skill | {"trend": _(TREND_WORDS[skill["trend"]])}
            )
        )
    if decided := [f"{name} {number(count, 0)}" for name, count in seen["decisions"].items() if count]:
        print(_("decisions about facts: {decided}").format(decided=", ".join(decided)))
    if (overflow := seen["overflow"])["events"]:
        told = _("prompts without room for all of memory since the start: {count} ({share} in 1,000 turns)")
        print(told.format(count=number(overflow["events"], 0), share=number(overflow["per_1000"], 0)))
    work = seen["background"]
    told = _("Work in the background took {spent:,} of {most:,} tokens today; messages waiting for it: {waiting}.")
    print(told.format(
        spent=work["tokens_today"], most=work["tokens_a_day"], waiting=work["messages_waiting"]))  # fmt: skip
    if work["waits_for"]:
        print(paint(_("It waits: {why}").format(why=line(_(work["why"]), 160)), "yellow"))


@app.command
def embedding(*, json: Json = False) -> None:
    """Show which model finds by meaning, how it is, and how many items it can find."""
    seen = reach("GET", "/memory/embedding/status")
    if printed_json(seen, json):
        return
    model, index = seen["embedding"], seen["index"]
    _labelled(_("state"), _(EMBEDDING_WORDS[seen["status"]]))
    if model["enabled"]:
        _labelled(_("model"), line(model["fingerprint"], 160))
        _labelled(_("items"), f"{number(index['embeddedChunks'], 0)} (+{number(index['waitingChunks'], 0)})")
    if seen["runtime"]["detail"]:
        print(paint(line(_(seen["runtime"]["detail"]), 300), "yellow"))


@app.command
def reindex(*, reason: Annotated[str, Parameter(help="Why, for the log.")] = "",
            yes: Annotated[bool, Parameter(help="Do not ask.")] = False, json: Json = False) -> int:  # fmt: skip
    """Prepare every item again, in the background, to be found by meaning."""
    if not yes and not confirm(_("Prepare every item again? Until then, words find."), _("Nothing was changed.")):
        return 1
    done = reach("POST", "/memory/embedding/reindex", {"confirmWipe": True, "reason": reason}, timeout=600)
    if not printed_json(done, json):
        print(_("Items prepared again in the background: {count}.").format(count=done["wipedChunks"]))
    return 0


@app.command
def prune(*, json: Json = False) -> None:
    """Remove what has expired or exceeds the limits; this happens every day."""
    _deleted(reach("POST", "/memory/prune", timeout=600), json=json)


@app.command
def reset(layer: str, *, yes: Annotated[bool, Parameter(help="Do not ask.")] = False, json: Json = False) -> int:
    """Empty a layer, or `all`. What the timeline and the files still hold is taken up again by a rebuild."""
    layers = [each["name"] for each in reach("GET", "/memory/status")["layers"]]
    if layer not in {"all", "working_memory", *layers}:
        told = translatable("there is no layer {layer}; there are all, {layers}", layer=layer, layers=", ".join(layers))
        raise InvalidRequest(told)
    if not yes and not confirm(_("Empty the layer {layer}?").format(layer=layer), _("Nothing was forgotten.")):
        return 1
    _deleted(reach("POST", "/memory/reset", {"layer": layer}, timeout=600), json=json)
    return 0


@app.command
def export() -> None:
    """Export every item as a line of JSON."""
    for each in reach_lines("/memory/export", {}):
        print(each.rstrip("\n"))


@app.command(name="import")
def import_(file: Path, *, json: Json = False) -> None:
    """Keep items that `hob memory export` wrote, each once."""
    try:
        text = file.expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(_("{file} cannot be read: {error}").format(file=file, error=error)) from error
    done = _followed("/memory/import", {"text": text}, _("items {items:,}/{of:,}, {new:,} new"))
    if not printed_json(done, json):
        print(_("Items read: {items}; new: {new}.").format(items=done["items"], new=done["new"]))


@app.command(name="eval")
def eval_(file: Path, /, *, model: Path | None = None,
          json: Annotated[bool, Parameter(help="Print JSON.")] = False) -> None:  # fmt: skip
    """Measure how well memory answers questions whose answers are known. Leaves your own memory alone.

    Parameters
    ----------
    file:
        Labelled questions: your own, `locomo10.json`, or a file of LongMemEval.
    model:
        A folder with a sentence-transformers model, by which meaning is compared too (extra `memory`).
    """
    report = asyncio.run(_evaluated(file, model))
    if json:
        categories = {name: _fields(score) for name, score in report.categories.items()}
        whole = {"format": report.format, "counted": report.counted, "items": report.items, **_fields(report.whole)}
        print_json({**whole, "categories": categories})
        return
    asked, items = report.whole.questions, f"{report.items:,}"
    if report.counted == "turn":
        counted = _("{format}: {asked} questions over {items} items; evidence is counted by turn.")
    else:
        counted = _("{format}: {asked} questions over {items} items; evidence is counted by session.")
    print(counted.format(format=report.format, asked=asked, items=items))
    print(paint(f"{'':<28}{'n':>6}" + "".join(f"{name:>9}" for name in METRICS), "bold"))
    for name, score in {_("all"): report.whole, **report.categories}.items():
        print(f"{name:<28}{score.questions:>6}" + "".join(f"{100 * score.figures[each]:>9.1f}" for each in METRICS))


async def _evaluated(file: Path, model: Path | None) -> EvaluationReport:
    labelled, progress = read_labelled(file), ProgressLine()
    shown, of = _("conversations {done:,}/{of:,}"), len(labelled.conversations)

    def told(done: int) -> None:
        progress.show(shown.format(done=done, of=of))

    try:
        if model is None:
            return await evaluate(labelled, told=told)
        from hob.providers.local.embedder import LocalEmbedder

        async with aclosing(LocalEmbedder(model.expanduser())) as embedder:
            return await evaluate(labelled, embedder, told)
    finally:
        progress.end()


def _followed(route: str, fields: Mapping[str, Any], shown: str) -> Mapping[str, Any]:
    """What is answered last; how far it is is shown meanwhile."""
    progress = ProgressLine()
    try:
        return reach_long(route, fields, lambda step: progress.show(shown.format(**step)))
    finally:
        progress.end()


def _moment(day: str) -> float:
    try:
        return datetime.fromisoformat(day).astimezone().timestamp() if day else 0.0
    except ValueError:
        raise InvalidRequest(_("{day} is no day; write it as 2026-11-22").format(day=day)) from None


def _settle(fields: Mapping[str, Any], *, json: bool) -> None:
    done = reach("POST", "/memory/facts", fields)
    if printed_json(done, json):
        return
    for fact in done["after"]:
        _show_fact(fact)
    if not done["after"]:
        print(_("No longer known: {fact}").format(fact=_fact_text(done["before"])))


def _show_fact(fact: Mapping[str, Any]) -> None:
    days = [(_("since {day}"), fact["valid_from"]), (_("until {day}"), fact["valid_to"])]
    told = [text.format(day=when(at)[:10]) for text, at in days if at is not None]
    if fact["state"] == "asked":
        told.append(paint(_("not sure: hob memory confirm {id}").format(id=fact["id"][:12]), "yellow"))
    if against := [each[:12] for each in fact["contradicts"]]:
        told.append(paint(_("contradicts {ids}").format(ids=", ".join(against)), "yellow"))
    quote = f" \u201c{line(fact['quote'], 80)}\u201d" if fact["quote"] else ""
    print(f"{paint(fact['id'][:12], 'dim')}  {_fact_text(fact)}  [{', '.join([*told, when(fact['said_at'])])}]{quote}")


def _fact_text(fact: Mapping[str, Any]) -> str:
    return line(f"{fact['subject']} {fact['predicate'].replace('_', ' ')} {fact['object']}", 120)


def _show_goal(goal: Mapping[str, Any]) -> None:
    due = [_("due {day}").format(day=when(goal["due"])[:10])] if goal["due"] is not None else []
    state = paint(_(goal["state"]), "yellow" if goal["state"] == "stalled" else "dim")
    trust = [] if goal["trust"] == "trusted" else [paint(_("untrusted"), "yellow")]
    print(f"{paint(goal['id'][:12], 'dim')}  {line(goal['text'], 120)}  [{', '.join([state, *due, *trust])}]")
    for note in goal["evidence"]:
        print(f"    {when(note['at'])[:10]}  {line(note['text'], 120)}")


def _deleted(done: Mapping[str, Any], *, json: bool) -> None:
    if not printed_json(done, json):
        print(_("Items deleted: {count}.").format(count=done["deleted"]))


def _show_problem(seen: Mapping[str, Any]) -> None:
    if problem := seen.get("problem"):
        told = _("By words alone; the embedder failed: {problem}").format(problem=line(problem, 300))
        print(paint(told, "red"), file=sys.stderr)
    if problem := seen.get("unassisted"):
        told = _("In Hob's own order; no model helped: {problem}").format(problem=line(problem, 300))
        print(paint(told, "yellow"), file=sys.stderr)


def _show_line(item: Mapping[str, Any]) -> None:
    trust = "" if item["trust"] == "trusted" else f", {paint(_('untrusted'), 'yellow')}"
    where = f"{when(item['at'])}, {line(item['source'], 60)}{trust}"
    print(f"{paint(item['id'][:12], 'dim')}  {line(item['text'], 100)}  [{where}]")


def _show_forgotten(seen: Mapping[str, Any], *, json: bool) -> None:
    if printed_json(seen, json):
        return
    for item in seen["items"][:20]:
        _show_line(item)
    if len(seen["items"]) > 20:
        print(_("… and {count} more").format(count=len(seen["items"]) - 20))
    if not seen["items"]:
        print(_("Nothing is remembered that fits."))
    if seen["turns"]:
        print(
            ngettext(
                "and the turn in which it was said", "and the {count} turns in which it was said", len(seen["turns"])
            )
        )
    for file in seen["backups"]:
        print(_("  this backup may still hold it; restoring it erases it again: {file}").format(file=line(file, 120)))


def _fields(score: Score) -> dict[str, object]:
    return {"questions": score.questions} | {name: round(value, 4) for name, value in score.figures.items()}
