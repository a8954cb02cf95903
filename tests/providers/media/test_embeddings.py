"""Vectors: what is asked, and what of a server's answer is believed."""

import base64
import json
import struct
from contextlib import aclosing
from typing import Any

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.models import Usage
from hob.providers.media.vectors import MAX_BYTES, MAX_TEXTS
from hob.providers.wires.ollama.wire import OllamaEmbedder
from hob.providers.wires.openai_media.embeddings import OpenAIEmbedder
from hob.testing.model_server import ModelServer
from tests.providers.canned import client_of, saying


def row(*vector: float, **more: Any) -> dict[str, Any]:
    return {"embedding": list(vector), **more}


async def vectors_of(*rows: Any, texts: int = 1) -> Any:
    async with saying({"data": list(rows)}) as client:
        return (await OpenAIEmbedder(client, "m").embed(["x"] * texts)).vectors


async def test_vectors_have_unit_length() -> None:
    assert await vectors_of(row(3.0, 4.0)) == ((0.6, 0.8),)


async def test_vectors_are_in_the_order_of_their_texts() -> None:
    found = await vectors_of(row(0, 1, index=1), row(1, 0, index=0), texts=2)
    assert found == ((1, 0), (0, 1))


async def test_rows_without_an_index_are_taken_in_order() -> None:
    assert await vectors_of(row(1, 0), row(0, 1), texts=2) == ((1, 0), (0, 1))


async def test_packed_vectors_are_unpacked() -> None:
    packed = base64.b64encode(struct.pack("<2f", 0.0, 2.0)).decode()
    assert await vectors_of({"embedding": packed}) == ((0.0, 1.0),)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row(1, 0), row(0, 1)],
        [row()],
        [row(0, 0)],
        [{"embedding": [float("nan")]}],
        [{"embedding": [1.7e308, 1.7e308]}],
        [{"embedding": [10**400]}],
        [{"embedding": ["1"]}],
        [{"embedding": [True]}],
        [{"embedding": None}],
        [{"embedding": "!!"}],
        [{"embedding": "QUI="}],
        [row(1, index=1)],
        ["x"],
    ],
)
async def test_answer_without_vectors_is_refused(rows: list[Any]) -> None:
    with pytest.raises(ModelError) as caught:
        await vectors_of(*rows)
    assert caught.value.fault is ModelFault.GARBAGE


@pytest.mark.parametrize("places", [(0, 0), (1, 2), (0, None), (0, "1"), (0, True)])
async def test_vectors_with_ambiguous_indexes_are_refused(places: tuple[Any, Any]) -> None:
    with pytest.raises(ModelError, match="other texts"):
        await vectors_of(*(row(1, index=place) for place in places), texts=2)


async def test_vectors_of_different_lengths_are_refused() -> None:
    with pytest.raises(ModelError, match="different lengths"):
        await vectors_of(row(1, 0), row(1), texts=2)


@pytest.mark.parametrize("answer", [[], {"embeddings": None}, {"embeddings": [[]]}, {"embeddings": []}, b"<html>"])
async def test_ollamas_vectors_are_checked_too(answer: Any) -> None:
    async with saying(answer) as client:
        with pytest.raises(ModelError) as caught:
            await OllamaEmbedder(client, "m").embed(["x"])
    assert caught.value.fault is ModelFault.GARBAGE


async def test_many_texts_go_in_several_requests_and_are_counted_together() -> None:
    texts = [f"text {number}" for number in range(2 * MAX_TEXTS + 1)]
    async with ModelServer() as server, aclosing(client_of(server.url)) as client:
        found = await OpenAIEmbedder(client, "m").embed(texts)
        sizes = [len(json.loads(asked.body)["input"]) for asked in server.requests]
    assert sizes == [MAX_TEXTS, MAX_TEXTS, 1]
    assert found.usage == Usage(2 * len(texts))


async def test_long_texts_go_in_several_requests() -> None:
    async with ModelServer() as server, aclosing(client_of(server.url)) as client:
        await OpenAIEmbedder(client, "m").embed(["x" * (MAX_BYTES // 2 + 1)] * 3)
        assert len(server.requests) == 3


async def test_no_texts_make_no_request() -> None:
    async with ModelServer() as server, aclosing(client_of(server.url)) as client:
        assert (await OpenAIEmbedder(client, "m").embed([])).vectors == ()
        assert not server.requests


async def test_overlong_text_is_reported_as_such() -> None:
    async with ModelServer() as server, aclosing(client_of(server.url)) as client:
        with pytest.raises(ModelError, match="a text is too long") as caught:
            await OpenAIEmbedder(client, "m").embed(["FAULT overflow"])
    assert caught.value.fault is ModelFault.CONTEXT_OVERFLOW


async def test_only_the_failed_batch_is_retried() -> None:
    texts = ["x"] * MAX_TEXTS + ["FAULT error_503 2"]
    async with ModelServer() as server, aclosing(client_of(server.url)) as client:
        assert len((await OpenAIEmbedder(client, "m").embed(texts)).vectors) == len(texts)
        assert len(server.requests) == 4
