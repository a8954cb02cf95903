"""Memory as JSON and as chat lines; layer colours and descriptions; the parser of imported items."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeVar

from hob.core.clock import utc_day
from hob.core.content.json_text import parse_json
from hob.core.errors import InvalidRequest
from hob.core.memory import (
    OWNER,
    Fact,
    FactAnswer,
    FactState,
    Goal,
    GoalAnswer,
    GoalState,
    Layer,
    MemoryItem,
    MemoryItemAnswer,
    MemoryLayer,
    Recalled,
    Scope,
    layer_named,
)
from hob.core.translation.fact_words import render_fact_for_owner
from hob.core.translation.language import say, translatable, translated
from hob.core.trust.labels import Label, Origin, Trust
from hob.memory.settings import MemorySettings
from hob.store.memory.transfer import TransferredItem

COLOURS: Mapping[Layer, str] = {
    Layer.SOUL: "#a855f7",
    Layer.CONVERSATION: "#58a6ff",
    Layer.TOOL: "#fb923c",
    Layer.GROUP: "#22c55e",
    Layer.ER1: "#fbbf24",
    Layer.OBSERVATION: "#67e8f9",
    Layer.FACT: "#f472b6",
    Layer.DOCUMENT: "#94a3b8",
}
"""KafClaw's colours; the last two are Hob's own."""
_COLOURS: Mapping[str, str] = {each.value: colour for each, colour in COLOURS.items()}
_GREY = MemoryLayer("", "").colour
_DAY = 86_400.0
DESCRIPTIONS: Mapping[Layer, str] = {
    Layer.SOUL: "sections of the identity files",
    Layer.CONVERSATION: "what was said",
    Layer.TOOL: "what tools found",
    Layer.GROUP: "what other agents share",
    Layer.ER1: "what ER1 recorded",
    Layer.OBSERVATION: "what was observed in conversations",
    Layer.FACT: "what you said about yourself, and notes you asked Hob to keep",
    Layer.DOCUMENT: "documents and daily notes",
}


def no_layer(name: str, layers: Iterable[str]) -> str:
    """Return the sentence for a layer that does not exist."""
    names = ", ".join(layers)
    if not name.strip():
        return translatable("name a layer: {layers}", layers=names)
    return translatable("there is no layer {layer}; layers: {layers}", layer=name, layers=names)


ELSEWHERE = translatable("of a plug-in that is off")


def layers_of(
    settings: MemorySettings, plugin_layers: Mapping[str, MemoryLayer], counted: Iterable[str] = ()
) -> Mapping[str, MemoryLayer]:
    """Return all layers by name: Hob's own, those of plug-ins, and those in `counted` whose plug-in is off."""
    own = [
        MemoryLayer(each.value, DESCRIPTIONS[each], (settings.expiry(each, 0.0) or 0.0) / _DAY, COLOURS[each])
        for each in Layer
    ]
    known = {each.name: each for each in own} | dict(plugin_layers)
    return known | {name: MemoryLayer(name, ELSEWHERE) for name in counted if name not in known}


def led(total: int, part: float) -> str:
    """Return the colour of the light that shows how full memory is."""
    return "grey" if not total else "red" if part > 0.9 else "amber" if part > 0.7 else "purple"


def item_view(
    found: Recalled, plugin_layers: Mapping[str, MemoryLayer] = MappingProxyType({}), *, whole: bool = False
) -> MemoryItemAnswer:
    """Return an item as JSON, possibly of a plug-in's layer. With `whole`, every field is included."""
    item = found.item
    colour = plugin_layers[item.layer].colour if item.layer in plugin_layers else _COLOURS.get(item.layer, _GREY)
    told: MemoryItemAnswer = {
        "id": item.id, "layer": str(item.layer), "source": item.source, "text": item.text, "at": item.at,
        "origin": item.label.origin.value, "trust": item.label.trust.value, "speaker": item.speaker,
        "session": item.session, "turn": item.turn, "color": colour,
    }  # fmt: skip
    if found.parts:
        told |= {"score": found.score, "parts": dict(found.parts)}
    if whole:
        told |= {
            "position": item.position, "role": item.role, "kind": item.kind, "importance": item.importance,
            "valid_from": item.valid_from, "valid_to": item.valid_to, "superseded_by": item.superseded_by,
            "evidence": list(item.evidence), "expires_at": item.expires_at,
        }  # fmt: skip
    return told


def fact_view(fact: Fact, contradicts: Sequence[str] = ()) -> FactAnswer:
    """Return a fact as JSON, with the ids of the shown facts that contradict it."""
    return {
        "id": fact.id, "subject": fact.subject, "predicate": fact.predicate, "object": fact.object,
        "valid_from": fact.valid_from, "valid_to": fact.valid_to, "recorded_from": fact.recorded_from,
        "recorded_to": fact.recorded_to, "confidence": fact.confidence, "state": fact.state.value, "said_at": fact.at,
        "quote": fact.quote, "evidence": list(fact.evidence), "change": fact.change, "contradicts": list(contradicts),
    }  # fmt: skip


def goal_view(goal: Goal, now: float) -> GoalAnswer:
    """Return a goal as JSON."""
    return {
        "id": goal.id, "text": goal.text, "state": goal.state_at(now).value, "due": goal.due, "created": goal.created,
        "changed": goal.changed, "origin": goal.label.origin.value, "trust": goal.label.trust.value,
        "session": goal.session, "turn": goal.turn,
        "evidence": [{"id": note.id, "text": note.text, "at": note.at} for note in goal.evidence],
    }  # fmt: skip


def goal_line(goal: GoalAnswer) -> str:
    """Format a goal as a chat line."""
    due = f", {utc_day(goal['due'])}" if goal["due"] is not None else ""
    last = f": {short(goal['evidence'][-1]['text'])}" if goal["evidence"] else ""
    return f"{goal['id'][:12]} {short(goal['text'])} [{goal['state']}{due}]{last}"


_ID = re.compile(r"[0-9a-f]{32}")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_ITEM_FIELDS = (
    "session", "position", "turn", "speaker", "role", "kind", "valid_from", "valid_to", "superseded_by", "importance",
    "expires_at",
)  # fmt: skip
_FACT_FIELDS = (
    "subject", "predicate", "object", "valid_from", "valid_to", "recorded_from", "recorded_to", "confidence", "change",
    "closed",
)  # fmt: skip
_TIME_FIELDS = frozenset({"valid_from", "valid_to", "recorded_from", "recorded_to", "expires_at", "due", "changed"})
_FIRST_TIME, _LAST_TIME = (datetime(year, 1, 2, tzinfo=UTC).timestamp() for year in (1, 9999))
_Choice = TypeVar("_Choice", bound=StrEnum)
_NUMBER_FIELDS = _TIME_FIELDS | {"confidence", "importance"}


def export_view(carried: TransferredItem) -> dict[str, Any]:
    """Return an item as it is exported, with its fact or goal."""
    item, fact, goal = carried
    told: dict[str, Any] = {**item_view(Recalled(item, 0.0), whole=True)}
    if fact is not None:
        told["fact"] = {name: getattr(fact, name) for name in _FACT_FIELDS} | {"state": fact.state.value}
    if goal is not None:
        told["goal"] = {"state": goal.state.value, "due": goal.due, "changed": goal.changed}
    return told


def loaded(line: str, number: int, now: float) -> TransferredItem:
    """Parse an exported item. Without a time it gets `now`; times are Unix seconds or ISO 8601, at most a day ahead
    unless Hob wrote the line (a daily note may have a later date).

    The item must be consistent: an imported stranger's text cannot claim to be the owner's. Raises InvalidRequest.
    """
    value = parse_json(line)
    if not isinstance(value, dict):
        raise InvalidRequest(
            translatable(
                'line {number} is not a JSON object like {{"text": "…"}}; nothing was imported. `hob import` takes over'
                " other assistants.",
                number=str(number),
            )
        )
    try:
        text, origin = str(value["text"]), _parse_choice(Origin, value.get("origin", Origin.CLIENT))
        if not text.strip():
            raise ValueError("its text is empty")
        known = str(value.get("id", ""))
        if (at := _parse_time(value.get("at", now))) > now + _DAY and not _ID.fullmatch(known):
            raise ValueError(f"its time {value['at']} is in the future")
        trusted = value.get("trust") == Trust.TRUSTED and origin in (Origin.OWNER, Origin.IDENTITY, Origin.MODEL)
        layer = _parse_layer(value.get("layer", Layer.DOCUMENT))
        item = MemoryItem(
            scope=Scope(OWNER), layer=layer, source=str(value.get("source", f"{layer}:import")), text=text,
            label=Label(origin, Trust.TRUSTED if trusted else Trust.UNTRUSTED), at=at,
            evidence=tuple(map(str, value.get("evidence", ()))),
            id=known if _ID.fullmatch(known) else "", **_parse_fields(value, _ITEM_FIELDS),
        )  # fmt: skip
        return TransferredItem(item, _fact(item, value.get("fact")), _goal(item, value.get("goal")))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidRequest(
            translatable(
                "line {number} is not a memory item ({error}); nothing was imported",
                number=str(number),
                error=_describe_error(error),
            )
        ) from error


def _describe_error(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}"
    return str(error) if type(error) is ValueError else "a field has a value of another kind"


def _parse_choice(kind: type[_Choice], value: Any) -> _Choice:
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"{value!r} is none of {', '.join(kind)}") from None


def _parse_layer(name: Any) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no layer")
    return layer_named(name)


def _fact(item: MemoryItem, value: Any) -> Fact | None:
    """Parse a fact. It is confirmed only if its item may be trusted."""
    if value is None:
        return None
    state = _parse_choice(FactState, value["state"]) if item.label.trusted else FactState.ASKED
    return Fact(at=item.at, state=state, evidence=item.evidence, id=item.id, **_parse_fields(value, _FACT_FIELDS))


def _goal(item: MemoryItem, value: Any) -> Goal | None:
    if value is None:
        return None
    return Goal(
        text=item.text,
        label=item.label,
        state=_parse_choice(GoalState, value["state"]),
        **_parse_fields(value, ("due", "changed")),
    )


def _parse_fields(value: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the fields that are present, with numbers as numbers."""
    kept = {name: value[name] for name in names if value.get(name) is not None}
    return {
        name: _parse_time(each) if name in _TIME_FIELDS else _parse_number(each) if name in _NUMBER_FIELDS
        else _parse_position(each) if name == "position" else str(each)
        for name, each in kept.items()
    }  # fmt: skip


def _parse_time(value: Any) -> float:
    """Parse Unix seconds or an ISO 8601 day or time, which is local if it names no zone."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = datetime.fromisoformat(value).timestamp()
    if not _FIRST_TIME <= (time := _parse_number(value)) < _LAST_TIME:
        raise ValueError(f"{value} is no time")
    return time


def _parse_number(value: Any) -> float:
    with suppress(ValueError, TypeError, OverflowError):
        if math.isfinite(number := float(value)):
            return number
    raise ValueError(f"{value!r} is no number")


def _parse_position(value: Any) -> int:
    if not 0 <= (place := int(_parse_number(value))) < 2**63:
        raise ValueError(f"{value} is no place")
    return place


_CHARACTERS = 200


def item_line(item: Mapping[str, Any]) -> str:
    """Format an item as a chat line."""
    day = utc_day(item["at"])
    trust = "" if item["trust"] == "trusted" else f", {item['trust']}"
    return f"{item['id'][:12]} {short(item['text'])} [{day}, {item['source']}{trust}]"


def fact_line(language: str, fact: Mapping[str, Any]) -> str:
    """Format a fact as a chat line."""
    told = [
        *([say(language, "since {day}", day=utc_day(fact["valid_from"]))] if fact["valid_from"] is not None else []),
        *([say(language, "until {day}", day=utc_day(fact["valid_to"]))] if fact["valid_to"] is not None else []),
        *([say(language, "not sure; /memory confirm {id}", id=fact["id"][:12])] if fact["state"] == "asked" else []),
        say(language, "said {day}", day=utc_day(fact["said_at"])),
    ]
    quote = f" \u201c{short(fact['quote'])}\u201d" if fact["quote"] else ""
    return f"{fact['id'][:12]} {fact_text(language, fact)} [{', '.join(told)}]{quote}"


def fact_text(language: str, fact: Mapping[str, Any]) -> str:
    """Return the content of a fact, addressed to the owner."""
    return translated(render_fact_for_owner(fact["subject"], fact["predicate"], fact["object"]), language)


def short(text: str) -> str:
    """Shorten the text to one line."""
    line = " ".join(text.split())
    return line if len(line) <= _CHARACTERS else f"{line[: _CHARACTERS - 1]}…"
