"""Every route there is, read from the declarations while nothing is open."""

from collections.abc import Iterable, Sequence
from typing import Any

from hob.app.subsystem import Subsystem
from hob.app.subsystems import SUBSYSTEMS
from hob.gateway.http.endpoint import Endpoint
from hob.gateway.routes.table import ENDPOINTS as OWN


def endpoints_of(subsystems: Iterable[Subsystem]) -> Sequence[Endpoint[Any]]:
    """The API's own routes, then those of these features."""
    return (*OWN, *(row for each in subsystems if each.endpoints is not None for row in each.endpoints()))


def api_v1_of(subsystems: Iterable[Subsystem]) -> Sequence[Endpoint[Any]]:
    """The routes below `/api/v1`, which the dashboard's listener has."""
    return tuple(row for each in subsystems if each.api_v1 is not None for row in each.api_v1())


ENDPOINTS = endpoints_of(SUBSYSTEMS)
