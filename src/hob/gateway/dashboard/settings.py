"""Where the dashboard listens."""

from hob.core.settings import setting
from hob.core.values import dataclass
from hob.gateway.settings import GatewaySettings


@dataclass(frozen=True, slots=True)
class DashboardSettings:
    """The dashboard, a page for browsers."""

    port: int | None = setting(
        None,
        "Port the dashboard listens on, at the address of the API; unset: the one after `gateway.port`; 0 picks a free"
        " one, -1 is none.",
        at_least=-1,
        at_most=65535,
    )

    def port_beside(self, gateway: GatewaySettings) -> int:
        """The port, or what stands for it."""
        if self.port is not None:
            return self.port
        return gateway.port + 1 if 0 < gateway.port < 65535 else min(gateway.port, 0)
