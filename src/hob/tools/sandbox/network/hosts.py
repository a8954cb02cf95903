"""Hosts that commands may reach: rules by name, groups of related hosts, and addresses that are never allowed."""

import re
from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.core.values import dataclass

GROUPS: Mapping[str, tuple[str, ...]] = {
    "pypi": ("pypi.org", "files.pythonhosted.org"),
    "npm": ("registry.npmjs.org", "registry.yarnpkg.com"),
    "crates": ("crates.io", "index.crates.io", "static.crates.io"),
    "go": ("proxy.golang.org", "sum.golang.org"),
    "rubygems": ("rubygems.org", "index.rubygems.org"),
    "maven": ("repo.maven.apache.org", "repo1.maven.org"),
    "packagist": ("repo.packagist.org", "packagist.org"),
    "debian": ("deb.debian.org", "security.debian.org", "*.archive.ubuntu.com", "security.ubuntu.com"),
    "alpine": ("dl-cdn.alpinelinux.org",),
    "github": ("github.com", "codeload.github.com", "objects.githubusercontent.com", "raw.githubusercontent.com"),
}
PACKAGES = ("pypi", "npm", "crates", "go", "rubygems", "maven", "packagist", "debian", "alpine")
ALL_PACKAGES = "packages"

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_CLOUDS = frozenset({"168.63.129.16"})  # Azure's host service: a public address reachable only from its machines
# Global in some Python versions: protocol assignments (RFC 6890), which may include cloud metadata.
_ASSIGNED = IPv4Network("192.0.0.0/24")
# IPv6 that maps to IPv4 addresses: translation (RFC 6052, 8215), 6to4, Teredo, and the old compatible form.
_TRANSLATED = tuple(map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96")))


@dataclass(frozen=True, slots=True)
class HostDecision:
    """The proxy's decision about a connection, or about inserting a `credential` into a request, and the reason."""

    host: str
    port: int
    allowed: bool
    reason: str
    credential: str = ""


HostDecisionCallback = Callable[[HostDecision], None]


class HostRules:
    """Names that may be reached. `*.example.org` stands for every name below example.org, but not for example.org
    itself.
    """

    def __init__(self, rules: Iterable[str], *, addresses: bool = False) -> None:
        """With `addresses`, a rule may also be an IP address. Raises NotConfigured for an invalid rule."""
        self._exact: set[str] = set()
        self._below: set[str] = set()
        for rule in rules:
            for pattern in _expanded(rule):
                below = pattern.startswith("*.")
                name = host_name(pattern[2:]) if below else (host_or_address if addresses else host_name)(pattern)
                if not name or (below and "." not in name):
                    raise NotConfigured(_problem(rule, addresses=addresses))
                (self._below if below else self._exact).add(name)

    def allow(self, host: str) -> bool:
        """Return whether this name, normalised by `host_name`, may be reached."""
        if host in self._exact:
            return True
        parts = host.split(".")
        return any(".".join(parts[at:]) in self._below for at in range(1, len(parts)))


def _problem(rule: str, *, addresses: bool) -> str:
    if addresses:
        return translatable(
            "{rule!r} is neither a host name nor an address. Write a name (wiki.home.arpa), *.home.arpa or an address "
            "(192.168.1.20)",
            rule=rule,
        )
    return translatable(
        "{rule!r} is not a host name. Write a name (example.org), *.example.org or group:packages; "
        "addresses are not accepted",
        rule=rule,
    )


def _expanded(rule: str) -> tuple[str, ...]:
    if not rule.startswith("group:"):
        return (rule,)
    name = rule.removeprefix("group:")
    if name == ALL_PACKAGES:
        return tuple(host for group in PACKAGES for host in GROUPS[group])
    if name not in GROUPS:
        raise NotConfigured(
            translatable(
                "There is no group of hosts {name!r}. There are: {all}, {groups}.",
                name=rule,
                all=f"group:{ALL_PACKAGES}",
                groups=", ".join(f"group:{each}" for each in GROUPS),
            )
        )
    return GROUPS[name]


def host_name(text: str) -> str:
    """Normalise a host name for comparison. Returns "" if it is invalid or an address."""
    try:
        name = text.strip().rstrip(".").lower()
        name = name if name.isascii() else name.encode("idna").decode("ascii")
    except UnicodeError:
        return ""
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels) or labels[-1].isdigit():
        return ""
    return "" if re.fullmatch(r"0x[0-9a-f]*", labels[-1]) else name


def host_or_address(text: str) -> str:
    """Like `host_name`, but accept an address (IPv6 in brackets) and return it in its usual form (RFC 5952)."""
    bracketed = text.startswith("[") and text.endswith("]")
    try:
        address = ip_address(text[1:-1] if bracketed else text)
    except ValueError:
        return host_name(text)
    return str(address) if bracketed == (address.version == 6) else ""


def is_link_local(text: str) -> bool:
    """Return whether this is a link-local address, also as mapped IPv4, where clouds keep their metadata."""
    address = ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_link_local


def is_public_address(text: str) -> bool:
    """Return whether this is an internet address, rather than one of this machine, its network or its cloud."""
    try:
        address: IPv4Address | IPv6Address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        # a mapped IPv4 address is judged as IPv4
        if address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        elif address.is_site_local or any(address in network for network in _TRANSLATED):
            return False
    if str(address) in _CLOUDS or (isinstance(address, IPv4Address) and address in _ASSIGNED):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved
