"""OpenAI's own client connected to the application in this process."""

from typing import Any

import httpx2
import openai

from tests.gateway.conftest import TOKEN, Machine


def client_of(hob: Machine, *, token: str = TOKEN, retries: int = 0, **headers: str) -> openai.AsyncOpenAI:
    door = httpx2.AsyncClient(transport=httpx2.ASGITransport(hob.guarded))
    return openai.AsyncOpenAI(
        base_url="http://localhost/v1",
        api_key=token,
        max_retries=retries,
        http_client=door,
        default_headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def ask(client: openai.AsyncOpenAI, *messages: Any, **more: Any) -> Any:
    """Request one completion; a text is the user's message."""
    said = [user(each) if isinstance(each, str) else each for each in messages]
    return await client.chat.completions.create(**{"model": "hob", "messages": said, **more})
