"""Where ER1 is. Loads nothing but the standard library and the vocabulary."""

from hob.core.settings import Secret, setting
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Er1Settings:
    """The section `[er1]`."""

    url: str = setting("", "Where your ER1 is, as https://er1.example.org; empty: nothing is fetched.")
    api_key: Secret | None = setting(None, "Its key.")
    user: str = setting("", "Who you are there; empty: nothing is fetched.")
    sync_seconds: float = setting(300.0, "How often what is new is fetched.", at_least=10)
