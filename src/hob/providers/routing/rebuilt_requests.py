"""What a server was sent, built again and sent to no one."""

import hashlib
from collections.abc import AsyncGenerator
from dataclasses import replace

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelEvent, ModelReply, ModelRequest
from hob.core.ports.model import Model
from hob.core.translation.language import translatable
from hob.providers.catalog.catalog import CLI_WIRES, HERE
from hob.providers.http.server import server_of
from hob.providers.http.transport import HttpModel
from hob.providers.routing.choice import ConnectedProvider
from hob.providers.routing.model_routes import ModelRoutes, open_wire

_REFUSED = "it does not support tools, does not support thinking, does not support images"


class RebuiltRequests(ModelRoutes):
    """The routes of the same models, each of which only builds its request; the first that is `wanted` answers.

    Where a request is another one, it is refused as servers refuse what they lack, so that the next form is tried.
    """

    wanted = ""

    async def matches(self, name: str, request: ModelRequest, sent: str) -> bool:
        """Whether this request makes the reference's server be sent the bytes with this SHA-256.

        Raises ModelError where none can be built: the model is not connected any more, or is no server.
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
        if connected.how == "plug-in" or connected.provider.wire in (*HERE, *CLI_WIRES):
            raise ModelError(
                ModelFault.SETTINGS,
                translatable("{id} is not a server, so Hob sends it no requests", id=connected.provider.id),
            )
        server = server_of(connected, connected.keys[key], self._settings)
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
