"""Where a name leads, and whether a machine on the public net is there.

A name is resolved once, judged, and then called by the very address that was judged: who may change the name's entry
gains nothing (https://cheatsheetseries.owasp.org/cheatsheets/Server_Side_Request_Forgery_Prevention_Cheat_Sheet.html).
"""

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from hob.core.errors import SendFailed

_NAT64 = ip_network("64:ff9b::/96")
"""https://www.rfc-editor.org/rfc/rfc6052: its last 32 bits are an IPv4 address."""
_COMPATIBLE = ip_network("::/96")


def is_public(address: str) -> bool:
    """Whether a numeric address is one of the public net; no name is, nor what carries another address within."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.scope_id is not None or found in _COMPATIBLE or found.teredo is not None:
            return False
        inner = found.ipv4_mapped or found.sixtofour
        if found in _NAT64:
            inner = IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return found.is_global and not (found.is_multicast or found.is_reserved or found.is_unspecified)


async def addresses_of(host: str, port: int, *, private: bool) -> tuple[str, ...]:
    """The numeric addresses of a host, the best first. Raises SendFailed where one of them may not be called.

    It is for good only if the host itself says where it is: a name may lead elsewhere for a while, at a portal that
    wants a password or before a tunnel is up.
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
    """Whether a host leads to one place for ever: a number however it is written, or this machine's own name."""
    if host == "localhost" or host.endswith(".localhost"):  # https://www.rfc-editor.org/rfc/rfc6761#section-6.3
        return True
    try:
        return bool(socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST))
    except (OSError, UnicodeError):
        return False
