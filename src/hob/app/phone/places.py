"""Addresses at which phones can open the dashboard, each with a certificate."""

import socket
from collections.abc import Mapping
from contextlib import closing, suppress
from ipaddress import ip_address
from pathlib import Path

from hob.app.phone.access import GivenCertificate, PhonePlace
from hob.app.phone.given_certificate import matching_name
from hob.app.phone.own_authority import OwnAuthority, check_private
from hob.app.phone.tailnet import fetch_certificate, find_tailnet
from hob.core.errors import NotConfigured
from hob.gateway.dashboard.settings import TAILNET
from hob.gateway.phone import PhoneChoice


def find_place(
    wanted: str, folder: Path, environ: Mapping[str, str], given: GivenCertificate | None = None
) -> PhonePlace:
    """Return the configured place, with the API's certificate if it is suitable, else with a renewed one.

    Blocks. Raises NotConfigured, NotReady.
    """
    if wanted == TAILNET:
        found = find_tailnet(environ)
        if given is not None and matching_name(given, "", environ, found.name):
            return PhonePlace(found.address, found.name, *given)
        return PhonePlace(found.address, found.name, fetch_certificate(found.name, folder, environ))
    if given is not None and (name := matching_name(given, wanted, environ)):
        return PhonePlace(wanted, name, *given)
    own = OwnAuthority(folder, environ)
    certificate = own.certify(ip_address(wanted))
    return PhonePlace(wanted, wanted, certificate, authority=own.fingerprint)


def choices(environ: Mapping[str, str], given: GivenCertificate | None = None) -> list[PhoneChoice]:
    """List the possible places, each with its host name for phones, or why it is unavailable. Blocks."""
    found: list[PhoneChoice] = [{"at": TAILNET, "name": "", "problem": ""}]
    try:
        found[0]["name"] = find_tailnet(environ).name
    except NotConfigured as error:
        found[0]["problem"] = str(error)
    if here := _local_address():
        name = "" if given is None else matching_name(given, here, environ)
        found.append({"at": here, "name": name or here, "problem": ""})
        try:
            if not name:
                check_private(ip_address(here))
        except NotConfigured as error:
            found[1]["problem"] = str(error)
    return found


def _local_address() -> str:
    """Return this machine's address in its network; empty if there is none. Sends nothing."""
    with suppress(OSError), closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as asking:
        asking.connect(("10.255.255.255", 1))
        return str(asking.getsockname()[0])
    return ""
