"""Package registries and trusted certificates, taken from the environment and the configuration of npm and pip.

Only registry addresses, their logins and certificates are read; all other settings are ignored.
"""

import re
from collections.abc import Iterator, Mapping
from configparser import ConfigParser, Error
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.tools.sandbox.network.hosts import GROUPS, host_name
from hob.tools.sandbox.network.interception import system_bundle

_CERTIFICATES = ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT")
_PEM = re.compile(rb"-----BEGIN (?:TRUSTED )?CERTIFICATE-----.+?-----END (?:TRUSTED )?CERTIFICATE-----", re.DOTALL)
_VARIABLE = re.compile(r"\$\{(\w+)\}")
# uv's variables by pip's names, because pip fetches the package
_UV = {"UV_DEFAULT_INDEX": "index-url", "UV_INDEX_URL": "index-url", "UV_EXTRA_INDEX_URL": "extra-index-url"}
_PIP = ("index-url", "extra-index-url", "trusted-host")


@dataclass(frozen=True, slots=True)
class Registries:
    """The registries of one package manager.

    `hosts` serve packages, `named` are those that the owner configured. `environ` and `npmrc` configure the programs.
    `certificates` are the trusted ones; if they are empty, the program uses its own.
    """

    hosts: frozenset[tuple[str, int]]
    named: tuple[str, ...]
    environ: Mapping[str, str]
    npmrc: str
    certificates: bytes


def registries_of(kind: str, environ: Mapping[str, str], owner: Path) -> Registries:
    """Read the registries of npm (`npm`) or Python (`pypi`) for the owner of this home folder. Raises NotConfigured."""
    read = _read_npm if kind == "npm" else _read_pip
    urls, variables, npmrc, files = read(environ, owner)
    named = frozenset(_host_and_port(url) for url in urls)
    return Registries(
        named | {(host, 443) for host in GROUPS[kind]},
        tuple(sorted(host for host, _ in named)),
        variables,
        npmrc,
        _collect_certificates((*files, *(environ.get(name, "") for name in _CERTIFICATES))),
    )


_RegistryConfig = tuple[list[str], Mapping[str, str], str, list[str]]
"""Registry addresses, environment variables, npmrc lines, certificate files."""


def _read_npm(environ: Mapping[str, str], owner: Path) -> _RegistryConfig:
    given = {name.lower().removeprefix("npm_config_"): value for name, value in environ.items() if value}
    lines = _read_text(Path(given.get("userconfig") or owner / ".npmrc")).splitlines()
    told: dict[str, str] = {}
    for key, mark, value in (line.partition("=") for line in lines):
        if mark and not key.lstrip().startswith(("#", ";")):
            plain = value.strip().strip("\"'")
            told[key.strip()] = _VARIABLE.sub(lambda found: environ.get(found[1], ""), plain)
    if "registry" in given:
        told["registry"] = given["registry"]
    urls = {key: value for key, value in told.items() if key == "registry" or key.endswith(":registry")}
    logins = {key: value for key, value in told.items() if key.startswith("//") and "file" not in key}
    npmrc = "".join(f"{key}={value}\n" for key, value in {**urls, **logins}.items())
    return list(urls.values()), {}, npmrc, [given.get("cafile") or told.get("cafile", "")]


def _read_pip(environ: Mapping[str, str], owner: Path) -> _RegistryConfig:
    config = Path(environ.get("XDG_CONFIG_HOME") or owner / ".config")
    files = [Path("/etc/pip.conf"), owner / ".pip" / "pip.conf", config / "pip" / "pip.conf"]
    told: dict[str, str] = {}
    for file in (*files, Path(environ.get("PIP_CONFIG_FILE") or "/dev/null")):
        read = ConfigParser(interpolation=None)
        with suppress(Error):
            read.read_string(_read_text(file))
        for section in ("global", "install"):
            told |= dict(read[section]) if read.has_section(section) else {}
    told |= {mine: environ[name] for name, mine in _UV.items() if environ.get(name)}
    for name in (*_PIP, "cert"):
        told[name] = environ.get(f"PIP_{name.upper().replace('-', '_')}") or told.get(name, "")
    variables = {f"PIP_{name.upper().replace('-', '_')}": " ".join(told[name].split()) for name in _PIP if told[name]}
    urls = [*told["index-url"].split(), *told["extra-index-url"].split()]
    return urls, variables, "", [told["cert"]]


def _host_and_port(url: str) -> tuple[str, int]:
    """Return a registry's host and port. Raises NotConfigured if the sandbox cannot reach it."""
    try:
        parts = urlsplit(url)
        host, port = host_name(parts.hostname or ""), parts.port
    except ValueError:
        host, port = "", None
    if not host or host == "localhost" or parts.scheme not in ("http", "https"):
        raise NotConfigured(
            translatable(
                "The registry {host} that npm or pip is set to is no https:// or http:// address with a host name, "
                "which an installation in the sandbox needs; an address by number and localhost are not reached there.",
                host=repr(url.rpartition("@")[2][:100]),
            )
        )
    return host, port or (443 if parts.scheme == "https" else 80)


def _collect_certificates(files: tuple[str, ...]) -> bytes:
    """Collect the certificates of the system and of these files. Keys in the files are dropped."""
    texts = [system_bundle(), *(_read_bytes(Path(name).expanduser()) for name in dict.fromkeys(filter(None, files)))]
    return b"\n".join(dict.fromkeys(each for text in texts for each in _pems(text)))


def _pems(text: bytes) -> Iterator[bytes]:
    yield from (found[0] for found in _PEM.finditer(text))


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # npm and pip ignore unreadable files too
        return b""


def _read_text(path: Path) -> str:
    return _read_bytes(path).decode("utf-8", "replace")
