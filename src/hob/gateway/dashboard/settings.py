"""Dashboard settings: its port, and the address for phones."""

from ipaddress import ip_address

from hob.core.settings import setting
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.gateway.settings import GatewaySettings

TAILNET = "tailnet"
"""Value that means this machine's address in its tailnet."""


def _place_problem(text: str) -> str:
    try:
        named = text in {"", TAILNET} or not ip_address(text).is_unspecified
    except ValueError:
        named = False
    return "" if named else translatable("is neither `tailnet` nor one address of this machine, as 192.168.1.20")


@dataclass(frozen=True, slots=True)
class DashboardSettings:
    """Settings of the dashboard, the web page."""

    port: int | None = setting(
        None,
        "Port the dashboard listens on, at the address of the API; not set: the one after `gateway.port`; 0 "
        "picks a free one, -1: no dashboard.",
        at_least=-1,
        at_most=65535,
    )
    phone: str = setting(
        "",
        "Where phones reach the dashboard, over HTTPS: `tailnet`, or an address of this machine in your "
        "network; not set: nowhere.",
        problem=_place_problem,
        stored=True,
    )

    def port_beside(self, gateway: GatewaySettings) -> int:
        """Return the dashboard's port, derived from the API's."""
        if self.port is not None:
            return self.port
        return gateway.port + 1 if 0 < gateway.port < 65535 else min(gateway.port, 0)
