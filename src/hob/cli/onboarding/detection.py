"""Detection of models on this machine: keys in the environment, local servers, installed CLIs."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import reduce
from urllib.parse import urlsplit

from hob.app.models.candidates import list_chat_models, name_of
from hob.app.models.probe import ModelSetup, open_model_setup
from hob.app.models.provider_draft import ProviderConfigDraft
from hob.config.loading import Config
from hob.core.clock import SystemClock
from hob.core.errors import ModelError, ModelFault, NotConfigured
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.providers.catalog.catalog import CLI_WIRES, PROVIDERS, SERVER
from hob.providers.http.addresses import without_credentials
from hob.providers.routing.choice import ConnectedProvider

TITLES: Mapping[str, str] = {
    "anthropic": "Anthropic",
    "openai": "OpenAI",
    "gemini": "Google Gemini",
    "openrouter": "OpenRouter",
    "deepseek": "DeepSeek",
    "groq": "Groq",
    "mistral": "Mistral",
    "xai": "xAI",
    "ollama": "Ollama",
    "lmstudio": "LM Studio",
    "llamacpp": "llama.cpp",
    "vllm": "vLLM",
    "claude-cli": "Claude Code",
    "codex-cli": "Codex",
    "gemini-cli": "Gemini CLI",
    "copilot-cli": "Copilot CLI",
    SERVER: "Your server",
}
PLACES: Sequence[tuple[str, str]] = (
    ("Jan", "http://127.0.0.1:1337/v1"),
    ("GPT4All", "http://127.0.0.1:4891/v1"),
    ("text-generation-webui", "http://127.0.0.1:5000/v1"),
    ("KoboldCpp", "http://127.0.0.1:5001/v1"),
)
"""Usual addresses of further local servers, all of which speak OpenAI chat completions."""

_CONNECT_SECONDS = 0.3
_CLIS = frozenset(each.id for each in PROVIDERS if each.wire in CLI_WIRES)


@dataclass(frozen=True, slots=True)
class DetectedModel:
    """A model that can be used. `models` lists those of a server without a usual one, best first.

    `variable` names the environment variable that holds its key. `refused`: the server refuses the key.
    """

    provider: str
    title: str
    how: str
    local: bool
    draft: ProviderConfigDraft
    models: tuple[str, ...] = ()
    variable: str = ""
    refused: bool = False

    @property
    def line(self) -> str:
        """Describe how it was found."""
        model = self.draft.model.removeprefix(f"{self.provider}/")
        facts = ["local"] if self.local else []
        facts += [model] if model and model != self.provider else []
        facts += [translatable("{count} models", count=str(len(self.models)))] if len(self.models) > 1 else []
        return reduce(lambda one, other: translatable("{one}, {other}", one=one, other=other), [*facts, self.how])


def detect_models(config: Config, places: Sequence[tuple[str, str]] = PLACES) -> tuple[DetectedModel, ...]:
    """Find all models, in Hob's order of preference. Only local and configured servers are contacted."""
    return asyncio.run(_find_all(config, places))


def list_models(config: Config, draft: ProviderConfigDraft) -> tuple[str, ...]:
    """List a provider's chat models, best first. Raises ModelError if it cannot be reached."""

    async def ask() -> tuple[str, ...]:
        async with open_model_setup(config, SystemClock(), draft) as setup:
            return await list_chat_models(setup, draft.provider)

    return asyncio.run(ask())


async def _find_all(config: Config, places: Sequence[tuple[str, str]]) -> tuple[DetectedModel, ...]:
    async with open_model_setup(config, SystemClock()) as setup:
        connected = await asyncio.to_thread(setup.choice.connected)
        usual = _usual(setup)
        known = {each.provider.id for each in connected}
        servers = [each.id for each in PROVIDERS if each.keyless and each.wire == "openai" and each.id not in known]
        found = await asyncio.gather(
            *(_described(setup, each, usual) for each in connected),
            *(_detect_known_server(setup, id) for id in servers),
            *(_detect_server(config, title, address) for title, address in places),
        )
    there = [each for each in found if each is not None]
    return tuple(sorted(there, key=lambda each: (each.provider != usual, each.provider in _CLIS)))


def _usual(setup: ModelSetup) -> str:
    try:
        ref = setup.choice.default()
    except ModelError:
        return ""
    return "" if ref is None else ref.provider


async def _described(setup: ModelSetup, connected: ConnectedProvider, usual: str) -> DetectedModel | None:
    id = connected.provider.id
    model = connected.settings.model or connected.provider.model
    if id == usual and (ref := setup.choice.default()) is not None:
        model = ref.model
    names, trouble, refused = await _fetch_offer(setup, id) if _is_listed(connected, model) else ((), "", False)
    if model:  # a server without a list of models may still accept this one
        names, trouble = (), trouble if refused else ""
    if not model and not names and connected.provider.wire == "ollama":
        how = "running here, but it has no model yet: ollama pull qwen3"
        return DetectedModel(id, TITLES[id], how, local=True, draft=ProviderConfigDraft(provider=id), refused=True)
    variable = _key_variable(setup, connected)
    how = translatable("key in {variable}", variable=variable) if variable else connected.how
    how = (
        translatable("{one}, {other}", one=without_credentials(connected.base_url), other=how) if id == SERVER else how
    )
    how = translatable("{model}: {trial}", model=how, trial=trouble) if trouble else how
    draft = ProviderConfigDraft(name_of(id, model or (names[0] if names else "")), id, _new_address(setup, connected))
    return DetectedModel(
        id, TITLES.get(id, id), how, connected.local, draft, names, variable, refused or not draft.model
    )


def _is_listed(connected: ConnectedProvider, model: str) -> bool:
    """Return whether to request the provider's list: if no model is named, and always for the owner's own server."""
    return connected.provider.wire not in CLI_WIRES and (not model or connected.provider.id == SERVER)


async def _detect_known_server(setup: ModelSetup, id: str) -> DetectedModel | None:
    """Return a known server that listens at its usual address and lists models."""
    try:
        address = setup.choice.connect(id).base_url
    except ModelError:
        return None
    if not await _answers(address) or not (names := await _names(setup, id)):
        return None
    return DetectedModel(
        id, TITLES[id], "running here", local=True, draft=ProviderConfigDraft(name_of(id, names[0]), id), models=names
    )


async def _detect_server(config: Config, title: str, address: str) -> DetectedModel | None:
    """Return another server at a usual address."""
    if not await _answers(address):
        return None
    draft = ProviderConfigDraft(provider=SERVER, base_url=address)
    try:
        async with open_model_setup(config, SystemClock(), draft) as setup:
            names = await _names(setup, SERVER)
    except NotConfigured:
        return None
    if not names:
        return None
    draft = ProviderConfigDraft(name_of(SERVER, names[0]), SERVER, address)
    return DetectedModel(SERVER, title, "running here", local=True, draft=draft, models=names)


async def _answers(address: str) -> bool:
    parts = urlsplit(address)
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
    except (OSError, TimeoutError, ValueError):
        return False
    writer.close()
    return True


async def _names(setup: ModelSetup, id: str) -> tuple[str, ...]:
    return (await _fetch_offer(setup, id))[0]


async def _fetch_offer(setup: ModelSetup, id: str) -> tuple[tuple[str, ...], str, bool]:
    """Return the offered models, or why they are unknown, and whether the key is refused."""
    try:
        return await list_chat_models(setup, id), "", False
    except ModelError as error:
        return (), str(error), error.fault is ModelFault.AUTH


def _key_variable(setup: ModelSetup, connected: ConnectedProvider) -> str:
    """Return the environment variable that holds the key in use, if any."""
    if connected.keys[0] is None or connected.keys[0].reference:
        return ""
    names = ("OPENAI_API_KEY",) if connected.provider.id == SERVER else connected.provider.keys
    environ = setup.choice.environ
    value = connected.keys[0].reveal()
    return next((name for name in names if environ.get(name, "").strip() == value), "")


def _new_address(setup: ModelSetup, connected: ConnectedProvider) -> str:
    """Return the address of a server that only the environment names."""
    return connected.base_url if connected.provider.id == SERVER and not setup.settings.base_url else ""
