"""What is asked besides answers: every key once, then patiently, never more."""

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.settings import Secret
from hob.providers.http.client import Client
from hob.providers.http.server import Server
from hob.providers.routing.failover import ModelRoute
from hob.providers.routing.failover_model import Failover
from hob.testing.clock import ManualClock
from hob.testing.model import ScriptedModel
from hob.testing.model_server import Fault, ModelServer, Reply
from tests.providers.canned import saying_forever


def client_of(server: ModelServer, keys: int) -> Client:
    clock = ManualClock(jump=True)
    failover = Failover(lambda ref: (ModelRoute(ref, "x"),), lambda _: ScriptedModel(), clock, draw=lambda: 0.0)
    servers = [Server(server.url, Secret.of(f"key-{place}")) for place in range(keys)]
    return Client(servers, clock, failover.with_retries)


async def ask(client: Client) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await client.fetch_json(lambda base: f"{base}/embeddings", {"model": "m", "input": ["x"]})
    await client.aclose()
    return caught.value


async def test_keys_that_are_refused_are_asked_once_each() -> None:
    refused = {f"key-{place}": Reply(fault=Fault.UNAUTHORIZED) for place in range(4)}
    async with ModelServer(by_key=refused) as server:
        assert (await ask(client_of(server, 4))).fault is ModelFault.AUTH
        assert len(server.requests) == 4


async def test_failing_server_is_not_retried_with_every_key() -> None:
    trouble = {f"key-{place}": Reply(fault=Fault.ERROR_500) for place in range(4)}
    async with ModelServer(by_key=trouble) as server:
        assert (await ask(client_of(server, 4))).fault is ModelFault.OVERLOAD
        assert len(server.requests) <= 5


@pytest.mark.parametrize(("status", "fault"), [(200, ModelFault.GARBAGE), (400, ModelFault.BAD_REQUEST)])
async def test_endless_answers_and_errors_are_aborted(status: int, fault: ModelFault) -> None:
    async with saying_forever(status) as client:
        assert (await ask(client)).fault is fault
