"""Resolution of webhook receivers, refusing addresses that are not public.

A name is resolved once, checked, and called by the checked address, so a later change of its DNS entry has no effect
(https://cheatsheetseries.owasp.org/cheatsheets/Server_Side_Request_Forgery_Prevention_Cheat_Sheet.html).
"""

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from hob.core.errors import SendFailed

_NAT64 = ip_network("64:ff9b::/96")
"""The last 32 bits are an IPv4 address (https://www.rfc-editor.org/rfc/rfc6052)."""
_UNICAST = ip_network("2000::/3")
"""The public unicast range of IPv6 (https://www.iana.org/assignments/ipv6-address-space)."""
_SPECIAL = tuple(
    ip_network(each)
    for each in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "3fff::/20",
        "168.63.129.16/32",  # https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
    )
)  # fmt: skip
"""Special-purpose ranges (https://www.iana.org/assignments/iana-ipv4-special-registry and its IPv6 counterpart), with
cloud metadata. A list of Hob's own, since `ipaddress` judges differently from version to version.
"""


def is_public(address: str) -> bool:
    """Return whether a numeric address is public; False for names and for addresses that embed a non-public one."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if found in _NAT64:
            inner = IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return found.scope_id is None and is_public(str(inner))
        if found.scope_id is not None or found not in _UNICAST:
            return False
    return not any(found in each for each in _SPECIAL)


async def addresses_of(host: str, port: int, *, private: bool) -> tuple[str, ...]:
    """Resolve a host to numeric addresses, best first. Raises SendFailed if any of them must not be called.

    The failure is permanent only for fixed addresses. A name may temporarily resolve elsewhere, for example behind a
    captive portal or before a tunnel is up.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SendFailed(f"the name {host} leads nowhere") from error
    addresses = tuple(dict.fromkeys(str(each[4][0]) for each in found))
    refused = [each for each in addresses if not (private or is_public(each))]
    if refused:
        raise SendFailed(
            f"{host} is {refused[0]}, no address of the public net; allow_private of the webhook allows it",
            permanent=_is_fixed(host),
        )
    return addresses


def _is_fixed(host: str) -> bool:
    """Return whether a host always resolves to the same place: a number in any notation, or localhost."""
    if host == "localhost" or host.endswith(".localhost"):  # https://www.rfc-editor.org/rfc/rfc6761#section-6.3
        return True
    try:
        return bool(socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST))
    except (OSError, UnicodeError):
        return False
