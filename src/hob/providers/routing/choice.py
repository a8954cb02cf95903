"""Available models: references, aliases, ordered keys, and the default model.

A reference is `provider/model`; the model part may contain more slashes. A name without a provider belongs to the
server of `model.base_url` if there is one, otherwise to the provider of the default model.
"""

import shutil
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelRequest
from hob.core.settings import Secret
from hob.core.spelling import close_names
from hob.core.translation.code_words import NO_MODEL
from hob.core.translation.language import join_texts, translatable
from hob.core.values import dataclass
from hob.providers.catalog.catalog import (
    CLI_COMMANDS,
    CLI_WIRES,
    FASTEMBED,
    KNOWN_NAMES,
    LOCAL,
    LOCAL_PROVIDERS,
    PROVIDERS,
    SERVER,
    Provider,
    find_provider,
    make_generic,
    provider_at,
)
from hob.providers.http.addresses import is_private, is_same_origin, parse_ollama_host, with_scheme, without_credentials
from hob.providers.plugins import find_plugin_names, is_plugin
from hob.providers.settings import ModelSettings, ProviderSettings

_MAX_ALIASES = 8
_REACH_SECONDS = 0.2
_PREFERRED = ("anthropic", "openai", "gemini", "openrouter")
"""Providers whose keys are preferred if nothing is configured."""


NO_MODEL_NAME = translatable("none")
"""Shown in place of a model's name if there is no model."""


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model of a provider. If the model is empty, the provider chooses."""

    provider: str
    model: str

    def __str__(self) -> str:
        if self.provider == SERVER:
            return self.model
        return f"{self.provider}/{self.model}" if self.model else self.provider


@dataclass(frozen=True, slots=True)
class ConnectedProvider:
    """A usable provider with its address, keys and settings. `how` says where they came from."""

    provider: Provider
    base_url: str
    keys: tuple[Secret | None, ...]
    settings: ProviderSettings
    local: bool
    how: str

    @property
    def advice(self) -> str:
        """Where address and key are set, for error messages."""
        if self.provider.id == SERVER:
            return "model.base_url and model.api_key (or OPENAI_BASE_URL and OPENAI_API_KEY)"
        place = f"model.providers.{self.provider.id}"
        return f"{' or '.join(self.provider.keys) or f'{place}.base_url'} or {place}.api_key"


class ModelChoice:
    """Resolves names to models from settings and variables. Its only I/O is the check for a local Ollama and for
    programs.
    """

    def __init__(
        self,
        settings: ModelSettings,
        environ: Mapping[str, str],
        *,
        which: Callable[[str], str | None] | None = None,
        is_reachable: Callable[[str], bool] | None = None,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._which = which or (lambda name: shutil.which(name, path=environ.get("PATH", "")))
        self._is_reachable = is_reachable or _is_reachable
        self._connected: dict[str, ConnectedProvider | None] = {}
        self._default: tuple[ModelRef | None, str] | None = None

    def reconfigure(self, settings: ModelSettings) -> None:
        """Use other settings from now on."""
        self._settings = settings
        self._connected.clear()
        self._default = None

    def refresh(self) -> None:
        """Look again if no model was found last time."""
        if self._default is not None and self._default[0] is None:
            self.reconfigure(self._settings)

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment variables in use."""
        return self._environ

    @property
    def aliases(self) -> Mapping[str, str]:
        """The owner's names for models."""
        return self._settings.aliases

    def default(self) -> ModelRef | None:
        """Return the default model, with an empty name if the provider chooses; None if there is none.

        Raises ModelError if `model.name` cannot be resolved.
        """
        return self._found()[0]

    def default_name(self) -> str:
        """Return the default model's name, as far as it is known without asking a server; otherwise empty."""
        try:
            ref = self.default()
        except ModelError:
            return ""
        return str(ref) if ref is not None and ref.model else ""

    def line(self) -> str:
        """Return which model is the default and why, for people."""
        try:
            ref, how = self._found()
        except ModelError as error:
            return translatable("none ({problem})", problem=str(error))
        if ref is None:
            return NO_MODEL_NAME
        where = self.connect(ref.provider).base_url
        name = (
            str(ref)
            if ref.model or not where
            else translatable("the first of {server}", server=without_credentials(where))
        )
        return translatable("{model} ({how})", model=name, how=how)

    def resolve(self, name: str) -> ModelRef:
        """Return the model with this name or alias. Raises ModelError with advice.

        A name with an unknown provider is sent to no server but the configured one, whose models may have such names: a
        typo must not disclose a message to a third party.
        """
        name = self._unalias(name)
        ref = _local_ref(name) or self._with_provider(name)
        if ref is not None:
            return ref
        usual = None if self._has_server() else self.default()
        return self._bare(name, usual)

    def chain(self, request: ModelRequest) -> tuple[ModelRef, ...]:
        """Return the models that may answer, best first.

        The task's model or the default model is followed by the fallbacks. A model chosen by name has no fallbacks: the
        user asked for that model's answer. Raises ModelError.
        """
        if request.model:
            chosen = self.resolve(request.model)
            return self._with_fallbacks(chosen) if chosen == self._usual() else (chosen,)
        task = self._settings.tasks.get(request.task)
        if task:
            return self._with_fallbacks(self.resolve(task), self._usual())
        usual = self.default()
        if usual is None:
            raise ModelError(ModelFault.NOT_CONFIGURED, NO_MODEL_ADVICE)
        return self._with_fallbacks(usual)

    def is_local(self, ref: ModelRef) -> bool:
        """Whether data sent to this model stays on the owner's machines."""
        return self.connect(ref.provider).local and not ref.model.endswith(("-cloud", ":cloud"))

    def connect(self, id: str) -> ConnectedProvider:
        """Return the provider. Raises ModelError if it is unknown or has no key."""
        connected = self._try(id)
        if connected is None:
            raise self._unconnected(id)
        return connected

    def connected(self) -> tuple[ConnectedProvider, ...]:
        """Return every usable provider: with a key, configured, running here or installed."""
        known = (provider.id for provider in PROVIDERS)
        ids = dict.fromkeys((SERVER, *self._settings.providers, *known, *find_plugin_names()))
        found = []
        for id in ids:
            connected = self._try(self._provider_id(id) or id)
            if connected is not None and (connected.how or self._is_here(connected)):
                found.append(connected if connected.how else replace(connected, how=self._how_here(connected)))
        return tuple(found)

    # -- names

    def _unalias(self, name: str) -> str:
        name = name.strip()
        seen = []
        while name in self._settings.aliases:
            seen.append(name)
            name = self._settings.aliases[name].strip()
            if len(seen) > _MAX_ALIASES or name in seen:
                circle = " -> ".join([*seen, name])
                raise ModelError(
                    ModelFault.SETTINGS, translatable("model.aliases form a circle: {names}", names=circle)
                )
        if not name:
            raise ModelError(ModelFault.SETTINGS, translatable("the name of a model cannot be empty"))
        return name

    def _with_provider(self, name: str) -> ModelRef | None:
        """Return the model if the name begins with its provider; otherwise None."""
        head, _, rest = name.partition("/")
        id = self._provider_id(head)
        if id is None:
            return None
        if self._try(id) is None:
            if self._has_server():  # its models may have such names
                return None
            raise self._unconnected(id)
        return ModelRef(id, self._model_of(id, rest))

    def _bare(self, name: str, usual: ModelRef | None) -> ModelRef:
        """Return the model for a name without a provider: the server's, otherwise the default provider's."""
        head, slash, _ = name.partition("/")
        names = [*self._settings.providers, *KNOWN_NAMES]
        near = close_names(head, names, 1, 0.8) if slash and head.lower() not in names else []
        if self._has_server() and not near:
            return ModelRef(SERVER, name)
        if slash:
            raise self._unknown(head, name, near, usual)
        if usual is None:
            raise ModelError(ModelFault.NOT_CONFIGURED, NO_MODEL_ADVICE)
        return ModelRef(usual.provider, name)

    def _unknown(self, head: str, name: str, near: list[str], usual: ModelRef | None) -> ModelError:
        asks = SERVER if self._has_server() else usual.provider if usual is not None else ""
        hints = [translatable("did you mean {name}?", name=near[0])] if near else []
        hints += [translatable("{asks}/{name} asks {asks}", asks=asks, name=name)] if asks else []
        hints += [translatable("a provider of your own is [model.providers.{name}]", name=head)]
        said = translatable("unknown provider {name}; {hints}", name=head, hints=join_texts("; ", hints))
        return ModelError(ModelFault.SETTINGS, said)

    def _provider_id(self, name: str) -> str | None:
        if name == SERVER:
            return SERVER if self._has_server() else None
        if name in self._settings.providers:
            return name
        known = find_provider(name)
        if known is not None:
            return known.id
        return name if is_plugin(name) else None

    def _model_of(self, id: str, model: str) -> str:
        if id == "openrouter" and model and "/" not in model:
            return f"openrouter/{model}"  # OpenRouter's own models are named after it
        return model or self._own_choice(id)

    def _own_choice(self, id: str) -> str:
        connected = self.connect(id)
        return connected.settings.model or connected.provider.model

    def _with_fallbacks(self, *first: ModelRef | None) -> tuple[ModelRef, ...]:
        refs = [ref for ref in first if ref is not None]
        for name in self._settings.fallbacks:
            try:
                refs.append(self.resolve(name))
            except ModelError:  # a broken fallback must not break what works; `hob models list` and `doctor` report it
                continue
        return tuple(dict.fromkeys(refs))

    # -- the default model

    def _found(self) -> tuple[ModelRef | None, str]:
        if self._default is None:
            name = self._settings.name
            self._default = (self._configured(self._unalias(name)), _CONFIGURED) if name else self._find()
        return self._default

    def _configured(self, name: str) -> ModelRef:
        ref = self._with_provider(name)
        return self._bare(name, None if self._has_server() else self._find()[0]) if ref is None else ref

    def _usual(self) -> ModelRef | None:
        """Return the default model, or None even if `model.name` cannot be resolved."""
        try:
            return self.default()
        except ModelError:
            return None

    def _find(self) -> tuple[ModelRef | None, str]:
        settings, environ = self._settings, self._environ
        if settings.base_url:
            return ModelRef(SERVER, ""), _CONFIGURED
        for id in settings.providers:
            if self._try(id) is not None and (self._own_choice(id) or settings.providers[id].base_url):
                return ModelRef(id, self._own_choice(id)), _CONFIGURED
        rest = [provider.id for provider in PROVIDERS if provider.keys and provider.id not in _PREFERRED]
        for id in (*_PREFERRED, *rest):
            if id == "openai" and self._has_server():
                return ModelRef(SERVER, environ.get("OPENAI_MODEL", "").strip()), "OPENAI_BASE_URL"
            connected = self._try(id)
            if connected is not None and connected.how.isupper():
                chosen = environ.get("OPENAI_MODEL", "").strip() if id == "openai" else ""
                return ModelRef(id, chosen or self._own_choice(id)), connected.how
        for provider in PROVIDERS:
            if provider.wire in ("ollama", *CLI_WIRES):
                here = self._try(provider.id)
                if here is not None and self._is_here(here):
                    return ModelRef(provider.id, self._own_choice(provider.id)), self._how_here(here)
        return None, ""

    def _is_here(self, connected: ConnectedProvider) -> bool:
        if connected.provider.wire == "ollama":
            return self._is_reachable(connected.base_url)
        if connected.provider.wire in CLI_WIRES:
            return self._which(connected.settings.command or CLI_COMMANDS[connected.provider.wire]) is not None
        return False

    def _how_here(self, connected: ConnectedProvider) -> str:
        return "running here" if connected.provider.wire == "ollama" else "installed"

    # -- providers

    def _has_server(self) -> bool:
        return self._try(SERVER) is not None

    def _try(self, id: str) -> ConnectedProvider | None:
        if id not in self._connected:
            self._connected[id] = self._make_server() if id == SERVER else self._make(id)
        return self._connected[id]

    def _make_server(self) -> ConnectedProvider | None:
        """Return the server of `model.base_url` or OPENAI_BASE_URL.

        A key from the environment belongs to the address from the environment: it is never sent to a server named only
        in the configuration.
        """
        settings, environ = self._settings, self._environ
        theirs = environ.get("OPENAI_BASE_URL", "").strip()
        their_key = environ.get("OPENAI_API_KEY", "").strip()
        base_url = settings.base_url or theirs
        if not base_url or (not settings.base_url and theirs.rstrip("/") == _OPENAI_URL):
            return None
        known = provider_at(base_url)
        key = settings.api_key
        if key is None and their_key and is_same_origin(base_url, theirs or _OPENAI_URL):
            key = Secret.of(their_key)
        if key is None and known is not None and known.id != "openai" and (found := self._variable(known.keys)):
            key = Secret.of(found[1])
        provider = make_generic(SERVER, "openai")
        if known is not None:
            provider = replace(provider, dialect=known.dialect)
        own = ProviderSettings(headers=settings.headers)
        return ConnectedProvider(provider, base_url, (key,), own, is_private(base_url), _CONFIGURED)

    def _make(self, id: str) -> ConnectedProvider | None:
        own = self._settings.providers.get(id)
        if id in LOCAL_PROVIDERS and own is None:
            return ConnectedProvider(Provider(id, id), "", (None,), ProviderSettings(local=True), True, "here")
        known = find_provider(id)
        settings = own or ProviderSettings()
        if known is None and not settings.base_url and not settings.wire:
            if not is_plugin(id):
                return None
            return ConnectedProvider(make_generic(id, id), "", (None,), settings, bool(settings.local), "plug-in")
        provider = known or make_generic(id, settings.wire or "openai")
        if settings.wire:
            provider = replace(provider, wire=settings.wire)
        variable = self._variable(provider.urls)
        base_url = settings.base_url or (variable[1] if variable else "") or provider.base_url
        if provider.wire == "ollama":
            base_url = parse_ollama_host(base_url)
        keys, how = self._keys(provider, settings, base_url)
        if not keys:
            if not (provider.keyless or settings.base_url or variable):
                return None
            keys = (None,)
        if own is not None:
            how = _CONFIGURED
        elif not how and variable:
            how = variable[0]
        local = settings.local if settings.local is not None else provider.local
        if local is None:
            # a local gateway to remote models forwards what it receives
            local = provider.keyless and bool(base_url) and is_private(base_url)
        return ConnectedProvider(provider, base_url, keys, settings, local, how)

    def _keys(
        self, provider: Provider, settings: ProviderSettings, base_url: str
    ) -> tuple[tuple[Secret | None, ...], str]:
        keys = [key for key in (settings.api_key, *settings.api_keys) if key is not None]
        if keys:
            return tuple(keys), _CONFIGURED
        variable = self._variable(provider.keys)
        theirs = self._variable(provider.urls)
        if provider.id == "openai" and self._has_server() and self._environ.get("OPENAI_BASE_URL", "").strip():
            return (), ""  # the key belongs to that server
        # a key from the environment is sent only to the address from the environment, or otherwise to the provider's
        # own
        if variable and is_same_origin(base_url, theirs[1] if theirs else provider.base_url):
            return (Secret.of(variable[1]),), variable[0]
        return (), ""

    def _variable(self, names: Sequence[str]) -> tuple[str, str] | None:
        return next(((name, value) for name in names if (value := self._environ.get(name, "").strip())), None)

    def _unconnected(self, id: str) -> ModelError:
        provider = find_provider(id)
        if provider is None:
            said = translatable("the provider {name} has no address; set model.providers.{name}.base_url", name=id)
            return ModelError(ModelFault.SETTINGS, said)
        where = f"model.providers.{provider.id}.api_key"
        if not provider.keys:
            said = translatable("{name} has no key; set {setting}", name=provider.id, setting=where)
        else:
            said = translatable(
                "{name} has no key; set {variable} or {setting}",
                name=provider.id,
                variable=provider.keys[0],
                setting=where,
            )
        return ModelError(ModelFault.NOT_CONFIGURED, said)


_CONFIGURED = translatable("from your settings")
_OPENAI_URL = "https://api.openai.com/v1"
CONNECT = translatable(
    "`hob onboard` connects one: by an API key (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or"
    " OPENROUTER_API_KEY), Ollama, a CLI such as claude, or a server of your own (model.base_url)"
)
NO_MODEL_ADVICE = join_texts("; ", (NO_MODEL, CONNECT))


def _local_ref(name: str) -> ModelRef | None:
    """Return a model that runs on this machine: a folder, named by its path, or a model of fastembed."""
    head, _, rest = name.partition("/")
    if head == FASTEMBED and rest:
        return ModelRef(FASTEMBED, rest)
    path = name.removeprefix(f"{LOCAL}/")
    return ModelRef(LOCAL, path) if path.startswith(("/", "~/", "./")) else None


def _is_reachable(base_url: str) -> bool:
    try:
        parts = urlsplit(with_scheme(base_url))
        port = parts.port or (443 if parts.scheme == "https" else 11434)
        with socket.create_connection((parts.hostname or "", port), timeout=_REACH_SECONDS):
            return True
    except (OSError, ValueError):
        return False
