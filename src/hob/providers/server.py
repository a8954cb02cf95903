"""How to reach one model server. Loads without any HTTP library."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hob.core.settings import Secret


@dataclass(frozen=True, slots=True)
class Server:
    """One server and one key. `advice` names, for error messages, where address and key are set."""

    base_url: str
    api_key: Secret | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    connect_seconds: float = 5.0
    read_seconds: float = 600.0
    advice: str = "model.base_url and model.api_key"
