"""Request routing: model and options are settled before anything is reserved or sent.

The steps: the choice (named or configured), the classifier (a rule may choose another model), and the prompt guard
(private data is removed, or the request stays local). Then failover tries the chain, and the answer is cleaned and its
placeholders are restored.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from hob.core.errors import ModelError, ModelFault
from hob.core.lazy import Lazy
from hob.core.models import ModelEvent, ModelRequest, Remark, Route, Thinking
from hob.core.spelling import close_names
from hob.core.translation.language import translatable
from hob.core.translation.sentences import FALLBACK_SENTENCES
from hob.providers.catalog.catalog import CLI_WIRES, SERVER
from hob.providers.http.addresses import without_credentials
from hob.providers.media.image_descriptions import ImageDescriptions
from hob.providers.routing.choice import ModelChoice, ModelRef
from hob.providers.routing.classifier import Classifier
from hob.providers.routing.failover_model import Failover, RouteHealthView
from hob.providers.routing.model_routes import ModelRoutes
from hob.providers.routing.screening import Screening
from hob.providers.settings import ModelSettings

_LISTING_SECONDS = 5.0


class ModelRouter:
    """Implements `Model`, `RoutesRequests` and `HasDefaultModel` over all connected models."""

    def __init__(
        self,
        choice: ModelChoice,
        routes: ModelRoutes,
        failover: Failover,
        settings: ModelSettings,
        screening: Screening | None = None,
        classifier: Lazy[Classifier] | None = None,
        vision_by: Callable[[ModelSettings], Callable[[], ImageDescriptions] | None] = lambda settings: None,
        changed: Sequence[Callable[[ModelSettings], None]] = (),
    ) -> None:
        self.choice = choice
        self.routes = routes
        self.failover = failover
        self._thinking = _thinking(settings)
        self._sight_by = vision_by
        self._changed = changed
        self._screening = screening
        self._classifier = classifier
        self._own_choices: dict[str, str] = {}
        self._asking = asyncio.Lock()

    def reconfigure(self, settings: ModelSettings) -> None:
        """Use other settings from the next request on; running ones continue."""
        self.choice.reconfigure(settings)
        self.routes.reconfigure(settings, self._sight_by(settings))
        self.failover.reconfigure(settings.max_attempts)
        self._thinking = _thinking(settings)
        self._own_choices.clear()
        for tell in self._changed:
            tell(settings)

    def refresh(self) -> None:
        """Look again for keys and models that were missing."""
        self.choice.refresh()
        self.failover.forget_failures()

    async def route(self, request: ModelRequest) -> Route:
        """Return who may answer, best first, and what may be sent to them.

        A server is asked for its models if no model was named. Raises ModelError if no model is available, or nothing
        may be sent.
        """
        remarks: tuple[Remark, ...] = ()
        if not request.models:
            request = self._classified(request)
            request, remarks = await self._chosen(request)
        if request.thinking is None and self._thinking is not None:
            request = replace(request, thinking=self._thinking)
        request = replace(request, model=request.models[0])
        if self._screening is not None and not all(map(self._is_local, request.models)):
            return self._screened(self._screening, request, remarks)
        return Route(request, remarks)

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield the answer of the first model of the route that gives one, in pieces. Raises ModelError."""
        if not request.models:
            return self._routed(request)
        events: AsyncIterator[ModelEvent] = self.failover.stream(request)
        return events if self._screening is None else self._screening.clean(request, events)

    async def default_model(self) -> str:
        """Return the default model; empty if there is none. Raises ModelError."""
        ref = self.choice.default()
        return "" if ref is None else self.routes.name(await self._named(ref))

    @property
    def aliases(self) -> Mapping[str, str]:
        """The owner's names for models."""
        return self.choice.aliases

    async def check_ref(self, name: str, way: str = "/model") -> str | None:
        """Return what is wrong with the name, for people; None if it is usable. `way` is the command to use.

        A bare name that the server does not list is probably a typo. A server without a list, or a slow one, is not
        asked twice.
        """
        try:
            ref = self.choice.resolve(name)
            if ref.model != name:
                return None
        except ModelError as error:
            return str(error)
        try:
            async with asyncio.timeout(_LISTING_SECONDS):
                listed = {model.name for model in await self.routes.list_models(ref.provider)}
        except (ModelError, TimeoutError):
            return None
        other = re.compile(re.escape(name.removesuffix("-latest")) + r"(?:[-:@].*)?")
        if not listed or any(other.fullmatch(each) for each in listed):  # the same model with a date or a tag
            return None
        near = close_names(name, listed, 1, 0.7)
        told = {
            "server": translatable("your server") if ref.provider == SERVER else ref.provider,
            "name": name,
            "command": f"{way} {ref.provider}/{name}",
        }
        if near:
            return translatable(
                "{server} lists no model {name}; did you mean {near}? `{command}` takes it all the same",
                near=near[0],
                **told,
            )
        return translatable("{server} lists no model {name}; `{command}` takes it all the same", **told)

    def has_no_tools(self, name: str) -> bool:
        """Whether the owner has disabled tools for this model. Raises ModelError."""
        return self.choice.connect(self.routes.ref(name).provider).settings.tools == "none"

    def resting(self) -> tuple[RouteHealthView, ...]:
        """Return the models and keys on cooldown, with their faults."""
        return tuple(route for route in self.failover.health_view(self.routes.names) if route.fault is not None)

    async def _routed(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        route = await self.route(request)
        for remark in route.remarks:
            yield remark
        async with aclosing(cast("AsyncGenerator[ModelEvent]", self.stream(route.request))) as events:
            async for event in events:
                yield event

    # choice

    def _classified(self, request: ModelRequest) -> ModelRequest:
        """Return the request with the model of the matching rule; a model chosen by name stays."""
        if request.model or self._classifier is None:
            return request
        chosen = self._classifier().classify(request)
        if chosen is None:
            return request
        thinking = request.thinking if chosen.thinking is None else chosen.thinking
        return replace(request, model=chosen.model, thinking=thinking)

    async def _chosen(self, request: ModelRequest) -> tuple[ModelRequest, tuple[Remark, ...]]:
        """Return the request with its chain. A server that cannot name its model is skipped if there are fallbacks."""
        chain: list[str] = []
        passed: list[tuple[ModelRef, ModelError]] = []
        for ref in self.choice.chain(request):
            try:
                chain.append(self.routes.name(await self._named(ref)))
                if not ref.model:
                    self.failover.told.answered(ref.provider)
            except ModelError as error:
                passed.append((ref, error))
        if not chain:
            raise passed[0][1]
        remarks = (
            Remark(FALLBACK_SENTENCES[error.fault], (("model", str(ref) or ref.provider), ("other", chain[0])))
            for ref, error in passed[:1]
            if error.fault in FALLBACK_SENTENCES
        )
        news = tuple(remark for remark in remarks if self.failover.told.is_news(request, remark))
        return replace(request, models=tuple(dict.fromkeys(chain))), news

    async def _named(self, ref: ModelRef) -> ModelRef:
        """Return the reference with a model: the server's first one if no model was named (fetched once)."""
        connected = self.choice.connect(ref.provider)
        if ref.model or connected.provider.wire in CLI_WIRES or connected.how == "plug-in":
            return ref
        async with self._asking:
            if ref.provider not in self._own_choices:
                listed = await self.failover.with_retries(lambda: self.routes.list_models(ref.provider))
                if not listed:
                    where = without_credentials(connected.base_url) or ref.provider
                    raise ModelError(
                        ModelFault.NOT_FOUND,
                        translatable("{server} has no model; load one, or set model.name", server=where),
                    )
                self._own_choices[ref.provider] = listed[0].name
        return ModelRef(ref.provider, self._own_choices[ref.provider])

    # screening

    def _is_local(self, name: str) -> bool:
        return self.choice.is_local(self.routes.ref(name))

    def _screened(self, screening: Screening, request: ModelRequest, remarks: tuple[Remark, ...]) -> Route:
        screened = screening.screen(request)
        if screened.local_only:
            local = [name for name in request.models if self._is_local(name)]
            if screening.local_model:
                ref = self.choice.resolve(screening.local_model)
                if not self.choice.is_local(ref):
                    raise ModelError(
                        ModelFault.SETTINGS,
                        translatable(
                            "prompt_guard.local_model {model} does not run on your own machines", model=str(ref)
                        ),
                    )
                local.append(self.routes.name(ref))
            if not local:
                raise screened.refusal()
            chain = tuple(dict.fromkeys(local))
            request = replace(request, model=chain[0], models=chain, local_only=True)
            return Route(request, (*remarks, *screened.remarks))
        withheld = tuple(screened.restore.items())
        return Route(replace(screened.request, placeholders=withheld), (*remarks, *screened.remarks))


def _thinking(settings: ModelSettings) -> Thinking | None:
    return Thinking(settings.thinking) if settings.thinking else None
