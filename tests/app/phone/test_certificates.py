"""Certificates for phones: real `openssl`, and a `tailscale` that is a script."""

import json
import os
import stat
import subprocess
import sys
from ipaddress import ip_address
from pathlib import Path

import pytest

from hob.app.phone.own_authority import OwnAuthority
from hob.app.phone.tailnet import fetch_certificate, find_tailnet
from hob.core.errors import NotConfigured, Unready

HERE = ip_address("192.168.7.20")
ENVIRON = {"PATH": os.environ["PATH"]}
CERT = (Path(__file__).parents[2] / "journeys" / "localhost.pem").read_text()


def openssl(*arguments: str) -> str:
    return subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False).stdout


def verified(folder: Path, file: Path) -> str:
    return openssl("verify", "-CAfile", str(folder / "hob-ca.crt"), str(file))


def test_certificate_holds_for_its_address_and_is_kept(tmp_path: Path) -> None:
    own = OwnAuthority(tmp_path, ENVIRON)
    file = own.certify(HERE)
    made = file.read_text()
    assert verified(tmp_path, file).endswith("OK\n")
    assert "192.168.7.20" in openssl("x509", "-in", str(file), "-noout", "-ext", "subjectAltName")
    assert own.certify(HERE).read_text() == made
    assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {0o600}
    shown = openssl("x509", "-in", str(tmp_path / "hob-ca.crt"), "-noout", "-fingerprint", "-sha256")
    assert own.fingerprint in shown


def test_certificate_is_renewed_before_its_end_by_the_same_authority(tmp_path: Path) -> None:
    short = OwnAuthority(tmp_path, ENVIRON, days=20)  # less than is left when one is renewed
    first, authority = short.certify(HERE).read_text(), short.fingerprint
    file = short.certify(HERE)
    assert file.read_text() != first
    assert short.fingerprint == authority
    assert verified(tmp_path, file).endswith("OK\n")


def test_authority_signs_for_private_addresses_alone(tmp_path: Path) -> None:
    own = OwnAuthority(tmp_path, ENVIRON)
    with pytest.raises(NotConfigured, match="set gateway"):
        own.certify(ip_address("8.8.8.8"))
    own.certify(HERE)
    stolen = tmp_path / "stolen.pem"
    for name in ("IP:8.8.8.8", "DNS:bank.example"):
        (tmp_path / "x.cnf").write_text(f"[x]\nsubjectAltName = {name}\n")
        request = (
            "req",
            "-new",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            os.devnull,
        )
        openssl(*request, "-subj", "/CN=x", "-out", str(tmp_path / "x.csr"))
        signed = openssl(
            "x509", "-req", "-in", str(tmp_path / "x.csr"), "-CA", str(own.certificate), "-CAkey",
            str(tmp_path / "hob-ca.key"), "-set_serial", "7", "-extfile", str(tmp_path / "x.cnf"), "-extensions", "x",
        )  # fmt: skip
        stolen.write_text(signed)
        assert not verified(tmp_path, stolen).endswith("OK\n"), name


def test_missing_openssl_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="openssl is not installed here"):
        OwnAuthority(tmp_path / "phone", {"PATH": str(tmp_path)}).certify(HERE)


def tailscale(folder: Path, **changes: object) -> dict[str, str]:
    """A `tailscale` for this PATH."""
    own = {"DNSName": "hob.tail1.ts.net.", "TailscaleIPs": ["100.64.0.7", "fd7a::7"]}
    status = {"BackendState": "Running", "Self": own, "CertDomains": ["hob.tail1.ts.net"], **changes}
    (folder / "status.json").write_text(json.dumps(status))
    (folder / "cert.pem").write_text(CERT)
    script = folder / "tailscale"
    script.write_text(
        f"#!{sys.executable}\nimport shutil, sys\na = sys.argv[1:]\n"
        f"if a[0] == 'status': print(open({str(folder / 'status.json')!r}).read())\n"
        f"else: [shutil.copy({str(folder / 'cert.pem')!r}, a[a.index(o) + 1]) for o in ('--cert-file', '--key-file')]\n"
    )
    script.chmod(0o755)
    return {"PATH": f"{folder}:{ENVIRON['PATH']}"}


def test_tailnet_gives_name_address_and_certificate(tmp_path: Path) -> None:
    environ = tailscale(tmp_path)
    assert find_tailnet(environ) == ("hob.tail1.ts.net", "100.64.0.7")
    file = fetch_certificate("hob.tail1.ts.net", tmp_path / "phone", environ)
    assert file.read_text() == CERT + CERT
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in (tmp_path / "phone").iterdir()] == ["tailnet.pem"]


@pytest.mark.parametrize(
    ("changes", "kind", "told"),
    [
        ({"BackendState": "Stopped"}, Unready, "tailscale up"),
        ({"CertDomains": None}, NotConfigured, "MagicDNS and HTTPS"),
        ({"Self": None}, Unready, "cannot be read"),
    ],
)
def test_tailnet_that_is_not_ready_says_what_to_do(
    tmp_path: Path, changes: dict[str, object], kind: type[Exception], told: str
) -> None:
    with pytest.raises(kind, match=told):
        find_tailnet(tailscale(tmp_path, **changes))
