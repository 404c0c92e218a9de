"""The listening socket. Owns where the engine may listen and with which socket options; never accepts or serves."""

from __future__ import annotations

import errno
import ipaddress
import socket
from dataclasses import dataclass

BACKLOG = 100
"""Connections that wait to be accepted; a loopback service never sees more at once."""

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})


class ListenError(Exception):
    """Raised when the engine must not or cannot listen there. The text says why and what would work."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A bound, listening socket and how to reach it. Whoever made it closes the socket."""

    socket: socket.socket
    host: str
    port: int

    @property
    def origin(self) -> str:
        """The URL of the root, without a slash at the end; an IPv6 address stands in brackets."""
        return f"http://{bracketed(self.host)}:{self.port}"


def bracketed(host: str) -> str:
    """A host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach that host: an address in 127.0.0.0/8, `::1`, or the name localhost."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_listener(
    host: str, port: int, *, allow_non_loopback: bool = False, token: str | None = None, peer_timeout: float
) -> Listener:
    """Bind and listen. Port 0 takes a free one.

    Raises `ListenError` for a host beyond loopback that was not allowed or that has no token, and when the address
    cannot be taken.
    """
    if not is_loopback(host):
        if not allow_non_loopback:
            raise ListenError(
                f"{host!r} is a non-loopback address: others on the network could run tools here. "
                "Use 127.0.0.1, or --allow-non-loopback together with --token"
            )
        if not token:
            raise ListenError(f"listening on {host!r} demands --token, since anybody on the network can reach it")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise ListenError(f"cannot listen on {host!r}: {error.strerror}") from None
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(peer_timeout * 1000))
        listening.setblocking(False)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise ListenError(
                f"port {port} on {host} is taken, perhaps by another engine; use --port 0 for a free one"
            ) from None
        raise ListenError(f"cannot listen on {host}:{port}: {error.strerror}") from None
    return Listener(listening, host, listening.getsockname()[1])
