"""This machine's name in a tailnet, and its publicly trusted certificate: https://tailscale.com/kb/1153"""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hob.app.phone.programs import run_program
from hob.config.whole_file import write_whole
from hob.core.errors import NotConfigured, NotReady
from hob.core.translation.language import translatable


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
    """Fetch the certificate for this name with its key; tailscale renews an existing one. Raises NotConfigured,
    NotReady.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    file = folder / "tailnet.pem"
    with TemporaryDirectory(dir=folder) as beside:
        chain, key = Path(beside) / "chain.pem", Path(beside) / "key.pem"
        run_program("tailscale", "cert", "--cert-file", str(chain), "--key-file", str(key), name, environ=environ)
        write_whole(file, (key.read_text() + chain.read_text()).encode())
    return file
