"""Addresses at which phones can open the dashboard, each with a certificate."""

import socket
from collections.abc import Mapping
from contextlib import closing, suppress
from ipaddress import ip_address
from pathlib import Path

from hob.app.phone.access import GivenCertificate, PhonePlace
from hob.app.phone.given_certificate import known_name
from hob.app.phone.own_authority import OwnAuthority, check_private
from hob.app.phone.tailnet import fetch_certificate, find_tailnet
from hob.core.errors import NotConfigured
from hob.gateway.dashboard.settings import TAILNET
from hob.gateway.phone import PhoneChoice


def find_place(
    wanted: str, folder: Path, environ: Mapping[str, str], given: GivenCertificate | None = None
) -> PhonePlace:
    """The place that a setting names, with the certificate that is given where it fits, else one that is renewed.

    Blocks. Raises NotConfigured, Unready.
    """
    if wanted == TAILNET:
        found = find_tailnet(environ)
        if given is not None and known_name(given, "", environ, found.name):
            return PhonePlace(found.address, found.name, *given)
        return PhonePlace(found.address, found.name, fetch_certificate(found.name, folder, environ))
    if given is not None and (name := known_name(given, wanted, environ)):
        return PhonePlace(wanted, name, *given)
    own = OwnAuthority(folder, environ)
    certificate = own.certify(ip_address(wanted))
    return PhonePlace(wanted, wanted, certificate, authority=own.fingerprint)


def choices(environ: Mapping[str, str], given: GivenCertificate | None = None) -> list[PhoneChoice]:
    """What the setting could be, by which name phones would call it, and why it cannot, if so. Blocks."""
    found: list[PhoneChoice] = [{"at": TAILNET, "name": "", "problem": ""}]
    try:
        found[0]["name"] = find_tailnet(environ).name
    except NotConfigured as error:
        found[0]["problem"] = str(error)
    if here := _own_address():
        name = "" if given is None else known_name(given, here, environ)
        found.append({"at": here, "name": name or here, "problem": ""})
        try:
            if not name:
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
