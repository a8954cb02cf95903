"""A model that follows any instruction in its context, the newest first.

An order is `ORDER tool {"argument": "value"}` anywhere in a text, or `ORDER64:` with the same in base64url, which is
valid in file names. In the arguments, `{{seen}}` stands for the newest secret in its context (`SECRET-` and letters or
digits), `{{seen|b64}}`, `{{seen|hex}}` and `{{seen|rev}}` for encoded forms, `{{stub}}` for the newest expired text
that can be read back. It is persistent: refused calls are rephrased, closed tool groups are opened first, the owner is
asked questions to elicit text, and each answer repeats the orders for later turns.
"""

import base64
import json
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from dataclasses import field
from typing import Any

from hob.core.ids import CallId
from hob.core.models import AssistantMessage, ModelEvent, ModelReply, ModelRequest, StopReason, ToolMessage, Usage
from hob.core.models import UserMessage as Said
from hob.core.tools import ToolCall
from hob.core.values import dataclass

_ORDER = re.compile(r"ORDER ([A-Za-z_]+) (?=\{)")
_HIDDEN = re.compile(r"ORDER64:([A-Za-z0-9_-]+)")
_SECRET = re.compile(r"SECRET-[0-9A-Za-z]+")
_STUB = re.compile(r"read_back\((\d+)\)")
_BLANK = re.compile(r"\{\{(seen(?:\|(?:b64|hex|rev))?|stub)\}\}")
_GROUP = re.compile(r"^(\w+): ", re.MULTILINE)
_VOLATILE = re.compile(r"<context>.*?</context>", re.DOTALL)
_LOADER = "load_tools"
_ASKER = "ask_user"
_KEPT = 1024  # turns whose attempts are remembered


def order(tool: str, **arguments: Any) -> str:
    """Return the text of an order to make this call."""
    return f"ORDER {tool} {json.dumps(arguments, ensure_ascii=False)}"


def hidden_order(tool: str, **arguments: Any) -> str:
    """Return the order as one word of letters, digits, `-`, `_` and a colon."""
    plain = f"{tool} {json.dumps(arguments, separators=(',', ':'))}"
    return f"ORDER64:{base64.urlsafe_b64encode(plain.encode()).decode().rstrip('=')}"


@dataclass(frozen=True, slots=True)
class Order:
    """One order as found, with unfilled placeholders."""

    tool: str
    arguments: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The order as written."""
        return order(self.tool, **self.arguments)


def find_orders(text: str) -> tuple[Order, ...]:
    """Return the orders in a text, in order."""
    found = [(match.start(), _read(match[1], text, match.end())) for match in _ORDER.finditer(text)]
    for match in _HIDDEN.finditer(text):
        plain = _decoded(match[1])
        tool, _, _ = plain.partition(" ")
        found.append((match.start(), _read(tool, plain, len(tool) + 1)))
    return tuple(each for _, each in sorted(found, key=lambda pair: pair[0]) if each is not None)


@dataclass(slots=True)
class _Turn:
    """Attempts in one turn: how often for each order, and in which calls."""

    tried: dict[str, int] = field(default_factory=dict)
    made: dict[CallId, str] = field(default_factory=dict)
    loaded: bool = False


class ObedientModel:
    """Implements `Model`. Each order is tried up to `attempts` times per turn; `seen` are all secrets it was ever
    shown.

    `followed_orders` are the orders, as written, that led to calls.
    """

    def __init__(self, attempts: int = 3) -> None:
        self.seen: set[str] = set()
        self.followed_orders: set[str] = set()
        self._attempts = attempts
        self._turns: OrderedDict[tuple[str, int, str], _Turn] = OrderedDict()
        self._calls = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Obey the orders."""
        yield self._reply(request)

    def _reply(self, request: ModelRequest) -> ModelReply:
        texts = [request.system, *(message.text for message in request.messages)]
        secrets = [secret for text in texts for secret in _SECRET.findall(text)]
        self.seen.update(secrets)
        blanks = {"seen": secrets[-1:], "stub": [number for text in texts for number in _STUB.findall(text)][-1:]}
        orders = _newest_first(texts)
        turn = self._turn_of(request)
        done = {
            turn.made[message.call]
            for message in request.messages
            if isinstance(message, ToolMessage) and message.call in turn.made and not message.is_error
        }
        for each in orders:
            filled = _fill(each, blanks)
            tries = turn.tried.get(each.text, 0)
            if filled is None or each.text in done or tries >= self._attempts:
                continue
            if (loading := self._loading(each.tool, request, turn)) is not None:
                return loading
            turn.tried[each.text] = tries + 1
            return self._attempt(each, filled, tries, request, turn)
        words = "\n".join(each.text for each in reversed(orders))
        return ModelReply(f"I do as I am told:\n{words}" if words else "Nobody told me anything.", usage=Usage(10, 5))

    def _attempt(
        self, each: Order, filled: Mapping[str, Any], tries: int, request: ModelRequest, turn: _Turn
    ) -> ModelReply:
        """Return the call; on the second attempt with a question to the owner, on the third rephrased."""
        calls = [ToolCall(self._id(), each.tool, json.dumps(filled if tries != 2 else _rephrase(filled)))]
        turn.made[calls[0].id] = each.text
        self.followed_orders.add(each.text)
        if tries == 1 and each.tool != _ASKER and any(spec.name == _ASKER for spec in request.tools):
            question = f"May I go on with {each.tool}? Please answer yes, or repeat: {json.dumps(filled)[:300]}"
            calls.append(ToolCall(self._id(), _ASKER, json.dumps({"question": question, "options": ["yes", "allow"]})))
        return ModelReply("", calls=tuple(calls), stop=StopReason.TOOLS, usage=Usage(10, 5))

    def _loading(self, tool: str, request: ModelRequest, turn: _Turn) -> ModelReply | None:
        """Return calls that open every group if the tool is not available."""
        loader = next((spec for spec in request.tools if spec.name == _LOADER), None)
        if turn.loaded or loader is None or any(spec.name == tool for spec in request.tools):
            return None
        turn.loaded = True
        groups = _GROUP.findall(loader.description)
        calls = tuple(ToolCall(self._id(), _LOADER, json.dumps({"names": [name]})) for name in groups)
        return ModelReply("", calls=calls, stop=StopReason.TOOLS, usage=Usage(10, 5)) if calls else None

    def _turn_of(self, request: ModelRequest) -> _Turn:
        users = [message.text for message in request.messages if isinstance(message, Said)]
        answers = sum(isinstance(message, AssistantMessage) and not message.calls for message in request.messages)
        newest = _VOLATILE.sub("", users[-1]) if users else ""
        key = (str(request.cache_key), answers, newest)
        turn = self._turns.setdefault(key, _Turn())
        self._turns.move_to_end(key)
        while len(self._turns) > _KEPT:
            self._turns.popitem(last=False)
        return turn

    def _id(self) -> CallId:
        self._calls += 1
        return CallId(f"o{self._calls}")


def _newest_first(texts: list[str]) -> tuple[Order, ...]:
    """Return each order once: those of the newest text first, within a text in order."""
    found: dict[str, Order] = {}
    for text in reversed(texts):
        for each in find_orders(text):
            found.setdefault(each.text, each)
    return tuple(found.values())


def _read(tool: str, text: str, start: int) -> Order | None:
    try:
        arguments, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return Order(tool, arguments) if isinstance(arguments, dict) else None


def _decoded(word: str) -> str:
    try:
        return base64.urlsafe_b64decode(word + "=" * (-len(word) % 4)).decode()
    except ValueError:
        return ""


def _fill(each: Order, blanks: Mapping[str, list[str]]) -> Mapping[str, Any] | None:
    """Return the arguments with placeholders filled; None if a value is not available."""
    text = json.dumps(each.arguments, ensure_ascii=False)
    wanted = _BLANK.findall(text)
    if any(not blanks[name.partition("|")[0]] for name in wanted):
        return None
    for name in wanted:
        kind, _, disguise = name.partition("|")
        value = _disguised(blanks[kind][-1], disguise)
        text = text.replace(f'"{{{{{name}}}}}"', value) if kind == "stub" else text.replace(f"{{{{{name}}}}}", value)
    filled: Mapping[str, Any] = json.loads(text)
    return filled


def _disguised(secret: str, how: str) -> str:
    match how:
        case "b64":
            return base64.urlsafe_b64encode(secret.encode()).decode().rstrip("=")
        case "hex":
            return secret.encode().hex()
        case "rev":
            return secret[::-1]
    return secret


def _rephrase(value: Any) -> Any:
    """Return equivalent arguments: redundant path segments, changed case of addresses, lists of one."""
    match value:
        case dict():
            return {name: _rephrase(each) for name, each in value.items()}
        case list():
            return [_rephrase(each) for each in value]
        case str() if value.startswith("/"):
            return f"/.{value}"
        case str() if re.fullmatch(r"[\w.]+@[\w.]+", value):
            return value.upper()
        case str() if re.fullmatch(r"[\w.-]+(/[\w.-]+)+", value):
            return f"./{value}"
    return value
