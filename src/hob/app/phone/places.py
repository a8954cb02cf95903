"""Addresses at which phones can open the dashboard, each with a certificate."""

import json
import re
import socket
from collections.abc import Mapping
from contextlib import closing, suppress
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hob.app.phone.access import GivenCertificate, PhonePlace
from hob.app.phone.own_authority import OwnAuthority, check_private
from hob.app.phone.programs import run_program
from hob.config.whole_file import write_whole
from hob.core.errors import HobError, NotConfigured, NotReady
from hob.core.translation.language import translatable
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


def matching_name(given: GivenCertificate, address: str, environ: Mapping[str, str], *names: str) -> str:
    """Return the certificate's name for this address: one of `names`, the address itself, or a name that resolves to
    it.

    Empty if it has none, has expired, or is self-signed, so that phones would not trust it. Blocks.
    """
    try:
        said = run_program(
            "openssl", "x509", "-in", str(given.certificate), "-noout", "-checkend", "0", "-issuer", "-subject",
            "-ext", "subjectAltName", environ=environ,
        )  # fmt: skip
    except HobError:
        return ""
    issuer, subject = (re.search(rf"^{name}=\s*(.*)$", said, re.M) for name in ("issuer", "subject"))
    if issuer is None or subject is None or issuer[1] == subject[1]:
        return ""
    held = re.findall(r"\b(?:DNS|IP Address):([^\s,]+)", said)
    fitting = (each for each in held if each in (address, *names) or _leads(each, address))
    return next(fitting, "")


def _leads(name: str, address: str) -> bool:
    if "*" in name:
        return False
    with suppress(OSError, UnicodeError):
        return any(found[4][0] == address for found in socket.getaddrinfo(name, None))
    return False


class Tailnet(NamedTuple):
    """This machine in the tailnet."""

    name: str
    address: str


def find_tailnet(environ: Mapping[str, str]) -> Tailnet:
    """Read `tailscale status`. Raises NotConfigured and NotReady, with what to do."""
    try:
        status = json.loads(run_program("tailscale", "status", "--json", environ=environ))
        state, own = status["BackendState"], status["Self"]
        name, addresses = str(own["DNSName"]).rstrip("."), [str(each) for each in own.get("TailscaleIPs") or ()]
        certified = name in (status.get("CertDomains") or ())
    except (ValueError, KeyError, TypeError) as error:
        raise NotReady(translatable("what `tailscale status --json` tells cannot be read")) from error
    if state != "Running" or not addresses:
        raise NotReady(translatable("this machine is not in a tailnet at the moment; run `tailscale up`"))
    if not certified:
        raise NotConfigured(
            translatable("your tailnet makes no certificates yet; switch on MagicDNS and HTTPS in its settings (DNS)")
        )
    return Tailnet(name, addresses[0])


def fetch_certificate(name: str, folder: Path, environ: Mapping[str, str]) -> Path:
    """Fetch the publicly trusted certificate for this name with its key (https://tailscale.com/kb/1153).

    tailscale renews an existing one. Raises NotConfigured, NotReady.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    file = folder / "tailnet.pem"
    with TemporaryDirectory(dir=folder) as beside:
        chain, key = Path(beside) / "chain.pem", Path(beside) / "key.pem"
        run_program("tailscale", "cert", "--cert-file", str(chain), "--key-file", str(key), name, environ=environ)
        write_whole(file, (key.read_text() + chain.read_text()).encode())
    return file
