"""The last net before an answer leaves: no known secret is in it, wherever it comes from."""

from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class MaskedAnswers:
    """Wraps an application. An answer in one piece keeps its right length, one that grows is masked piece by piece."""

    def __init__(self, app: ASGIApp, mask: Callable[[str], str]) -> None:
        self._app = app
        self._mask = mask

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head: Message | None = None

        async def masked(message: Message) -> None:
            nonlocal head
            if message["type"] == "http.response.start":
                if not any(name == b"content-length" for name, _ in message["headers"]):
                    await send(message)  # it grows: whoever follows it sees at once that it began
                else:
                    head = message
                return
            if message["type"] == "http.response.body":
                body = self._clean(message.get("body", b""))
                if head is not None:
                    await send(_resized(head, len(body)))
                    head = None
                message = {**message, "body": body}
            elif message["type"] == "websocket.send":
                message = {**message, "text": self._mask(message["text"])}
            await send(message)

        await self._app(scope, receive, masked)

    def _clean(self, body: bytes) -> bytes:
        return self._mask(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _resized(head: Message, size: int) -> Message:
    sized = ((name, str(size).encode() if name == b"content-length" else value) for name, value in head["headers"])
    return {**head, "headers": list(sized)}
