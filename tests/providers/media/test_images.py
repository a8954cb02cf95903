"""Words to pictures."""

import json
from contextlib import aclosing

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.models import Usage
from hob.providers.wires.openai_media.images import OpenAIImages
from hob.testing.model_server import ModelServer
from tests.providers.canned import client_of, saying

PNG = b"\x89PNG\r\n\x1a\n"


async def test_request_as_documented_and_the_picture_with_what_it_took() -> None:
    async with ModelServer() as server, aclosing(client_of(server.url)) as client:
        made = await OpenAIImages(client, "gpt-image-1-mini").generate("A red hat", "1536x1024")
        other = await OpenAIImages(client, "flux").generate("A red hat")
        bodies = [json.loads(asked.body) for asked in server.requests]
    assert bodies[0] == {"model": "gpt-image-1-mini", "prompt": "A red hat", "n": 1, "size": "1536x1024"}
    assert bodies[1] == {"model": "flux", "prompt": "A red hat", "n": 1, "response_format": "b64_json"}
    assert made.data.startswith(PNG)
    assert (made.media_type, made.usage, other.usage) == ("image/png", Usage(3, 272), None)


@pytest.mark.parametrize(
    "answer", [{}, {"data": []}, {"data": [{"url": "https://x.example/a.png"}]}, {"data": [{"b64_json": "aGVsbG8="}]}]
)
async def test_answer_without_a_picture_is_an_error(answer: object) -> None:
    async with saying(json.dumps(answer).encode()) as client:
        with pytest.raises(ModelError) as failed:
            await OpenAIImages(client, "m").generate("x")
    assert failed.value.fault is ModelFault.GARBAGE
