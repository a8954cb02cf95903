"""Whatever goes wrong with a model server goes wrong on every wire of the fake one, and the next request works."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from hob.testing.model_server import ODDITIES, Fault, ModelServer, Reply

from .plain import PLAIN


@dataclass(frozen=True)
class Way:
    """How one wire is asked: path, body and headers; `stream` is added where it goes into the body."""

    path: str
    body: dict[str, Any]
    streamed: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    def request(self, *, stream: bool) -> dict[str, Any]:
        if self.streamed:
            return {"url": self.streamed if stream else self.path, "json": self.body}
        return {"url": self.path, "json": {**self.body, "stream": stream}, "headers": dict(self.headers)}


WAYS = {
    "chat": Way("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "hi"}]}),
    "responses": Way("/v1/responses", {"model": "m", "input": "hi"}),
    "anthropic": Way(
        "/v1/messages",
        {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}]},
        headers=(("anthropic-version", "2023-06-01"),),
    ),
    "gemini": Way(
        "/v1beta/models/m:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
        streamed="/v1beta/models/m:streamGenerateContent?alt=sse",
    ),
    "gemini array": Way(
        "/v1beta/models/m:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
        streamed="/v1beta/models/m:streamGenerateContent",
    ),
    "ollama": Way("/api/chat", {"model": "m", "messages": [{"role": "user", "content": "hi"}]}),
}
REPLY = "one two three four"
STATUSES = {
    Fault.ERROR_500: {500},
    Fault.ERROR_503: {503},
    Fault.OVERLOADED: {503, 529},
    Fault.RATE_SHORT: {429},
    Fault.RATE_LONG: {429},
    Fault.RATE_DATE: {429},
    Fault.UNAUTHORIZED: {401, 400},
    Fault.FORBIDDEN: {403},
    Fault.PAYMENT: {402},
    Fault.QUOTA: {429, 400},
    Fault.BAD_REQUEST: {400},
    Fault.NOT_FOUND: {404},
    Fault.OVERFLOW: {400},
    Fault.HTML_502: {502},
}
CUT = {Fault.CUT_BEFORE, Fault.CUT_HEADERS, Fault.CUT_MIDDLE, Fault.CUT_AFTER_TEXT}
BROKEN = {Fault.CUT_JSON, Fault.ERROR_FIRST, Fault.ERROR_EVENT}
UNREADABLE = {Fault.HTML_200, Fault.GARBAGE, Fault.EMPTY_BODY}
SILENT = {Fault.SILENCE, Fault.SILENCE_MIDDLE}


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def http(server: ModelServer) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(verify=PLAIN, base_url=server.root, timeout=10) as http:
        yield http


async def works(http: httpx2.AsyncClient, way: Way) -> bool:
    answer = await http.post(**way.request(stream=False))
    return "You said: hi" in answer.text


def test_every_fault_is_of_one_kind() -> None:
    kinds = [set(STATUSES), CUT, BROKEN, UNREADABLE, SILENT, set(ODDITIES), {Fault.EMPTY_ANSWER, Fault.FILTERED}]
    assert set().union(*kinds) == set(Fault)
    assert sum(map(len, kinds)) == len(Fault)


@pytest.mark.parametrize("fault", sorted(STATUSES))
async def test_refusal_has_its_status(server: ModelServer, http: httpx2.AsyncClient, fault: Fault) -> None:
    for way in WAYS.values():
        for stream in (True, False):
            server.script.append(Reply(REPLY, fault=fault))
            answer = await http.post(**way.request(stream=stream))
            assert answer.status_code in STATUSES[fault]
            assert REPLY not in answer.text
            assert "error" in answer.text or fault is Fault.HTML_502
        assert await works(http, way)


@pytest.mark.parametrize("fault", sorted(CUT))
async def test_cut_ends_the_connection_early(server: ModelServer, http: httpx2.AsyncClient, fault: Fault) -> None:
    for way in WAYS.values():
        for stream in (True, False):
            server.script.append(Reply(REPLY, fault=fault))
            with pytest.raises(httpx2.RemoteProtocolError):
                await http.post(**way.request(stream=stream))
        assert await works(http, way)


@pytest.mark.parametrize("fault", sorted(BROKEN))
async def test_stream_that_breaks_ends_as_if_it_were_whole(
    server: ModelServer, http: httpx2.AsyncClient, fault: Fault
) -> None:
    for way in WAYS.values():
        server.script.append(Reply(REPLY, fault=fault))
        answer = await http.post(**way.request(stream=True))
        assert answer.status_code == 200
        assert "error" in answer.text or fault is Fault.CUT_JSON
        assert ("one" in answer.text) == (fault is Fault.ERROR_EVENT) or fault is Fault.CUT_JSON
        assert "four" not in answer.text
        assert await works(http, way)


@pytest.mark.parametrize("fault", sorted(SILENT))
async def test_silence_lasts_until_the_client_goes(server: ModelServer, http: httpx2.AsyncClient, fault: Fault) -> None:
    for way in WAYS.values():
        for stream in (True, False):
            server.script.append(Reply(REPLY, fault=fault))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await http.post(**way.request(stream=stream))
        assert await works(http, way)


@pytest.mark.parametrize("fault", sorted(UNREADABLE))
async def test_malformed_answer_comes_with_a_good_status(
    server: ModelServer, http: httpx2.AsyncClient, fault: Fault
) -> None:
    for way in WAYS.values():
        server.script.append(Reply(REPLY, fault=fault))
        answer = await http.post(**way.request(stream=True))
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/html") == (fault is Fault.HTML_200)
        with pytest.raises(ValueError):
            answer.json()


@pytest.mark.parametrize("fault", sorted(ODDITIES))
async def test_oddity_leaves_every_word_in_place(server: ModelServer, http: httpx2.AsyncClient, fault: Fault) -> None:
    for way in WAYS.values():
        for stream in (True, False):
            server.script.append(Reply(REPLY, calls=(("add", '{"a": "\\n"}'), ("add", "{}")), fault=fault))
            answer = await http.post(**way.request(stream=stream))
            assert answer.status_code == 200
            places = [answer.text.index(word) for word in REPLY.split()]
            assert places == sorted(places)


async def test_empty_answer_says_nothing(server: ModelServer, http: httpx2.AsyncClient) -> None:
    for way in WAYS.values():
        server.script.append(Reply(REPLY, calls=(("add", "{}"),), fault=Fault.EMPTY_ANSWER))
        answer = await http.post(**way.request(stream=True))
        assert answer.status_code == 200
        assert "one" not in answer.text.replace("none", "").replace('"done', "")
        assert '"add"' not in answer.text


async def test_fault_is_asked_for_by_the_last_message() -> None:
    for way in WAYS.values():
        request = way.request(stream=False)
        asked = json.loads(json.dumps(request["json"]).replace('"hi"', '"FAULT error_503 2"'))
        async with ModelServer() as server, httpx2.AsyncClient(verify=PLAIN, base_url=server.root) as http:
            answers = [await http.post(**{**request, "json": asked}) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [503, 503, 200]
        assert '"ok"' in answers[-1].text


async def test_keys_can_fare_differently() -> None:
    for way in WAYS.values():
        tired = {"k-tired": Reply(fault=Fault.RATE_LONG)}
        async with ModelServer(by_key=tired) as server, httpx2.AsyncClient(verify=PLAIN, base_url=server.root) as http:
            request = way.request(stream=False)
            statuses = []
            for key in ("k-tired", "k-fresh"):
                headers = {**request.get("headers", {}), "authorization": f"Bearer {key}"}
                statuses.append((await http.post(**{**request, "headers": headers})).status_code)
        assert statuses == [429, 200]


async def test_request_too_long_overflows_on_every_wire() -> None:
    async with ModelServer(max_bytes=10) as server, httpx2.AsyncClient(verify=PLAIN, base_url=server.root) as http:
        answers = [await http.post(**way.request(stream=False)) for way in WAYS.values()]
    assert [answer.status_code for answer in answers] == [400] * len(WAYS)
    assert all("tokens" in answer.text for answer in answers)
