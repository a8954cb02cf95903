"""Imports from other assistants."""

from hob.app.subsystem import Endpoints, Subsystem
from hob.core.lazy import Lazy


@Lazy
def _endpoints() -> Endpoints:
    from hob.gateway.routes.imports import ENDPOINTS

    return ENDPOINTS


IMPORTS = Subsystem(name="import", one_shot=True, endpoints=_endpoints)
