"""Known providers as data: their addresses, wires and key variables.

A provider that is not listed here needs only `[model.providers.NAME]` with a wire and a base URL.
"""

from collections.abc import Mapping
from dataclasses import field, replace

from hob.core.models import Thinking
from hob.core.values import dataclass
from hob.providers.http.addresses import is_loopback, is_same_origin
from hob.providers.wires.openai_chat.settings import Dialect

CLI_COMMANDS: Mapping[str, str] = {
    "claude-cli": "claude",
    "codex-cli": "codex",
    "gemini-cli": "gemini",
    "copilot-cli": "copilot",
}
"""Usual program name of each CLI."""
CLI_WIRES = tuple(CLI_COMMANDS)
WIRES = ("openai", "responses", "anthropic", "gemini", "ollama", *CLI_WIRES)
"""Allowed values of `wire` in the configuration."""

LOCAL = "local"
"""Provider of models in local folders, which Hob runs itself; their names are paths."""
FASTEMBED = "fastembed"
"""Provider of models downloaded by the library of this name and run by Hob."""
LOCAL_PROVIDERS = (LOCAL, FASTEMBED)
"""Providers that only make embeddings."""
SERVER = "server"
"""Provider behind `model.base_url` if it is not a known one; its models have bare names."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider. `keys` and `urls` are environment variables; the first one that is set counts.

    `model` is the default model; if empty, the server's first one. `keyless` servers need no key; `local` says whether
    data stays on the owner's machines, None to decide by the address.
    """

    id: str
    wire: str
    base_url: str = ""
    keys: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    model: str = ""
    keyless: bool = False
    local: bool | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    dialect: Dialect = field(default_factory=Dialect)


_OPENAI = Dialect(max_tokens="max_completion_tokens", cache_key=True, effort=True, efforts={Thinking.OFF: "none"})
_THREE_EFFORTS = {Thinking.OFF: "none", Thinking.MINIMAL: "low", Thinking.XHIGH: "high"}

PROVIDERS: tuple[Provider, ...] = (
    Provider(
        "anthropic",
        "anthropic",
        "https://api.anthropic.com",
        ("ANTHROPIC_API_KEY",),
        ("ANTHROPIC_BASE_URL",),
        ("claude",),
        "claude-sonnet-5-5",
    ),
    Provider(
        "openai",
        "responses",
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        model="gpt-6.1-terra",
        dialect=_OPENAI,
    ),
    Provider(
        "gemini",
        "gemini",
        "https://generativelanguage.googleapis.com",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        ("GOOGLE_GEMINI_BASE_URL",),
        ("google",),
        "gemini-flash-latest",
    ),
    Provider(
        "openrouter",
        "openai",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
        model="openrouter/auto",
        headers={"x-title": "Hob"},
        dialect=Dialect(reasoning_object=True, usage_object=True, cached_system=("anthropic/",)),
    ),
    Provider(
        "deepseek",
        "openai",
        "https://api.deepseek.com/v1",
        ("DEEPSEEK_API_KEY",),
        model="deepseek-chat",
        dialect=Dialect(returns_reasoning=True),
    ),
    Provider(
        "groq",
        "openai",
        "https://api.groq.com/openai/v1",
        ("GROQ_API_KEY",),
        model="openai/gpt-oss-120b",
        dialect=Dialect(max_tokens="max_completion_tokens", effort=True, efforts=_THREE_EFFORTS),
    ),
    Provider(
        "mistral",
        "openai",
        "https://api.mistral.ai/v1",
        ("MISTRAL_API_KEY",),
        model="mistral-medium-latest",
        dialect=Dialect(stream_options=False, nine_character_ids=True, user_after_tool=False),
    ),
    Provider(
        "xai",
        "openai",
        "https://api.x.ai/v1",
        ("XAI_API_KEY",),
        aliases=("grok", "x-ai"),
        model="grok-4.7",
        dialect=Dialect(effort=True, efforts=_THREE_EFFORTS),
    ),
    Provider("ollama", "ollama", "http://127.0.0.1:11434", urls=("OLLAMA_HOST",), keyless=True),
    Provider("lmstudio", "openai", "http://127.0.0.1:1234/v1", keyless=True, dialect=Dialect(grammar=True)),
    Provider(
        "llamacpp",
        "openai",
        "http://127.0.0.1:8080/v1",
        aliases=("llama.cpp",),
        keyless=True,
        dialect=Dialect(grammar=True),
    ),
    Provider("vllm", "openai", "http://127.0.0.1:8000/v1", ("VLLM_API_KEY",), keyless=True),
    Provider("claude-cli", "claude-cli", keyless=True, local=False),
    Provider("codex-cli", "codex-cli", keyless=True, local=False),
    Provider("gemini-cli", "gemini-cli", keyless=True, local=False),
    Provider("copilot-cli", "copilot-cli", keyless=True, local=False),
)
_BY_NAME = {name: provider for provider in PROVIDERS for name in (provider.id, *provider.aliases)}

KNOWN_NAMES = tuple(_BY_NAME)
"""All ids and aliases."""


def find_provider(name: str) -> Provider | None:
    """Return the known provider with this id or alias."""
    return _BY_NAME.get(name.lower())


def provider_at(base_url: str) -> Provider | None:
    """Return the known provider at this address: same scheme, host and port."""
    if not base_url or is_loopback(base_url):
        return None
    return next((provider for provider in PROVIDERS if is_same_origin(provider.base_url, base_url)), None)


def make_generic(id: str, wire: str) -> Provider:
    """Return an otherwise unknown provider that uses this wire."""
    return replace(Provider(id, wire), keyless=True)
