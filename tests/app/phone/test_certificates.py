"""Certificates for phones: real `openssl`, and a `tailscale` that is a script."""

import json
import os
import stat
import subprocess
import sys
from ipaddress import ip_address
from pathlib import Path

import pytest

from hob.app.phone.access import GivenCertificate
from hob.app.phone.own_authority import OwnAuthority
from hob.app.phone.places import fetch_certificate, find_place, find_tailnet, matching_name
from hob.core.errors import NotConfigured, NotReady

HERE = ip_address("192.168.7.20")
ENVIRON = {"PATH": os.environ["PATH"]}
CERT = (Path(__file__).parents[2] / "journeys" / "localhost.pem").read_text()


def openssl(*arguments: str) -> str:
    return subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False).stdout


def verified(folder: Path, file: Path) -> str:
    return openssl("verify", "-CAfile", str(folder / "hob-ca.crt"), str(file))


def test_certificate_is_valid_for_its_address_and_reused(tmp_path: Path) -> None:
    own = OwnAuthority(tmp_path, ENVIRON)
    file = own.certify(HERE)
    made = file.read_text()
    assert verified(tmp_path, file).endswith("OK\n")
    assert "192.168.7.20" in openssl("x509", "-in", str(file), "-noout", "-ext", "subjectAltName")
    assert own.certify(HERE).read_text() == made
    assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {0o600}
    shown = openssl("x509", "-in", str(tmp_path / "hob-ca.crt"), "-noout", "-fingerprint", "-sha256")
    assert own.fingerprint in shown


def test_certificate_is_renewed_before_it_expires_by_the_same_authority(tmp_path: Path) -> None:
    short = OwnAuthority(tmp_path, ENVIRON, days=20)  # less than the time left at which one is renewed
    first, authority = short.certify(HERE).read_text(), short.fingerprint
    file = short.certify(HERE)
    assert file.read_text() != first
    assert short.fingerprint == authority
    assert verified(tmp_path, file).endswith("OK\n")


def test_authority_signs_only_for_private_addresses(tmp_path: Path) -> None:
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
    """Put a `tailscale` script on this PATH."""
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


def test_tailnet_provides_name_address_and_certificate(tmp_path: Path) -> None:
    environ = tailscale(tmp_path)
    assert find_tailnet(environ) == ("hob.tail1.ts.net", "100.64.0.7")
    file = fetch_certificate("hob.tail1.ts.net", tmp_path / "phone", environ)
    assert file.read_text() == CERT + CERT
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in (tmp_path / "phone").iterdir()] == ["tailnet.pem"]


@pytest.mark.parametrize(
    ("changes", "kind", "told"),
    [
        ({"BackendState": "Stopped"}, NotReady, "tailscale up"),
        ({"CertDomains": None}, NotConfigured, "MagicDNS and HTTPS"),
        ({"Self": None}, NotReady, "cannot be read"),
    ],
)
def test_unready_tailnet_reports_what_to_do(
    tmp_path: Path, changes: dict[str, object], kind: type[Exception], told: str
) -> None:
    with pytest.raises(kind, match=told):
        find_tailnet(tailscale(tmp_path, **changes))


def given(folder: Path, names: str, *more: str) -> GivenCertificate:
    """Create a certificate for these names, signed by a foreign authority."""
    ca, key, file = folder / "ca.pem", folder / "given.key", folder / "given.pem"
    new = ("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl(*new, "-x509", "-subj", "/CN=Some CA", "-keyout", str(folder / "ca.key"), "-out", str(ca))
    openssl(*new, "-subj", "/CN=hob", "-keyout", str(key), "-out", str(folder / "given.csr"))
    (folder / "given.cnf").write_text(f"[x]\nsubjectAltName = {names}\n")
    signed = openssl(
        "x509", "-req", "-in", str(folder / "given.csr"), "-CA", str(ca), "-CAkey", str(folder / "ca.key"),
        "-set_serial", "7", "-extfile", str(folder / "given.cnf"), "-extensions", "x", *more,
    )  # fmt: skip
    file.write_text(signed)
    return GivenCertificate(file, key)


def test_given_certificate_is_used_if_it_fits(tmp_path: Path) -> None:
    fits = given(tmp_path, "DNS:hob.example.org,IP:192.168.7.20")
    folder = tmp_path / "phone"
    assert find_place(str(HERE), folder, ENVIRON, fits) == (str(HERE), str(HERE), fits.certificate, fits.key, "")
    assert not folder.exists()  # nothing was created
    assert find_place("192.168.7.21", folder, ENVIRON, fits).authority
    assert matching_name(given(tmp_path, "DNS:localhost"), "127.0.0.1", ENVIRON) == "localhost"
    assert find_place("8.8.8.8", folder, ENVIRON, given(tmp_path, "IP:8.8.8.8")).authority == ""


def test_expired_or_self_signed_given_certificate_is_not_used(tmp_path: Path) -> None:
    ended = given(tmp_path, "IP:192.168.7.20", "-days", "-1")
    assert matching_name(ended, str(HERE), ENVIRON) == ""
    assert matching_name(GivenCertificate(tmp_path / "ca.pem"), "Some CA", ENVIRON) == ""
    assert matching_name(GivenCertificate(tmp_path / "none.pem"), str(HERE), ENVIRON) == ""


def test_given_certificate_serves_the_tailnet_by_its_name(tmp_path: Path) -> None:
    environ, fits = tailscale(tmp_path), given(tmp_path, "DNS:hob.tail1.ts.net")
    place = find_place("tailnet", tmp_path / "phone", environ, fits)
    assert place == ("100.64.0.7", "hob.tail1.ts.net", fits.certificate, fits.key, "")
