"""Which earlier message a repeated request means."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import openai
import pytest

from hob.core.clock import SystemClock
from hob.core.labels import SenderClass
from hob.gateway.asgi import build_api
from hob.gateway.callers import Scope
from hob.gateway.openai.joining import SURELY_SEEN
from hob.gateway.tokens import TokenFile
from tests.gateway.conftest import Machine
from tests.gateway.openai.conftest import ask, client_of

OWN = frozenset({Scope.CHAT})


def again(number: int) -> dict[str, Any]:
    """Of OpenAI's clients: this is the same request once more."""
    return {"extra_headers": {"x-stainless-retry-count": str(number)}}


async def test_a_repeated_request_gets_the_first_ones_answer(hob: Machine) -> None:
    client = client_of(hob)
    first = await ask(client, "hi")
    assert (await ask(client, "hi", **again(1))).id == first.id
    assert (await ask(client, "hi", **again(2))).id == first.id
    assert len(hob.model.requests) == 1


async def test_requests_that_are_meant_twice_are_two(hob: Machine) -> None:
    client = client_of(hob)
    answers = await asyncio.gather(*(ask(client, "hi") for _ in range(4)))
    assert len({answer.id for answer in answers}) == 4


async def test_each_of_two_alike_gets_an_answer_of_its_own_again(hob: Machine) -> None:
    client = client_of(hob)
    first = {(await ask(client, "hi")).id for _ in range(2)}
    second = {(await ask(client, "hi", **again(1))).id for _ in range(2)}
    assert second == first
    assert (await ask(client, "hi", **again(1))).id not in first


@pytest.mark.parametrize("other", [{"user": "ben"}, {"temperature": 0.5}, {"model": "scripted"}])
async def test_another_request_is_never_joined(hob: Machine, other: dict[str, Any]) -> None:
    client = client_of(hob)
    first = await ask(client, "hi")
    assert (await ask(client, "hi", **other, **again(1))).id != first.id
    assert (await ask(client, "hello", **again(1))).id != first.id


class Later(SystemClock):
    """The machine's clock, after an answer was surely seen."""

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=SURELY_SEEN + 1)


async def test_an_answer_that_was_surely_seen_is_not_given_again(hob: Machine) -> None:
    first = await ask(client_of(hob), "hi")
    later = replace(hob, guarded=build_api(replace(hob.app.api, clock=Later()), local=False))
    assert (await ask(client_of(later), "hi", **again(1))).id != first.id


async def test_a_key_joins_whoever_repeats_it_and_only_the_same_request(hob: Machine) -> None:
    client = client_of(hob, Idempotency_Key="report-1")
    first = await ask(client, "hi")
    assert (await ask(client, "hi")).id == first.id
    with pytest.raises(openai.ConflictError) as caught:
        await ask(client_of(hob, retries=3, Idempotency_Key="report-1"), "hello")
    assert caught.value.code == "key_reused"
    assert len(hob.model.requests) == 1


async def test_two_of_the_owners_programs_never_join_each_other(hob: Machine) -> None:
    file = TokenFile(hob.app.home, SystemClock())
    one, two = (client_of(hob, token=file.add(name, OWN, SenderClass.OWNER, None)) for name in ("one", "two"))
    first = await ask(one, "hi")
    assert (await ask(two, "hi", **again(1))).id != first.id
    assert (await ask(one, "hi", **again(1))).id == first.id
