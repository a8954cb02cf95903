"""Settings of the browser."""

from hob.core.settings import setting
from hob.core.values import dataclass
from hob.tools.sandbox.settings import host_or_address_problem


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """The browser in which Hob opens pages."""

    program: str = setting("", "Chromium, by name or path; not set: the one that is installed.")
    hosts: list[str] = setting(
        [],
        "Hosts of this machine and your network that the browser may open besides the internet, such as "
        "localhost or 192.168.1.20.",
        problem=host_or_address_problem,
    )
