"""Retried requests are joined to the message they repeat."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import openai
import pytest

from hob.app.endpoints import ENDPOINTS
from hob.core.clock import SystemClock
from hob.core.trust.labels import SenderClass
from hob.gateway.auth.callers import TokenScope
from hob.gateway.auth.tokens import TokenFile
from hob.gateway.http.asgi import build_api
from hob.gateway.openai.joined_requests import seen_after
from tests.gateway.conftest import Machine
from tests.gateway.openai.conftest import ask, client_of

OWN = frozenset({TokenScope.CHAT})


def again(number: int) -> dict[str, Any]:
    """The header by which OpenAI's clients mark retries."""
    return {"extra_headers": {"x-stainless-retry-count": str(number)}}


async def test_retried_request_gets_the_first_answer(hob: Machine) -> None:
    client = client_of(hob)
    first = await ask(client, "hi")
    assert (await ask(client, "hi", **again(1))).id == first.id
    assert (await ask(client, "hi", **again(2))).id == first.id
    assert len(hob.model.requests) == 1


async def test_identical_intended_requests_stay_separate(hob: Machine) -> None:
    client = client_of(hob)
    answers = await asyncio.gather(*(ask(client, "hi") for _ in range(4)))
    assert len({answer.id for answer in answers}) == 4


async def test_retries_of_identical_requests_get_separate_answers(hob: Machine) -> None:
    client = client_of(hob)
    first = {(await ask(client, "hi")).id for _ in range(2)}
    second = {(await ask(client, "hi", **again(1))).id for _ in range(2)}
    assert second == first
    assert (await ask(client, "hi", **again(1))).id not in first


@pytest.mark.parametrize("other", [{"user": "ben"}, {"temperature": 0.5}, {"model": "scripted"}])
async def test_different_request_is_never_joined(hob: Machine, other: dict[str, Any]) -> None:
    client = client_of(hob)
    first = await ask(client, "hi")
    assert (await ask(client, "hi", **other, **again(1))).id != first.id
    assert (await ask(client, "hello", **again(1))).id != first.id


class Later(SystemClock):
    """The system clock shifted by some seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self._seconds)


@pytest.mark.parametrize("number", [1, 2, 3, 6])
async def test_retry_whose_first_attempt_was_lost_runs_anew_after_a_seen_answer(hob: Machine, number: int) -> None:
    """After a lost connection or a restart, the second of two identical requests must not be taken for the first."""
    first = await ask(client_of(hob), "toggle the lamp")
    api = replace(hob.app.api, clock=Later(seen_after(number)))
    later = replace(hob, guarded=build_api(api, local=False, endpoints=ENDPOINTS))
    assert (await ask(client_of(later), "toggle the lamp", **again(number))).id != first.id
    assert len(hob.model.requests) == 2


def test_seen_after_matches_the_clients_retry_pauses() -> None:
    assert [seen_after(number) for number in (1, 2, 3, 4, 5, 9)] == [3.5, 4, 5, 7, 11, 11]


async def test_idempotency_key_joins_only_identical_requests(hob: Machine) -> None:
    client = client_of(hob, Idempotency_Key="report-1")
    first = await ask(client, "hi")
    assert (await ask(client, "hi")).id == first.id
    with pytest.raises(openai.ConflictError) as caught:
        await ask(client_of(hob, retries=3, Idempotency_Key="report-1"), "hello")
    assert caught.value.code == "key_reused"
    assert len(hob.model.requests) == 1


async def test_requests_of_different_programs_are_never_joined(hob: Machine) -> None:
    file = TokenFile(hob.app.home, SystemClock())
    one, two = (client_of(hob, token=file.add(name, OWN, SenderClass.OWNER, None)) for name in ("one", "two"))
    first = await ask(one, "hi")
    assert (await ask(two, "hi", **again(1))).id != first.id
    assert (await ask(one, "hi", **again(1))).id == first.id
