"""Sampling: a server's requests to the owner's model, text only and within a daily token limit."""

from collections.abc import Iterator

import anyio
from mcp_types import CreateMessageRequestParams, CreateMessageResult, ErrorData, TextContent

from hob.core.errors import HobError
from hob.tools.mcp.server_environment import Sample

_REFUSED = -1  # the specification's code for a user's refusal

_SYSTEM = """\
A program, {server}, asks you for a text, which it is given and nobody else reads. Do what it asks, as far as that \
is writing. You have no tools, and know nothing of the person who uses it: do not make up what they said or own."""


class Sampling:
    """Answers the requests of one server one at a time; requests of finished calls are cancelled."""

    def __init__(self, server: str, tokens: int, sample: Sample) -> None:
        """`tokens` is the server's daily limit."""
        self._server = server
        self._tokens = tokens
        self._sample = sample
        self._one = anyio.Lock()
        self._running: set[anyio.CancelScope] = set()

    async def answer(self, wanted: CreateMessageRequestParams) -> CreateMessageResult | ErrorData:
        """Return the model's answer, or an error that says why there is none."""
        if wanted.tools:
            return _refused("tools are not offered for sampling")
        try:
            question = "\n\n".join(_question_texts(wanted))
        except ValueError as error:
            return _refused(str(error))
        text = ""
        with anyio.CancelScope() as scope:
            self._running.add(scope)
            try:
                async with self._one:
                    system = _SYSTEM.format(server=self._server)
                    text = await self._sample(self._server, self._tokens, system, question, wanted.max_tokens)
            except HobError as error:
                return _refused(str(error))
            finally:
                self._running.discard(scope)
        if scope.cancelled_caught:
            return _refused("the call that this belongs to is over")
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text=text), model="hob")

    def give_up(self) -> None:
        """Cancel all requests in progress."""
        for scope in self._running:
            scope.cancel()


def _question_texts(wanted: CreateMessageRequestParams) -> Iterator[str]:
    """Yield the texts of a request, with roles if there are several. Raises ValueError for other content."""
    alone = len(wanted.messages) == 1 and not wanted.system_prompt
    if wanted.system_prompt:
        yield f"instructions: {wanted.system_prompt}"
    for message in wanted.messages:
        for block in message.content_as_list:
            if not isinstance(block, TextContent):
                raise ValueError(f"a model is given texts alone, no {block.type}")
            yield block.text if alone else f"{message.role}: {block.text}"


def _refused(why: str) -> ErrorData:
    return ErrorData(code=_REFUSED, message=why)
