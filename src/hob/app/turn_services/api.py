"""The dependencies of the HTTP routes."""

from hob.app.features import Features
from hob.app.kernel import Kernel
from hob.app.turn_services.turn_services import TurnServices
from hob.core.ports.accept import Accept
from hob.gateway.api import Api
from hob.gateway.settings import GatewaySettings
from hob.gateway.tools import ToolCatalog


def make_api(kernel: Kernel, features: Features, services: TurnServices, accept: Accept, dashboard: str = "") -> Api:
    """Collect what the routes need."""
    config = kernel.config
    return Api(
        accept,
        kernel.store,
        kernel.hub,
        services.operations,
        config[GatewaySettings],
        kernel.clock,
        kernel.keyring,
        kernel.pairing_service,
        services.guard.approving,
        services.model_catalog,
        kernel.known,
        services.attempts,
        {**features.ports, ToolCatalog: services.tools},
        dashboard=dashboard,
        views=[
            {"name": view.name, "title": view.title, "asks": list(view.asks)}
            for subsystem, _ in features.opened.values()
            for view in subsystem.views
        ],
    )
