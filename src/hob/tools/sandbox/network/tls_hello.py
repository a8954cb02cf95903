"""The server's name in a TLS ClientHello (RFC 8446, 4.1.2; RFC 6066, 3): to whom a tunnel really goes.

Many hosts share addresses. A tunnel to an allowed name could speak to another one behind the same address, so the name
said in the first message is compared with the one that was allowed.
"""

MOST_HELLO = 5 + 16384 * 2
_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME = 22, 1, 0


class NotTls(Exception):
    """The first bytes are no ClientHello."""


def server_name(data: bytes) -> str | None:
    """The name in the hello, empty where it has none; None while the message is not all there. Raises NotTls."""
    hello = bytearray()
    at = 0
    while True:
        if len(data) > at and data[at] != _HANDSHAKE:
            raise NotTls
        if len(data) < at + 5:
            return None
        end = at + 5 + int.from_bytes(data[at + 3 : at + 5], "big")
        hello += data[at + 5 : end]
        if hello and hello[0] != _CLIENT_HELLO:
            raise NotTls
        if len(hello) >= 4 and len(hello) >= 4 + int.from_bytes(hello[1:4], "big"):
            return _name_in(bytes(hello[4 : 4 + int.from_bytes(hello[1:4], "big")]))
        if len(data) < end:
            return None
        if end > MOST_HELLO:
            raise NotTls
        at = end


def _name_in(body: bytes) -> str:
    try:
        at = 2 + 32  # version, random
        at += 1 + body[at]  # session
        at += 2 + int.from_bytes(body[at : at + 2], "big")  # ciphers
        at += 1 + body[at]  # compression
        end = at + 2 + int.from_bytes(body[at : at + 2], "big")
        at += 2
        while at + 4 <= end:
            kind, size = int.from_bytes(body[at : at + 2], "big"), int.from_bytes(body[at + 2 : at + 4], "big")
            if kind == _SERVER_NAME and size > 5:
                length = int.from_bytes(body[at + 7 : at + 9], "big")
                return body[at + 9 : at + 9 + length].decode("ascii")
            at += 4 + size
    except (IndexError, UnicodeDecodeError) as error:
        raise NotTls from error
    return ""
