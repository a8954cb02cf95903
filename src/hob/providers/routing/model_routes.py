"""Model routes: each key of each provider with its wire, opened on first use."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from hob.core.clock import Clock
from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelProfile, ModelRequest
from hob.core.ports.model import Model, Profiles
from hob.core.ports.processes import ProcessRecords
from hob.core.ports.tools import Blobs
from hob.core.translation.language import translatable
from hob.providers.catalog.catalog import CLI_WIRES, LOCAL_PROVIDERS
from hob.providers.http.request_adaptation import (
    AdaptingModel,
    ChangedRequests,
    lacks_thinking,
    lacks_tools,
    lacks_vision,
    without_thinking,
)
from hob.providers.http.server import make_server
from hob.providers.http.wire import ListedModel, Wire
from hob.providers.media.image_descriptions import DescribingModel, ImageDescriptions
from hob.providers.plugins import open_plugin
from hob.providers.routing.choice import ConnectedProvider, ModelChoice, ModelRef
from hob.providers.routing.failover import ModelRoute
from hob.providers.settings import ModelSettings

R = TypeVar("R", bound="ModelRoutes")


class ModelRoutes:
    """Opens the routes that failover tries. A route's model uses the server's name for the model."""

    def __init__(
        self,
        choice: ModelChoice,
        settings: ModelSettings,
        clock: Clock,
        blobs: Blobs | None,
        profiles: Profiles | None = None,
        folder: Path | None = None,
        sight: Callable[[], ImageDescriptions] | None = None,
        processes: ProcessRecords | None = None,
    ) -> None:
        self._choice = choice
        self._settings = settings
        self._clock = clock
        self._blobs = blobs
        self._profiles = profiles
        self._sight = sight
        self._processes = processes
        self._folder = folder or Path(tempfile.gettempdir()) / f"hob-{os.getuid()}"
        self._refs: dict[str, ModelRef] = {}
        self._models: dict[tuple[str, int], Model] = {}
        self._named: dict[ModelRoute, Model] = {}
        self._former: list[Model] = []

    def another(self, kind: type[R]) -> R:
        """Return the same routes as another class, with nothing opened and without image descriptions."""
        return kind(self._choice, self._settings, self._clock, self._blobs, self._profiles, self._folder)

    def reconfigure(self, settings: ModelSettings, sight: Callable[[], ImageDescriptions] | None) -> None:
        """Use other settings from now on. Running requests continue; their connections are closed with all others."""
        self._settings, self._sight = settings, sight
        self._former += self._models.values()
        for former in (self._refs, self._models, self._named):
            former.clear()

    def name(self, ref: ModelRef) -> str:
        """Return the reference as a text that `of` understands."""
        self._refs[str(ref)] = ref
        return str(ref)

    @property
    def names(self) -> tuple[str, ...]:
        """Return every reference used so far."""
        return tuple(self._refs)

    def of(self, name: str) -> tuple[ModelRoute, ...]:
        """Return the routes of a reference, in the order of its provider's keys. Raises ModelError."""
        ref = self.ref(name)
        keys = self._choice.connect(ref.provider).keys
        return tuple(ModelRoute(str(ref), ref.provider, place) for place in range(len(keys)))

    def open(self, route: ModelRoute) -> Model:
        """Return the route's model. Raises ModelError."""
        model = self._named.get(route)
        if model is None:
            ref = self.ref(route.ref)
            connected = self._choice.connect(ref.provider)
            profile = self._profiles.find_profile(route.ref) if self._profiles is not None else ModelProfile()
            served: Model = AdaptingModel(self._provider(ref.provider, route.key), without_thinking, lacks_thinking)
            served = self._with_tools(connected, profile, served)
            model = self._named[route] = ChangedRequests(
                self._with_vision(connected, profile, served), model=ref.model, models=()
            )
        return model

    async def list_models(self, id: str) -> tuple[ListedModel, ...]:
        """Return the provider's models; empty if it has no list. Raises ModelError."""
        model = self._provider(id, 0)
        lists = getattr(model, "list_models", None)
        return await lists() if lists is not None else ()

    async def aclose(self) -> None:
        """Close all connections."""
        for model in (*self._models.values(), *self._former):
            close = getattr(model, "aclose", None)
            if close is not None:
                await close()

    def ref(self, name: str) -> ModelRef:
        """Return the reference for a text. Raises ModelError."""
        ref = self._refs.get(name)
        if ref is None:
            ref = self._refs[name] = self._choice.resolve(name)
        return ref

    def _with_tools(self, connected: ConnectedProvider, profile: ModelProfile, model: Model) -> Model:
        how = connected.settings.tools
        if how == "auto":
            if profile.tools is not False and connected.provider.wire not in CLI_WIRES:
                return AdaptingModel(model, with_text_tools, lacks_tools)
            how = "text"
        if how == "text":
            return with_text_tools(model)
        return ChangedRequests(model, tools=()) if how == "none" else model

    def _with_vision(self, connected: ConnectedProvider, profile: ModelProfile, model: Model) -> Model:
        sight = self._sight
        if sight is None or profile.images is True:
            return model

        def seeing(model: Model) -> Model:
            return DescribingModel(model, sight())

        if profile.images is False or connected.provider.wire in CLI_WIRES:
            return seeing(model)
        return AdaptingModel(model, seeing, lacks_vision)

    def _provider(self, id: str, key: int) -> Model:
        model = self._models.get((id, key))
        if model is None:
            connected = self._choice.connect(id)
            model = self._models[id, key] = self._open(connected, key)
        return model

    def _open(self, connected: ConnectedProvider, key: int) -> Model:
        if connected.how == "plug-in":
            return open_plugin(connected.provider.id, connected.settings, self._clock, self._blobs)
        if connected.provider.wire in LOCAL_PROVIDERS:
            raise ModelError(
                ModelFault.SETTINGS,
                translatable("this model makes vectors only: it can be model.embedding"),
            )
        if connected.provider.wire in CLI_WIRES:
            return self._open_cli(connected)
        server = make_server(connected, connected.keys[key], self._settings)
        from hob.providers.http.transport import HttpModel

        return HttpModel(
            open_wire(connected), server, self._clock, self._blobs, identity=f"{connected.provider.id}/{key}"
        )

    def _open_cli(self, connected: ConnectedProvider) -> Model:
        from hob.providers.cli.backend import CliModel  # subprocesses and their settings are needed only for CLIs
        from hob.providers.cli.program import CliSettings

        own, id = connected.settings, connected.provider.id
        settings = CliSettings(command=own.command, arguments=own.arguments, environment=own.environment)
        folder = self._folder / id
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return CliModel(
            connected.provider.wire, settings, self._clock, environ=self._choice.environ, folder=folder,
            processes=self._processes,
        )  # fmt: skip


def open_wire(connected: ConnectedProvider) -> Wire:
    """Return the provider's wire. Each is imported on first use."""
    match connected.provider.wire:
        case "anthropic":
            from hob.providers.wires.anthropic.wire import AnthropicMessages

            return AnthropicMessages()
        case "gemini":
            from hob.providers.wires.gemini.wire import GenerateContent

            return GenerateContent()
        case "ollama":
            from hob.providers.wires.ollama.wire import OllamaChat

            return OllamaChat()
        case "responses":
            from hob.providers.wires.openai_responses.wire import Responses

            return Responses()
        case _:
            from hob.providers.wires.openai_chat.wire import ChatCompletions

            return ChatCompletions(connected.provider.dialect)


def max_output(connected: ConnectedProvider, model: str, request: ModelRequest) -> int:
    """Return the output limit that the provider's wire requests; a test compares it with the request body."""
    cli = connected.provider.wire in CLI_WIRES
    return request.max_output if cli else open_wire(connected).max_output(model, request)


def with_text_tools(model: Model) -> Model:
    """Return the model with tools in text form."""
    from hob.providers.text_tools.model import TextTools  # needed only for models without native calls

    return TextTools(model)
