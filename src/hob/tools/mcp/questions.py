"""What a server asks the user in the middle of a call (elicitation), as a question in the conversation and its answer.

The server is told that nobody has answered yet, the turn waits for the user, and the call is made again with the
answer. The answer is what a person wrote into this turn; no model has a part in it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from hob.core.ids import TurnId
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
    """The answer does not fit what was asked; the text says how."""


@dataclass(frozen=True, slots=True)
class McpQuestion:
    """What a server wants to know."""

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
            _line(f"{name}*" if name in needed else name, each, alone=len(fields) == 1) for name, each in fields.items()
        ]
        return "\n".join(filter(None, lines))

    @property
    def key(self) -> str:
        """By which it is known when it is asked again."""
        return f"{self.server}\n{self.message}\n{self.url}"

    def read(self, answers: Sequence[str]) -> Content | None:
        """The last answer as the server wants it; None: the user declines. Raises NotUnderstood.

        Of more than one field, what earlier answers said of a field counts until it is said otherwise.
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
        given = {name: said for each in (*in_lines, text) for name, said in _given(each, list(fields)).items()}
        required = set(self.schema.get("required", ())) - defaults.keys()
        if missing := [name for name in fields if name in required and name not in given]:
            raise NotUnderstood(f"{', '.join(missing)} is missing")
        said = {name: _value(name, text, fields[name]) for name, text in given.items() if name in fields}
        return defaults | said


def _fields(schema: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    found = schema.get("properties", {})
    return {name: each for name, each in found.items() if isinstance(each, Mapping)}


def _line(name: str, schema: Mapping[str, Any], *, alone: bool) -> str:
    told = schema.get("description") or schema.get("title") or ""
    choices = _choices(schema)
    kind = " / ".join(choices) if choices else "yes / no" if schema.get("type") == "boolean" else ""
    if schema.get("type") == "array":
        kind = f"with commas between, of: {', '.join(choices)}" if choices else "with commas between"
    parts = [" ".join(str(told).split())[:200], f"({kind})" if kind else ""]
    if not alone and "default" in schema:
        parts.append(f"[{_shown(schema['default'])}]")
    line = " ".join(filter(None, parts))
    return line if alone else f"{name}: {line}".rstrip()


def _shown(value: object) -> str:
    """A value as people write it."""
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


def _given(text: str, names: list[str]) -> Mapping[str, str]:
    """The answers by field: a JSON object, `name: value` lines, or the whole text where one thing was asked."""
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


def _value(name: str, text: str, schema: Mapping[str, Any]) -> str | int | float | bool | list[str]:
    choices, word = _choices(schema), text.casefold().rstrip(".!")
    if schema.get("type") == "array":
        return [_chosen(name, each, choices) for each in _several(text)]
    if choices:
        return _chosen(name, text, choices)
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


def _several(text: str) -> list[str]:
    """Things with commas between, or a JSON list."""
    if text.startswith("["):
        try:
            return [str(each) for each in json.loads(text)]
        except ValueError as error:
            raise NotUnderstood(f"this is no JSON: {error}") from error
    return [each.strip() for each in text.split(",") if each.strip()]


def _chosen(name: str, text: str, choices: Sequence[str]) -> str:
    """The choice that is meant; the text itself where there are none. Raises NotUnderstood."""
    if not choices:
        return text
    found = next((each for each in choices if each.casefold() == text.casefold()), None)
    if found is None:
        raise NotUnderstood(f"{name} must be one of {', '.join(choices)}, not {text!r}")
    return found


class McpAnswers:
    """What was asked in turns that go on, and what came of it; kept until the turn's next answer."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[TurnId, str], list[int]] = {}

    def asked(self, turn: Turn, asking: McpQuestion) -> None:
        """The turn waits for the answer: the next message that joins it."""
        self._waiting.setdefault((turn.id, asking.key), []).append(len(turn.joined))
        for old in list(self._waiting)[:-64]:
            del self._waiting[old]

    def find(self, turn: Turn, asking: McpQuestion) -> Sequence[str]:
        """The answers that the turn has, oldest first; none where the question waits for one."""
        places = self._waiting.get((turn.id, asking.key), [])
        if not places or places[-1] >= len(turn.joined):
            return ()
        return [turn.joined[place].text for place in places]
