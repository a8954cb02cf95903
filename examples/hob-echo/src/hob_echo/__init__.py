"""A provider in one file: an object with `stream`, and the function named by the entry point."""

from collections.abc import AsyncIterator

from hob.core.clock import Clock
from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelEvent, ModelReply, ModelRequest, TextDelta, Usage, UserMessage
from hob.core.ports.model import Model
from hob.core.ports.tools import Blobs
from hob.providers.settings import ProviderSettings

MODELS = ("plain", "loud")


class Echo:
    """Implements `hob.core.ports.model.Model`: pieces of the answer first, the whole reply last."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield the user's last message. `request.model` is what follows the slash in `echo/loud`."""
        name = request.model or MODELS[0]
        if name not in MODELS:
            raise ModelError(ModelFault.NOT_FOUND, f"echo has no model {name}; it has {' and '.join(MODELS)}")
        said = next((m.text for m in reversed(request.messages) if isinstance(m, UserMessage)), "")
        said = said.partition("\n\n<context>")[0]  # Hob's context block in the newest message: time, memories
        words = (said.upper() if name == "loud" else said).splitlines(keepends=True) or ["…"]
        for piece in words:
            yield TextDelta(piece)
        text = "".join(words)
        yield ModelReply(text, usage=Usage(input=len(said.split()), output=len(text.split())))


def open_model(settings: ProviderSettings, clock: Clock, blobs: Blobs | None) -> Model:
    """Open the model on first use; `settings` is `[model.providers.echo]`."""
    return Echo()
