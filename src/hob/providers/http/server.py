"""Address and key of a model server. Needs no HTTP library."""

from collections.abc import Mapping
from dataclasses import field

from hob.core.errors import ModelError, ModelFault
from hob.core.settings import Secret
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.providers.routing.choice import ConnectedProvider
from hob.providers.settings import ModelSettings


@dataclass(frozen=True, slots=True)
class Server:
    """A server and a key. `advice` says, for error messages, where address and key are set."""

    base_url: str
    api_key: Secret | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    connect_seconds: float = 5.0
    read_seconds: float = 600.0
    advice: str = translatable("model.base_url and model.api_key")


def make_server(connected: ConnectedProvider, key: Secret | None, settings: ModelSettings) -> Server:
    """Return the provider's server with this key. Raises ModelError if it has no address."""
    provider, own = connected.provider, connected.settings
    if not connected.base_url:
        raise ModelError(
            ModelFault.SETTINGS,
            translatable("{id} has no address; set {advice}", id=provider.id, advice=connected.advice),
        )
    return Server(
        base_url=connected.base_url,
        api_key=key,
        headers={**provider.headers, **own.headers},
        connect_seconds=settings.connect_seconds,
        read_seconds=settings.read_seconds,
        advice=connected.advice,
    )
