"""What a server asks a model for (sampling): texts alone, without tools, within the tokens its owner gives it a day."""

from collections.abc import Iterator

import anyio
from mcp_types import CreateMessageRequestParams, CreateMessageResult, ErrorData, TextContent

from hob.core.errors import HobError
from hob.tools.mcp.server_environment import Sample

_REFUSED = -1  # as the specification has it for a person who refuses

_SYSTEM = """\
A program, {server}, asks you for a text, which it is given and nobody else reads. Do what it asks, as far as that \
is writing. You have no tools, and know nothing of the person who uses it: do not make up what they said or own."""


class Sampling:
    """The answer to one server's requests, one at a time; those of a call that is over are given up."""

    def __init__(self, server: str, tokens: int, sample: Sample) -> None:
        """`tokens` are what it has a day."""
        self._server = server
        self._tokens = tokens
        self._sample = sample
        self._one = anyio.Lock()
        self._running: set[anyio.CancelScope] = set()

    async def answer(self, wanted: CreateMessageRequestParams) -> CreateMessageResult | ErrorData:
        """What a model answers, or why none is asked."""
        if wanted.tools:
            return _refused("tools are not offered for sampling")
        try:
            question = "\n\n".join(_lines(wanted))
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
        """Nobody waits for the answers any more."""
        for scope in self._running:
            scope.cancel()


def _lines(wanted: CreateMessageRequestParams) -> Iterator[str]:
    """Its words, each under whose they are where there are several. Raises ValueError where one is no text."""
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
