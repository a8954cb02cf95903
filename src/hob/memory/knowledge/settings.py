"""Where the external knowledge engine is. Loads nothing but the standard library and the vocabulary."""

from hob.core.settings import Secret, setting
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class KnowledgeSettings:
    """The section `[knowledge]`."""

    url: str = setting(
        "", "Where it is searched, as https://knowledge.example.org; `recall` sends it your question; empty: nowhere."
    )
    api_key: Secret | None = setting(None, "Its key, sent as X-API-KEY.")
    tool: str = setting(
        "", "An MCP tool that is asked where the address is empty or fails, as notes__search; empty: none."
    )
    results: int = setting(5, "Most results of one search.", at_least=1, at_most=50)
    seconds: float = setting(10.0, "Most seconds one search may take.", at_least=1, at_most=120)
