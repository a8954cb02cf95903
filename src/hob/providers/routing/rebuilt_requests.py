"""Reconstruction of past request bodies, without sending them."""

import hashlib
from collections.abc import AsyncGenerator
from dataclasses import replace

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelEvent, ModelReply, ModelRequest
from hob.core.ports.model import Model
from hob.core.translation.language import translatable
from hob.providers.catalog.catalog import CLI_WIRES, LOCAL_PROVIDERS
from hob.providers.http.server import make_server
from hob.providers.http.transport import HttpModel
from hob.providers.routing.choice import ConnectedProvider
from hob.providers.routing.model_routes import ModelRoutes, open_wire

_REFUSED = "it does not support tools, does not support thinking, does not support images"


class RebuiltRequests(ModelRoutes):
    """Routes that only build request bodies; the first one whose hash is `wanted` answers.

    A different body is refused as servers refuse missing features, so that the next form of the request is tried.
    """

    wanted = ""

    async def matches(self, name: str, request: ModelRequest, sent: str) -> bool:
        """Whether this request produces the body with this SHA-256 for the reference's server.

        Raises ModelError if it cannot be built: the model is no longer connected, or is not on a server.
        """
        self.wanted = sent
        for route in self.of(name):
            try:
                async for event in self.open(route).stream(replace(request, model=route.ref, models=())):
                    if isinstance(event, ModelReply):
                        return True
            except ModelError as error:
                if _REFUSED not in str(error):
                    raise
        return False

    def _open(self, connected: ConnectedProvider, key: int) -> Model:
        if connected.how == "plug-in" or connected.provider.wire in (*LOCAL_PROVIDERS, *CLI_WIRES):
            raise ModelError(
                ModelFault.SETTINGS,
                translatable("{id} is not a server, so Hob sends it no requests", id=connected.provider.id),
            )
        server = make_server(connected, connected.keys[key], self._settings)
        identity = f"{connected.provider.id}/{key}"
        return _Built(self, HttpModel(open_wire(connected), server, self._clock, self._blobs, identity=identity))


class _Built:
    def __init__(self, requests: RebuiltRequests, model: HttpModel) -> None:
        self._requests = requests
        self._model = model

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        sent = hashlib.sha256(await self._model.body(request)).hexdigest()
        if sent != self._requests.wanted:
            raise ModelError(ModelFault.BAD_REQUEST, _REFUSED)
        yield ModelReply("", sent=sent)
