"""All models as one: who is asked is chosen here, before anything is reserved or sent; how is failover's business."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelEvent, ModelRequest, Route, Thinking
from hob.providers.catalogue import CLI_WIRES
from hob.providers.choice import Choice, Ref
from hob.providers.lanes import Lanes
from hob.providers.settings import ModelSettings
from hob.providers.walking import Failover


class Routing:
    """Implements `Model`, `Routes` and `CanName` over everything that is connected."""

    def __init__(self, choice: Choice, lanes: Lanes, failover: Failover, settings: ModelSettings) -> None:
        self.choice = choice
        self.lanes = lanes
        self.failover = failover
        self._thinking = Thinking(settings.thinking) if settings.thinking else None
        self._own_choices: dict[str, str] = {}
        self._asking = asyncio.Lock()

    async def route(self, request: ModelRequest) -> Route:
        """Who may answer, best first. A server is asked for its models where nobody named one. Raises ModelError."""
        if not request.models:
            refs = [await self._named(ref) for ref in self.choice.chain(request)]
            request = replace(request, models=tuple(dict.fromkeys(self.lanes.name(ref) for ref in refs)))
        if request.thinking is None and self._thinking is not None:
            request = replace(request, thinking=self._thinking)
        return Route(replace(request, model=request.models[0]))

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The answer of the first model of the route that gives one, piece by piece. Raises ModelError."""
        return self.failover.stream(request) if request.models else self._routed(request)

    async def default_model(self) -> str:
        """The usual model; empty where there is none. Raises ModelError."""
        ref = self.choice.default()
        return "" if ref is None else self.lanes.name(await self._named(ref))

    def check_ref(self, name: str) -> str | None:
        """What is wrong with the name, for people; None if it leads to a model that can be asked."""
        try:
            self.choice.resolve(name)
        except ModelError as error:
            return str(error)
        return None

    async def _routed(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        route = await self.route(request)
        for remark in route.remarks:
            yield remark
        async with aclosing(self.failover.stream(route.request)) as events:
            async for event in events:
                yield event

    async def _named(self, ref: Ref) -> Ref:
        """The reference with a model: the server's first one where nobody named any (asked once)."""
        connected = self.choice.connect(ref.provider)
        if ref.model or connected.provider.wire in CLI_WIRES or connected.how == "plug-in":
            return ref
        async with self._asking:
            if ref.provider not in self._own_choices:
                listed = await self.failover.patiently(lambda: self.lanes.list_models(ref.provider))
                if not listed:
                    where = connected.base_url or ref.provider
                    raise ModelError(ModelFault.NOT_FOUND, f"{where} has no model; load one, or set model.name")
                self._own_choices[ref.provider] = listed[0].name
        return Ref(ref.provider, self._own_choices[ref.provider])
