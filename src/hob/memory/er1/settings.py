"""ER1 settings. Imports only the standard library and `hob.core`."""

from hob.core.settings import Secret, setting
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Er1Settings:
    """ER1, a service that records and transcribes: Hob fetches what you recorded into memory."""

    url: str = setting("", "Address of your ER1 server, such as https://er1.example.org; not set: nothing is fetched.")
    api_key: Secret | None = setting(None, "Your API key for it.")
    user: str = setting("", "Your user id there; not set: nothing is fetched.")
    sync_seconds: float = setting(300.0, "Seconds between checks for new recordings.", at_least=10)
