"""Settings of the external knowledge engine. Imports only the standard library and `hob.core`."""

from hob.core.settings import Secret, setting
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class KnowledgeSettings:
    """An external search engine for documents, used by the tool `recall`."""

    url: str = setting(
        "",
        "Address of the search engine, such as https://knowledge.example.org; `recall` sends it your "
        "question; not set: none.",
    )
    api_key: Secret | None = setting(None, "Its API key, sent as X-API-KEY.")
    tool: str = setting(
        "", "MCP tool that is asked if no address is set or it fails, such as notes__search; not set: none."
    )
    results: int = setting(5, "Maximum results per search.", at_least=1, at_most=50)
    seconds: float = setting(10.0, "Maximum seconds per search.", at_least=1, at_most=120)
