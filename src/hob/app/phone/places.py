"""Where the dashboard can be opened to phones, each with a certificate."""

import socket
from collections.abc import Mapping
from contextlib import closing, suppress
from ipaddress import ip_address
from pathlib import Path

from hob.app.phone.access import PhonePlace
from hob.app.phone.own_authority import OwnAuthority, check_private
from hob.app.phone.tailnet import fetch_certificate, find_tailnet
from hob.core.errors import NotConfigured
from hob.gateway.dashboard.settings import TAILNET
from hob.gateway.phone import PhoneChoice


def find_place(wanted: str, folder: Path, environ: Mapping[str, str]) -> PhonePlace:
    """The place that a setting names, its certificate renewed where it ends soon. Blocks.

    Raises NotConfigured, Unready.
    """
    if wanted == TAILNET:
        found = find_tailnet(environ)
        return PhonePlace(found.address, found.name, fetch_certificate(found.name, folder, environ))
    own = OwnAuthority(folder, environ)
    certificate = own.certify(ip_address(wanted))
    return PhonePlace(wanted, wanted, certificate, own.fingerprint)


def choices(environ: Mapping[str, str]) -> list[PhoneChoice]:
    """What the setting could be, by which name phones would call it, and why it cannot, if so. Blocks."""
    found: list[PhoneChoice] = [{"at": TAILNET, "name": "", "problem": ""}]
    try:
        found[0]["name"] = find_tailnet(environ).name
    except NotConfigured as error:
        found[0]["problem"] = str(error)
    if here := _own_address():
        found.append({"at": here, "name": here, "problem": ""})
        try:
            check_private(ip_address(here))
        except NotConfigured as error:
            found[1]["problem"] = str(error)
    return found


def _own_address() -> str:
    """This machine's address in its network; empty where it is in none. Nothing is sent."""
    with suppress(OSError), closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as asking:
        asking.connect(("10.255.255.255", 1))
        return str(asking.getsockname()[0])
    return ""
