"""Live events and chat over a WebSocket."""

from hob.app.subsystem import Endpoints, Subsystem
from hob.core.lazy import Lazy


@Lazy
def _endpoints() -> Endpoints:
    from hob.gateway.live.endpoint import ENDPOINTS

    return ENDPOINTS


LIVE_API = Subsystem(name="live_api", one_shot=True, endpoints=_endpoints, api_v1=_endpoints)
