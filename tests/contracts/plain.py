"""Clients of servers on loopback load no certificates: it takes longer than most tests."""

import ssl

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
