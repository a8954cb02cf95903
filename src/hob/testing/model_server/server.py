"""The server: assigns requests to wires and answers them."""

import asyncio
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Self

from hob.core.values import dataclass
from hob.testing.model_server import catalogues, openai_media
from hob.testing.model_server.anthropic import Anthropic
from hob.testing.model_server.catalogues import is_anthropic
from hob.testing.model_server.connection import Connection
from hob.testing.model_server.gemini import Gemini
from hob.testing.model_server.hypertext import (
    STREAM_END,
    Action,
    End,
    HttpRequest,
    dump,
    insert_pauses,
    make_chunk,
    make_json_response,
    make_response,
    make_stream_head,
)
from hob.testing.model_server.ollama import Ollama, embed
from hob.testing.model_server.openai_chat import OpenAIChat
from hob.testing.model_server.openai_responses import OpenAIResponses
from hob.testing.model_server.prompt import Prompt, PromptCache, Turn, count_tokens
from hob.testing.model_server.replies import Fault, Reply, parse_reply
from hob.testing.model_server.wire import (
    Cause,
    Wire,
    WireAnswer,
    WireRefusal,
    WireRefused,
    bad_request,
    perform,
    perform_instead,
    perform_whole,
)

# Endpoints other than chat: model lists, token counts, embeddings, audio, images.


@dataclass(frozen=True, slots=True)
class Side:
    """Answer of such an endpoint. `asks` is the text that may request a fault; a body in pieces is streamed."""

    body: bytes | Sequence[bytes]
    kind: str = "application/json"
    asks: str = ""


def find_side(http_request: HttpRequest, path: str, wire: Wire, models: Sequence[str]) -> Side | None:
    """Return the answer for this path; None if there is no such path. Raises WireRefused, and errors for malformed
    bodies.
    """
    listed = catalogues.find_listing(http_request, path, models)
    if listed is not None:
        return _json(listed)
    match http_request.method, path:
        case "GET" | "HEAD", "/":
            return Side(b"Ollama is running", "text/plain; charset=utf-8")
        case "POST", "/v1/audio/transcriptions":
            asks, heard = openai_media.transcription(http_request)
            return Side(heard.encode(), "text/plain", asks) if isinstance(heard, str) else _json(heard, asks)
        case "POST", _:
            request = json.loads(http_request.body)
            return _posted(http_request, request, path, wire, models)
    return None


def _posted(
    http_request: HttpRequest, request: Mapping[str, Any], path: str, wire: Wire, models: Sequence[str]
) -> Side | None:
    match path:
        case "/v1/embeddings":
            return _json(openai_media.embeddings(request), openai_media.get_texts(request)[0])
        case "/v1/rerank":
            return _json(openai_media.rerank(request), request["query"])
        case "/v1/audio/speech":
            kind, pieces = openai_media.speech(request)
            return Side(pieces, kind, request["input"])
        case "/v1/images/generations":
            return _json(openai_media.image(request), request["prompt"])
        case "/v1/messages/count_tokens":
            return _json({"input_tokens": count_tokens(wire.read(http_request, request))})
        case "/api/embed":
            found = request.get("input") or ""
            return _json(embed(request), found if isinstance(found, str) else found[0])
        case "/api/show" if isinstance(wire, Ollama):
            name = catalogues.check_listed(request.get("model") or request["name"], models)
            return _json(catalogues.show_ollama(name, wire.capabilities))
        case _ if path.endswith(":countTokens"):
            counted = wire.read(http_request, request.get("generateContentRequest", request))
            tokens = count_tokens(counted)
            details = [{"modality": "TEXT", "tokenCount": tokens}]
            return _json({"totalTokens": tokens, "promptTokensDetails": details})
    return None


def _json(value: object, asks: str = "") -> Side:
    return Side(dump(value).encode(), asks=asks)


def perform_side(wire: Wire, side: Side, reply: Reply | None, number: str, http_request: HttpRequest) -> list[Action]:
    """Return the actions for the answer; the reply says what goes wrong."""
    fault = reply.fault if reply else None
    if reply and (instead := perform_instead(wire, reply, number, http_request, side.kind)):
        return instead
    if isinstance(side.body, bytes):
        return perform_whole(fault, side.body, side.kind, wire.headers(number))
    head = make_stream_head(side.kind, wire.headers(number))
    pieces = [make_chunk(piece) for piece in side.body]
    half = pieces[: max(1, len(pieces) // 2)]
    match fault:
        case Fault.CUT_HEADERS:
            return [head, End.DROP]
        case Fault.CUT_MIDDLE | Fault.CUT_AFTER_TEXT | Fault.ERROR_EVENT | Fault.CUT_JSON:
            return [head, *half, End.DROP]
        case Fault.SILENCE_MIDDLE:
            return [head, *half, End.HANG]
        case Fault.EMPTY_ANSWER:
            return [head, STREAM_END]
        case _:
            return insert_pauses([head, *pieces, STREAM_END], 0.002 if fault is Fault.DRIP else 0.0)


# Answers without a script, chosen by the last user message (see `hob.testing.model_server`).

_CLOSED = re.compile(r"^\[(?:No answer was given to this: .*|The owner stopped this)\.\]$", re.MULTILINE)
_TRIAL = re.compile(r"Call the tool (\w+) with the word (\w+)\.")
"""Question of `hob models test`."""
_FAULT = re.compile(rf"FAULT (?P<name>{'|'.join(Fault)})(?: (?P<times>[0-9]{{1,6}}))? *$", re.MULTILINE)


@dataclass(slots=True)
class Convention:
    """Answers by convention; counts how often each fault was shown."""

    _failed: Counter[str] = field(default_factory=Counter)

    def reply_to(self, turns: Sequence[Turn]) -> Reply:
        """Return the answer to a conversation."""
        if turns and turns[-1].role == "tool":
            return Reply(f"The tool said: {' | '.join(_last_results(turns))}")
        said = next((turn.text for turn in reversed(turns) if turn.role == "user"), "")
        paragraph = _CLOSED.split(said)[-1].strip().partition("\n\n")[0]
        lines = paragraph.splitlines()
        if paragraph.startswith("CALL "):
            words = (line.split(" ", 2) for line in lines if line.startswith("CALL "))
            return Reply(calls=tuple((word[1], word[2] if len(word) > 2 else "{}") for word in words))
        if trial := _TRIAL.match(paragraph):
            return Reply(calls=((trial[1], f'{{"word": "{trial[2]}"}}'),))
        if fault := self.fault_in(paragraph):
            return fault
        if headings := _headings(turns):
            return Reply("\n\n".join(f"{heading}\n- nothing of note" for heading in headings))
        return Reply(f"You said: {paragraph}")

    def fault_in(self, text: str) -> Reply | None:
        """Return the fault requested by `FAULT name [times]` in the first line, if any."""
        asked = _FAULT.match(text)
        if asked is None:
            return None
        self._failed[asked[0]] += 1
        if asked["times"] and self._failed[asked[0]] > int(asked["times"]):
            return Reply("ok")
        return Reply("Some words that come before the trouble.", fault=Fault(asked["name"]))


def _headings(turns: Sequence[Turn]) -> list[str]:
    if not turns or turns[0].role != "system":
        return []
    return [line for line in turns[0].text.splitlines() if line.startswith("## ")]


def _last_results(turns: Sequence[Turn]) -> list[str]:
    last = len(turns)
    while last and turns[last - 1].role == "tool":
        last -= 1
    return [turn.text for turn in turns[last:]]


_CHATS = ("/chat/completions", "/responses", "/messages", ":generateContent", ":streamGenerateContent", "/api/chat")


class ModelServer:
    """Serves all wires on one port between `__aenter__` and `__aexit__`.

    Each chat request takes one reply of `script`; then `by_key` answers (by API key; its faults apply to all other
    endpoints too), then `otherwise` (a reply or a function of the request's JSON, including `model`), then the
    convention of this package. With `key`, every other key is refused; requests longer than `max_bytes` overflow the
    context. Prefixes of prompts are cached from `cache_from` tokens; `capabilities` are Ollama's names for model
    features. `requests` holds the last `keep` requests.
    """

    def __init__(
        self,
        *script: Reply | str,
        port: int = 0,
        otherwise: Reply | Callable[[Mapping[str, Any]], Reply] | None = None,
        by_key: Mapping[str, Reply] | None = None,
        key: str | None = None,
        models: Sequence[str] = ("fake-1",),
        capabilities: Sequence[str] = ("completion", "tools", "thinking", "vision"),
        max_bytes: int | None = None,
        delay: float = 0.0,
        cache_from: int = 1024,
        keep: int = 10_000,
    ) -> None:
        self.script: deque[Reply] = deque(reply if isinstance(reply, Reply) else Reply(reply) for reply in script)
        self.requests: deque[HttpRequest] = deque(maxlen=keep)
        self.connections: set[Connection] = set()
        self._otherwise = otherwise
        self._by_key = by_key or {}
        self._key = key
        self._models = tuple(models)
        self._most_bytes = max_bytes
        self._delay = delay
        self._port = port
        self._number = 0
        self._convention = Convention()
        self._wires = _Wires(capabilities)
        self._cache = PromptCache(cache_from)
        self._server: asyncio.Server | None = None

    @property
    def root(self) -> str:
        """Base URL without a path, as Anthropic's, Google's and Ollama's clients expect it."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def url(self) -> str:
        """Base URL with `/v1`, as OpenAI's clients expect it."""
        return f"{self.root}/v1"

    @property
    def chats(self) -> list[HttpRequest]:
        """The chat requests among `requests`."""
        return [asked for asked in self.requests if asked.path.partition("?")[0].endswith(_CHATS)]

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self.respond, self.connections, loop), "127.0.0.1", self._port
        )
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None  # noqa: S101
        self._server.close()
        for connection in list(self.connections):
            connection.abort()
        await self._server.wait_closed()

    def respond(self, http_request: HttpRequest) -> Iterable[Action]:
        """Return the actions for one request."""
        path = http_request.path.partition("?")[0]
        if path.startswith("/_fake/"):
            return [self._control(http_request, path)]
        self.requests.append(http_request)
        self._number += 1
        wire = self._wires.of(http_request, path)
        key = wire.key(http_request)
        try:
            if self._key is not None and key != self._key:
                raise WireRefused(WireRefusal(Cause.KEY if key else Cause.NO_KEY, param=key))
            if http_request.method == "POST" and path.endswith(_CHATS):
                actions = self._chat(http_request, wire, key)
            else:
                actions = self._serve(http_request, path, wire, key)
        except WireRefused as refused:
            return [wire.refuse(refused.refusal, self._name, http_request)]
        return [self._delay, *actions] if self._delay else actions

    @property
    def _name(self) -> str:
        """Return a prefix for this request's ids; servers on one machine never share it."""
        return f"{self._port:x}{self._number}"

    def _control(self, http_request: HttpRequest, path: str) -> bytes:
        match http_request.method, path:
            case "POST", "/_fake/script":
                self.script.extend(parse_reply(reply) for reply in http_request.json())
                return make_response(200, b"{}")
            case "GET", "/_fake/requests":
                return make_json_response(200, [_row(asked) for asked in self.requests])
            case "DELETE", "/_fake/requests":
                self.requests.clear()
                return make_response(200, b"{}")
            case _:
                return make_response(404, b"{}")

    def _serve(self, http_request: HttpRequest, path: str, wire: Wire, key: str) -> Sequence[Action]:
        """Serve everything except chat."""
        with _refuse_malformed():
            side = find_side(http_request, path, wire, self._models)
        if side is None:
            raise WireRefused(
                WireRefusal(Cause.NO_PATH, f"Unknown request URL: {http_request.method} {path}.", code="unknown_url")
            )
        spoilt = self._convention.fault_in(side.asks) or self._by_key.get(key)
        return perform_side(wire, side, spoilt, self._name, http_request)

    def _chat(self, http_request: HttpRequest, wire: Wire, key: str) -> Sequence[Action]:
        with _refuse_malformed():
            prompt = wire.read(http_request, json.loads(http_request.body))
        if self._most_bytes is not None and len(http_request.body) > self._most_bytes:
            raise WireRefused(WireRefusal(Cause.OVERFLOW))
        reply = self._choose(prompt, key)
        return perform(wire, WireAnswer(reply, prompt, self._name, self._cache.count(prompt), http_request))

    def _choose(self, prompt: Prompt, key: str) -> Reply:
        if self.script:
            return self.script.popleft()
        if key in self._by_key:
            return self._by_key[key]
        if callable(self._otherwise):
            return self._otherwise(prompt.request)
        return self._otherwise or self._convention.reply_to(prompt.turns)


def _row(http_request: HttpRequest) -> Mapping[str, Any]:
    body = http_request.body.decode(errors="replace")
    return {
        "method": http_request.method,
        "path": http_request.path,
        "headers": http_request.headers,
        "body": body,
        "at": http_request.at,
    }


class _Wires:
    """Finds the protocol of a request."""

    def __init__(self, capabilities: Sequence[str]) -> None:
        self._chat = OpenAIChat()
        self._responses = OpenAIResponses()
        self._anthropic = Anthropic()
        self._gemini = Gemini()
        self._ollama = Ollama(capabilities)

    def of(self, http_request: HttpRequest, path: str) -> Wire:
        if path.startswith("/v1beta/"):
            return self._gemini
        if path == "/" or path.startswith("/api/"):
            return self._ollama
        if path == "/v1/responses":
            return self._responses
        if path.startswith("/v1/messages") or (path.startswith("/v1/models") and is_anthropic(http_request)):
            return self._anthropic
        return self._chat


@contextmanager
def _refuse_malformed() -> Iterator[None]:
    """Refuse malformed bodies that no check of a field has caught."""
    try:
        yield
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise bad_request("We could not parse the JSON body of your request.") from error
