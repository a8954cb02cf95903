"""All routes, collected from the declarations without opening anything."""

from typing import Any

from hob.app.subsystem import endpoints_of
from hob.app.subsystems import SUBSYSTEMS
from hob.gateway.http.endpoint import Endpoint
from hob.gateway.routes.table import ENDPOINTS as OWN

ENDPOINTS: tuple[Endpoint[Any], ...] = (*OWN, *endpoints_of(SUBSYSTEMS))
