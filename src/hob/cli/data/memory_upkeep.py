"""`hob memory stats` and upkeep: vectors, pruning, export and import."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from hob.app.daemon.daemon_client import reach, reach_lines
from hob.app.daemon.preflight import embedder_problem
from hob.app.settings.sections import read_config
from hob.cli.data.memory_output import Json, followed, labelled, show_problem
from hob.cli.dates_and_figures import number
from hob.cli.output import confirm, line, paint, print_table, printed_json
from hob.cli.translating import _, ngettext
from hob.core.errors import InvalidRequest
from hob.core.translation.language import translatable
from hob.memory.expertise import Trend
from hob.memory.views import no_layer

LAYER_WORDS: Mapping[str, str] = {
    "soul": translatable("your files on how Hob should be (SOUL.md, USER.md and others)"),
    "er1": translatable("recordings from ER1, a transcription service, if you connected one"),
}
"""Layers that need a longer description here."""
UNLIMITED = translatable("no limit")
KEPT_WORDS: Mapping[str, str] = {"observation": translatable("90 days or more, by importance")}
"""How long layers are kept whose items differ in that."""
TREND_WORDS: Mapping[str, str] = {
    Trend.IMPROVING: translatable("getting better"),
    Trend.DECLINING: translatable("getting worse"),
}
SKILL_WORDS: Mapping[str, str] = {
    "filesystem": translatable("file tools"),
    "shell": translatable("commands"),
    "memory": translatable("memory tools"),
    "research": translatable("web tools"),
    "communication": translatable("messages to people"),
    "general": translatable("other tools"),
}
"""Kinds of tools, as shown."""
DECISION_WORDS: Mapping[str, str] = {
    "add": translatable("new"),
    "update": translatable("changed"),
    "supersede": translatable("replaced"),
    "merge": translatable("merged"),
    "ask": translatable("unsure"),
    "none": translatable("known before"),
}
"""Decisions about proposed facts, as shown."""
EMBEDDING_WORDS: Mapping[str, str] = {
    "disabled": translatable("off"),
    "indexing": translatable("takes up what is there"),
    "ready": translatable("ready"),
    "error": translatable("failed"),
}


def stats(*, json: Json = False) -> None:
    """Show how much Hob remembers, by layer."""
    seen = reach("GET", "/memory/status")
    if printed_json(seen, json):
        return
    print_table(
        (_("layer"), _("items"), _("kept"), _("what it holds")),
        [
            (
                layer["name"],
                number(layer["chunk_count"], 0),
                _("{days:g} days", days=layer["ttl_days"])
                if layer["ttl_days"]
                else _(KEPT_WORDS.get(layer["name"], UNLIMITED)),
                (_(LAYER_WORDS.get(layer["name"], layer["description"])), "dim"),
            )
            for layer in seen["layers"]
            if layer["chunk_count"] or layer["name"] not in ("er1", "group")  # unused features are not listed
        ],
        "",
        right=(1,),
    )
    totals = seen["totals"]
    print(
        _(
            "Items: {total:,}; limit for items that expire: {maximum:,}",
            total=totals["total_chunks"],
            maximum=totals["max_chunks"],
        )
    )
    if totals["permanent_chunks"] > totals["max_chunks"]:
        print(
            paint(
                _(
                    "{count} never expire, more than memory.max_items; "
                    "`hob memory forget` removes what you do not need",
                    count=number(totals["permanent_chunks"], 0),
                ),
                "yellow",
            )
        )
    _show_search(seen)
    _show_work(seen)


def _show_search(seen: Mapping[str, Any]) -> None:
    embedding = seen["embedding"]
    if embedding["model"]:
        print(
            _(
                "Search matches words and meaning ({model}); items not prepared for that yet: {count:,}",
                model=embedding["model"],
                count=embedding["waiting"],
            )
        )
        show_problem(embedding)
    else:
        print(_("Search matches words only. Set model.embedding to search by meaning too."))
    for path in seen["watched"]:
        print(_("watched: {path}", path=line(path, 200)))
        if why := seen["later"].get(path):
            told = _("changes may wait for the next turn: {why}", why=line(_(why), 200))
            print(f"  {paint(told, 'yellow')}")


def _show_work(seen: Mapping[str, Any]) -> None:
    for skill in seen["expertise"]:
        trend = f", {_(TREND_WORDS[skill['trend']])}" if skill["trend"] in TREND_WORDS else ""
        words = {"skill": _(SKILL_WORDS.get(skill["skill"], skill["skill"]))}
        print(_("tool success, {skill}: {successes:,} of {uses:,} calls", **skill | words) + trend)
    decided = [
        f"{_(DECISION_WORDS.get(name, name))} {number(count, 0)}" for name, count in seen["decisions"].items() if count
    ]
    if decided:
        print(_("facts from messages: {decided}", decided=", ".join(decided)))
    if (overflow := seen["overflow"])["events"]:
        print(
            _(
                "prompts without room for all of memory since the start: {count} ({share} in 1,000 turns)",
                count=number(overflow["events"], 0),
                share=number(overflow["per_1000"], 0),
            )
        )
    work = seen["background"]
    print(
        _(
            "Background work on memory: messages waiting: {waiting:,}; tokens used today: {spent:,} of {maximum:,}.",
            spent=work["tokens_today"],
            maximum=work["tokens_a_day"],
            waiting=work["messages_waiting"],
        )
    )
    if work["waits_for"]:
        print(paint(_("It is paused: {why}", why=line(_(work["why"]), 160)), "yellow"))


def embedding(*, json: Json = False) -> None:
    """Show the model for search by meaning, its state, and how many items it covers."""
    seen = reach("GET", "/memory/embedding/status")
    if printed_json(seen, json):
        return
    model, index, wrong = seen["embedding"], seen["index"], embedder_problem(read_config())
    labelled(_("state"), _(EMBEDDING_WORDS["error" if wrong else seen["status"]]))
    if model["enabled"]:
        labelled(_("model"), line(model["fingerprint"], 160))
        labelled(_("items"), f"{number(index['embeddedChunks'], 0)} (+{number(index['waitingChunks'], 0)})")
    if problem := str(wrong or seen["runtime"]["detail"]):
        print(paint(line(_(problem), 300), "yellow"))


def reindex(*, reason: Annotated[str, Parameter(help="Why, for the log.")] = "",
            yes: Annotated[bool, Parameter(help="Do not ask.")] = False, json: Json = False) -> int:  # fmt: skip
    """Compute the vectors of all items again, in the background."""
    if not yes and not confirm(_("Prepare every item again? Until then, words find."), _("Nothing was changed.")):
        return 1
    done = reach("POST", "/memory/embedding/reindex", {"confirmWipe": True, "reason": reason}, timeout=600)
    if not printed_json(done, json):
        print(_("Items prepared again in the background: {count}.", count=done["wipedChunks"]))
    return 0


def prune(*, json: Json = False) -> None:
    """Remove what has expired or exceeds the limits; this happens every day."""
    _deleted(reach("POST", "/memory/prune", timeout=600), json=json)


def trust(
    source: Annotated[str, Parameter(help="document:PATH, or conversation:ASSISTANT of imported conversations.")],
    *,
    undo: Annotated[bool, Parameter(negative="", help="Withdraw this.")] = False,
    json: Json = False,
) -> int:
    """Say that files or your messages in imported conversations are your own, as they are now."""
    done = reach("POST", "/memory/trust", {"source": source, "undo": undo}, timeout=600)
    if not printed_json(done, json):
        show_trusted(done["changed"], undo=undo)
    return 0 if done["changed"] else 1


def show_trusted(count: int, *, undo: bool = False) -> None:
    """Print how many sections changed their trust."""
    if undo:
        print(ngettext("{count} section is untrusted again.", "{count} sections are untrusted again.", count))
    elif count:
        print(ngettext("{count} section counts as yours now.", "{count} sections count as yours now.", count))
    else:
        print(_("Nothing changed: there is nothing of yours that was not trusted."))


def reset(
    layer: Annotated[str, Parameter(help="A layer, as `hob memory stats` names them, or all.")],
    *,
    yes: Annotated[bool, Parameter(help="Do not ask.")] = False,
    json: Json = False,
) -> int:
    """Empty a layer of memory. Hob reads your files again; `hob rebuild` adds again what was said."""
    layers = [each["name"] for each in reach("GET", "/memory/status")["layers"]]
    if layer not in {"all", "working_memory", *layers}:
        raise InvalidRequest(no_layer(layer, (*layers, "working_memory", "all")))
    if not yes and not confirm(_("Empty the layer {layer}?", layer=layer), _("Nothing was forgotten.")):
        return 1
    _deleted(reach("POST", "/memory/reset", {"layer": layer}, timeout=600), json=json)
    return 0


def export(
    file: Annotated[Path | None, Parameter(help="The file to write; without it to the terminal.")] = None, /
) -> None:
    """Export every item as a line of JSON."""
    told = (each.rstrip("\n") for each in reach_lines("/memory/export", {}))
    if file is None:
        for each in told:
            print(each)
        return
    text = "".join(f"{each}\n" for each in told)
    path = file.expanduser()
    try:
        path.touch(0o600, exist_ok=False)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InvalidRequest(_("{file} cannot be written: {error}", file=file, error=error.strerror)) from error
    print(_("Items written: {count}; only you can read {file}.", count=text.count("\n"), file=file))


def import_(
    file: Annotated[Path, Parameter(help="The file to read, with one item a line.")], *, json: Json = False
) -> None:
    """Import items that `hob memory export` wrote, or lines of your own, each once.

    Each line is a JSON object; `text` is enough. `at` says when it was (2024-01-01, with or without a time, or Unix
    seconds), at most a day ahead; not given: now. `layer` is `document` if not given.
    """
    try:
        text = file.expanduser().read_text("utf-8")
    except OSError as error:
        raise InvalidRequest(_("{file} cannot be read: {error}", file=file, error=error.strerror)) from error
    except UnicodeDecodeError:
        raise InvalidRequest(
            _("{file} is not text; `hob import` takes over other assistants, `hob memory add` documents", file=file)
        ) from None
    done = followed("/memory/import", {"text": text}, _("items {items:,}/{of:,}, {new:,} new"))
    if not printed_json(done, json):
        print(_("Items read: {items}; new: {new}.", items=done["items"], new=done["new"]))


def _deleted(done: Mapping[str, Any], *, json: bool) -> None:
    if not printed_json(done, json):
        print(_("Items deleted: {count}.", count=done["deleted"]))
