"""Elicitation: a server's question to the user in the middle of a call.

The server is told that there is no answer yet, the turn waits for the user, and the call is repeated with the answer.
Only a person whose message is part of the turn, or the owner, can answer: not a model, another member of a group, or a
message of Hob's own.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from hob.core.ids import TurnId
from hob.core.messages import Inbound
from hob.core.trust.labels import SenderClass
from hob.core.turns import Turn
from hob.core.values import dataclass

_NO = frozenset({"no", "n", "nein", "decline", "cancel", "abbrechen", "ablehnen", "stop"})
_YES = frozenset({"yes", "y", "ja", "j", "ok", "okay", "true", "done", "fertig", "erledigt"})
_LONGEST = 1_500
_HOW = "One line each (name: answer), or no; what has a * is needed:"
_HOW_SOME = (
    "One line each (name: answer), or no; what has a * is needed, what stands in [] counts where you write no line, "
    "and yes takes all of them:"
)
_FORMS = {
    "email": (re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"), "an e-mail address"),
    "uri": (re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"), "an address like https://example.org"),
    "date": (re.compile(r"\d{4}-\d{2}-\d{2}"), "a day like 2026-12-31"),
    "date-time": (re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}\S*"), "a time like 2026-12-31T08:30:00Z"),
}

Content = dict[str, str | int | float | bool | list[str] | None]


class NotUnderstood(Exception):
    """Raised if the answer does not fit the question. The message says why."""


@dataclass(frozen=True, slots=True)
class McpQuestion:
    """A question of a server to the user."""

    server: str
    message: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    url: str = ""

    @property
    def text(self) -> str:
        """The question as people see it."""
        lines = [f"{self.server}: {' '.join(self.message.split())[:_LONGEST]}"]
        if self.url:
            lines.append(f"{self.url[:_LONGEST]}\n(done / no)")
        fields = _fields(self.schema)
        if len(fields) > 1:
            lines.append(_HOW_SOME if any("default" in each for each in fields.values()) else _HOW)
        needed = self.schema.get("required", ()) if len(fields) > 1 else ()
        lines += [
            _field_line(f"{name}*" if name in needed else name, each, alone=len(fields) == 1)
            for name, each in fields.items()
        ]
        return "\n".join(filter(None, lines))

    @property
    def key(self) -> str:
        """The identity of the question when it is asked again."""
        return f"{self.server}\n{self.message}\n{self.url}"

    def read(self, answers: Sequence[str]) -> Content | None:
        """Parse the last answer for the server. Returns None if the user declines. Raises NotUnderstood.

        If there are several fields, earlier answers count for fields that the last one omits.
        """
        text, fields = answers[-1].strip(), _fields(self.schema)
        asks_yes = len(fields) == 1 and next(iter(fields.values())).get("type") == "boolean"
        if text.casefold().rstrip(".!") in _NO and not asks_yes:
            return None
        if not fields:
            if text.casefold().rstrip(".!") not in _YES:
                raise NotUnderstood("answer yes or no")
            return {}
        defaults = {name: each["default"] for name, each in fields.items() if "default" in each}
        in_lines = [each for each in answers[:-1] if len(fields) > 1 and not each.strip().startswith("{")]
        given = {name: said for each in (*in_lines, text) for name, said in _split_answers(each, list(fields)).items()}
        required = set(self.schema.get("required", ())) - defaults.keys()
        if missing := [name for name in fields if name in required and name not in given]:
            raise NotUnderstood(f"{', '.join(missing)} is missing")
        said = {name: _parse_value(name, text, fields[name]) for name, text in given.items() if name in fields}
        return defaults | said


def _fields(schema: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    found = schema.get("properties", {})
    return {name: each for name, each in found.items() if isinstance(each, Mapping)}


def _field_line(name: str, schema: Mapping[str, Any], *, alone: bool) -> str:
    told = schema.get("description") or schema.get("title") or ""
    choices = _choices(schema)
    kind = " / ".join(choices) if choices else "yes / no" if schema.get("type") == "boolean" else ""
    if schema.get("type") == "array":
        kind = f"with commas between, of: {', '.join(choices)}" if choices else "with commas between"
    parts = [" ".join(str(told).split())[:200], f"({kind})" if kind else ""]
    if not alone and "default" in schema:
        parts.append(f"[{_format_value(schema['default'])}]")
    line = " ".join(filter(None, parts))
    return line if alone else f"{name}: {line}".rstrip()


def _format_value(value: object) -> str:
    """Format a value as a person would write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _choices(schema: Mapping[str, Any]) -> list[str]:
    if schema.get("type") == "array":
        items = schema.get("items")
        return _choices(items) if isinstance(items, Mapping) else []
    one_of = schema.get("oneOf") or schema.get("anyOf") or ()
    titled = [str(each["const"]) for each in one_of if isinstance(each, Mapping) and "const" in each]
    return titled or [str(each) for each in schema.get("enum", ())]


def _split_answers(text: str, names: list[str]) -> Mapping[str, str]:
    """Split an answer by field: a JSON object, `name: value` lines, or the whole text if there is only one field."""
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except ValueError as error:
            raise NotUnderstood(f"this is no JSON: {error}") from error
        return {name: each if isinstance(each, str) else json.dumps(each) for name, each in value.items()}
    if len(names) == 1:
        return {names[0]: text.removeprefix(f"{names[0]}:").strip()}
    lines = [line.partition(":") for line in text.splitlines()]
    return {name.strip(): value.strip() for name, colon, value in lines if colon and name.strip() in names}


def _parse_value(name: str, text: str, schema: Mapping[str, Any]) -> str | int | float | bool | list[str]:
    choices, word = _choices(schema), text.casefold().rstrip(".!")
    if schema.get("type") == "array":
        return [_match_choice(name, each, choices) for each in _split_list(text)]
    if choices:
        return _match_choice(name, text, choices)
    match schema.get("type"):
        case "boolean":
            if word not in _YES | _NO | {"false"}:
                raise NotUnderstood(f"{name} must be yes or no")
            return word in _YES
        case "integer" | "number" as kind:
            try:
                return int(text) if kind == "integer" else float(text.replace(",", "."))
            except ValueError as error:
                raise NotUnderstood(f"{name} must be a number") from error
    pattern, told = _FORMS.get(str(schema.get("format")), (None, ""))
    if pattern is not None and not pattern.fullmatch(text):
        raise NotUnderstood(f"{name} must be {told}")
    return text


def _split_list(text: str) -> list[str]:
    """Split a comma-separated or JSON list."""
    if text.startswith("["):
        try:
            return [str(each) for each in json.loads(text)]
        except ValueError as error:
            raise NotUnderstood(f"this is no JSON: {error}") from error
    return [each.strip() for each in text.split(",") if each.strip()]


def _match_choice(name: str, text: str, choices: Sequence[str]) -> str:
    """Return the matching choice, or the text itself if there are no choices. Raises NotUnderstood."""
    if not choices:
        return text
    found = next((each for each in choices if each.casefold() == text.casefold()), None)
    if found is None:
        raise NotUnderstood(f"{name} must be one of {', '.join(choices)}, not {text!r}")
    return found


class McpAnswers:
    """The questions asked in open turns, and the positions of their answers among the messages that joined."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[TurnId, str], list[int]] = {}

    def asked(self, turn: Turn, asking: McpQuestion) -> None:
        """Record that the next message that joins the turn answers this question."""
        self._waiting.setdefault((turn.id, asking.key), []).append(len(turn.joined))
        for old in list(self._waiting)[:-64]:
            del self._waiting[old]

    def find(self, turn: Turn, asking: McpQuestion) -> Sequence[str]:
        """Return the answers so far, oldest first; empty while the question is open."""
        places = self._waiting.get((turn.id, asking.key), [])
        if not places or places[-1] >= len(turn.joined) or not _may_answer(turn, turn.joined[places[-1]]):
            return ()
        return [turn.joined[place].text for place in places if _may_answer(turn, turn.joined[place])]


def _may_answer(turn: Turn, said: Inbound) -> bool:
    asked = {(each.origin.channel, each.sender.id) for each in turn.inbounds}
    known = said.sender.cls is SenderClass.OWNER or (said.origin.channel, said.sender.id) in asked
    return known and not said.hops and not said.background
