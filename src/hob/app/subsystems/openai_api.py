"""The OpenAI-compatible API."""

from hob.app.subsystem import Endpoints, Subsystem
from hob.core.lazy import Lazy


@Lazy
def _endpoints() -> Endpoints:
    from hob.gateway.openai.table import ENDPOINTS

    return ENDPOINTS


OPENAI_API = Subsystem(name="openai_api", one_shot=True, endpoints=_endpoints)
