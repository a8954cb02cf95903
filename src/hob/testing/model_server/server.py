"""The server: which request goes to which wire, and what it is answered."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from hob.testing.model_server.anthropic import Anthropic
from hob.testing.model_server.catalogues import is_anthropic
from hob.testing.model_server.connection import Connection
from hob.testing.model_server.convention import Convention
from hob.testing.model_server.gemini import Gemini
from hob.testing.model_server.hypertext import Action, Asked, whole, whole_json
from hob.testing.model_server.ollama import Ollama
from hob.testing.model_server.openai_chat import OpenAIChat
from hob.testing.model_server.openai_responses import OpenAIResponses
from hob.testing.model_server.prompt import Prompt, PromptCache
from hob.testing.model_server.replies import Reply, reply_of
from hob.testing.model_server.sides import find_side, perform_side
from hob.testing.model_server.wire import Cause, Wire, WireAnswer, WireRefusal, WireRefused, bad, perform

_CHATS = ("/chat/completions", "/responses", "/messages", ":generateContent", ":streamGenerateContent", "/api/chat")


class ModelServer:
    """Serves all wires on one port between `__aenter__` and `__aexit__`.

    `script` is used up one reply per chat request; then `by_key` answers (by the API key that was sent; its faults
    hold for all else too), then
    `otherwise` (a reply or a function of the request's JSON, `model` included), then the convention of this package.
    `key` makes it refuse every other key; `most_bytes` makes longer requests overflow the context. A beginning of a
    prompt is cached from `cache_from` tokens on; `capabilities` are Ollama's word for what the models can.
    `requests` holds the last `keep` requests.
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
        most_bytes: int | None = None,
        delay: float = 0.0,
        cache_from: int = 1024,
        keep: int = 10_000,
    ) -> None:
        self.script: deque[Reply] = deque(reply if isinstance(reply, Reply) else Reply(reply) for reply in script)
        self.requests: deque[Asked] = deque(maxlen=keep)
        self.connections: set[Connection] = set()
        self._otherwise = otherwise
        self._by_key = by_key or {}
        self._key = key
        self._models = tuple(models)
        self._most_bytes = most_bytes
        self._delay = delay
        self._port = port
        self._number = 0
        self._convention = Convention()
        self._wires = _Wires(capabilities)
        self._cache = PromptCache(cache_from)
        self._server: asyncio.Server | None = None

    @property
    def root(self) -> str:
        """The base URL without any path, as Anthropic's, Google's and Ollama's clients want it."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def url(self) -> str:
        """The base URL with `/v1`, as OpenAI's clients want it."""
        return f"{self.root}/v1"

    @property
    def chats(self) -> list[Asked]:
        """The requests for an answer among `requests`."""
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

    def respond(self, asked: Asked) -> Iterable[Action]:
        """What is done about one request."""
        path = asked.path.partition("?")[0]
        if path.startswith("/_fake/"):
            return [self._control(asked, path)]
        self.requests.append(asked)
        self._number += 1
        wire = self._wires.of(asked, path)
        key = wire.key(asked)
        try:
            if self._key is not None and key != self._key:
                raise WireRefused(WireRefusal(Cause.KEY if key else Cause.NO_KEY, param=key))
            if asked.method == "POST" and path.endswith(_CHATS):
                actions = self._chat(asked, wire, key)
            else:
                actions = self._serve(asked, path, wire, key)
        except WireRefused as refused:
            return [wire.refuse(refused.refusal, self._name, asked)]
        return [self._delay, *actions] if self._delay else actions

    @property
    def _name(self) -> str:
        """What makes this request's ids; no two servers of a machine share them."""
        return f"{self._port:x}{self._number}"

    def _control(self, asked: Asked, path: str) -> bytes:
        match asked.method, path:
            case "POST", "/_fake/script":
                self.script.extend(reply_of(reply) for reply in asked.json())
                return whole(200, b"{}")
            case "GET", "/_fake/requests":
                return whole_json(200, [_row(asked) for asked in self.requests])
            case "DELETE", "/_fake/requests":
                self.requests.clear()
                return whole(200, b"{}")
            case _:
                return whole(404, b"{}")

    def _serve(self, asked: Asked, path: str, wire: Wire, key: str) -> Sequence[Action]:
        """All that is no chat."""
        with _readable():
            side = find_side(asked, path, wire, self._models)
        if side is None:
            raise WireRefused(
                WireRefusal(Cause.NO_PATH, f"Unknown request URL: {asked.method} {path}.", code="unknown_url")
            )
        spoilt = self._convention.fault_in(side.asks) or self._by_key.get(key)
        return perform_side(wire, side, spoilt, self._name, asked)

    def _chat(self, asked: Asked, wire: Wire, key: str) -> Sequence[Action]:
        with _readable():
            prompt = wire.read(asked, json.loads(asked.body))
        if self._most_bytes is not None and len(asked.body) > self._most_bytes:
            raise WireRefused(WireRefusal(Cause.OVERFLOW))
        reply = self._choose(prompt, key)
        return perform(wire, WireAnswer(reply, prompt, self._name, self._cache.count(prompt), asked))

    def _choose(self, prompt: Prompt, key: str) -> Reply:
        if self.script:
            return self.script.popleft()
        if key in self._by_key:
            return self._by_key[key]
        if callable(self._otherwise):
            return self._otherwise(prompt.request)
        return self._otherwise or self._convention.reply_to(prompt.turns)


def _row(asked: Asked) -> Mapping[str, Any]:
    body = asked.body.decode(errors="replace")
    return {"method": asked.method, "path": asked.path, "headers": asked.headers, "body": body, "at": asked.at}


class _Wires:
    """Which protocol a request is of."""

    def __init__(self, capabilities: Sequence[str]) -> None:
        self._chat = OpenAIChat()
        self._responses = OpenAIResponses()
        self._anthropic = Anthropic()
        self._gemini = Gemini()
        self._ollama = Ollama(capabilities)

    def of(self, asked: Asked, path: str) -> Wire:
        if path.startswith("/v1beta/"):
            return self._gemini
        if path == "/" or path.startswith("/api/"):
            return self._ollama
        if path == "/v1/responses":
            return self._responses
        if path.startswith("/v1/messages") or (path.startswith("/v1/models") and is_anthropic(asked)):
            return self._anthropic
        return self._chat


@contextmanager
def _readable() -> Iterator[None]:
    """A shape that no field's own check has foreseen is refused too."""
    try:
        yield
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise bad("We could not parse the JSON body of your request.") from error
