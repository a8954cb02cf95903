"""A key that was rotated while Hob runs: refused once, read anew, and nobody notices."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hob.config.secrets import SecretSources, make_secret
from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelReply, ModelRequest, UserMessage
from hob.core.settings import Secret
from hob.guard.screening.masking.known_secrets import KnownSecrets
from hob.guard.screening.masking.mask import MASKED
from hob.providers.http.client import Client
from hob.providers.http.server import Server
from hob.providers.http.transport import HttpModel
from hob.providers.wires.openai_chat.wire import ChatCompletions
from hob.testing.clock import ManualClock
from hob.testing.model_server import ModelServer

HI = ModelRequest("m", "", (UserMessage("hi"),))
OLD, NEW = "sk-old-0123456789", "sk-new-9876543210"


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(key=NEW) as opened:
        yield opened


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "key").write_text(OLD)
    return tmp_path / "key"


def secret_in(file: Path) -> Secret:
    return make_secret(f"file:{file}", "model.api_key", SecretSources({}, file.parent))


async def ask(model: HttpModel) -> str:
    try:
        async for event in model.stream(HI):
            if isinstance(event, ModelReply):
                return event.text
    finally:
        await model.aclose()
    raise AssertionError("no reply")


async def test_refused_key_is_read_again_and_the_request_goes_on(server: ModelServer, file: Path) -> None:
    secret, known = secret_in(file), KnownSecrets()
    known.watch([("model.api_key", secret)])
    assert secret.reveal() == OLD
    file.write_text(NEW)
    model = HttpModel(ChatCompletions(), Server(server.url, secret), ManualClock())
    assert await ask(model) == "You said: hi"
    assert len(server.requests) == 2
    assert known(f"{OLD} {NEW}") == f"{MASKED} {MASKED}"


async def test_same_key_is_not_sent_twice(server: ModelServer, file: Path) -> None:
    model = HttpModel(ChatCompletions(), Server(server.url, secret_in(file)), ManualClock())
    with pytest.raises(ModelError) as raised:
        await ask(model)
    assert raised.value.fault is ModelFault.AUTH
    assert len(server.requests) == 1


@pytest.mark.parametrize("change", [lambda file: file.write_text("sk-wrong-too"), Path.unlink])
async def test_new_key_that_is_no_better_is_tried_once(
    server: ModelServer, file: Path, change: Callable[[Path], object]
) -> None:
    secret = secret_in(file)
    secret.reveal()
    change(file)
    model = HttpModel(ChatCompletions(), Server(server.url, secret), ManualClock())
    with pytest.raises(ModelError) as raised:
        await ask(model)
    assert raised.value.fault is ModelFault.AUTH
    assert len(server.requests) <= 2


async def test_other_requests_go_on_too(server: ModelServer, file: Path) -> None:
    secret = secret_in(file)
    secret.reveal()
    file.write_text(NEW)

    async def with_retries(ask: Callable[[], object]) -> object:
        return await ask()  # type: ignore[misc]

    client = Client([Server(server.url, secret)], ManualClock(), with_retries)  # type: ignore[arg-type]
    answer = await client.fetch_json(
        lambda base: f"{base}/embeddings", {"model": "fake-1", "input": ["x"], "encoding_format": "float"}
    )
    await client.aclose()
    assert len(answer["data"]) == 1


def test_reference_to_a_secret_reads_its_new_value() -> None:
    held = Secret.of(OLD)
    assert held.reveal() == OLD
    held.replace_with(Secret(lambda: NEW, "file:key"))
    assert (held.reveal(), held.reference) == (NEW, "file:key")
