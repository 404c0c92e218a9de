"""The program that turns SVG into PNG in a process of its own. Owns the form of what goes to it and comes back.

The rasteriser keeps Python's lock for as long as it paints, and a drawing can be made that takes it minutes; here it
holds up nobody. The program reads one request after another from the socket that is its standard input, and ends when
that is closed. It is run as a file and imports nothing of the engine, so that it starts fast and wherever it is called.
"""

from __future__ import annotations

import json
import resource
import signal
import socket
import struct
import sys

import resvg_py

MEMORY_LIMIT_BYTES = 2 * 1024**3
"""Address space. The largest pictures need some hundred megabytes; nested groups of that size could ask for all."""

REQUEST_HEAD = struct.Struct(">II")
"""Bytes of the options, a JSON object, and bytes of the SVG in UTF-8. Both follow it."""

ANSWER_HEAD = struct.Struct(">BI")
"""`PAINTED` or `REFUSED`, and the bytes of the PNG or of the reason in UTF-8, which follow it."""

PAINTED, REFUSED = 0, 1


def main() -> None:
    """Answer requests until there are no more. The one argument is the seconds after which a picture ends us."""
    limit_seconds = int(sys.argv[1])
    _limit(resource.RLIMIT_AS, MEMORY_LIMIT_BYTES)
    _limit(resource.RLIMIT_CORE, 0)
    # The engine ends us at its limit. Where it has died itself, the alarm does: nothing in Python would run meanwhile.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with socket.socket(fileno=0) as connection:
        while (head := _received(connection, REQUEST_HEAD.size)) is not None:
            options_size, svg_size = REQUEST_HEAD.unpack(head)
            options, svg = _received(connection, options_size), _received(connection, svg_size)
            if options is None or svg is None:
                return
            signal.alarm(limit_seconds)
            outcome, data = _painted(svg.decode(), **json.loads(options))
            signal.alarm(0)
            connection.sendall(ANSWER_HEAD.pack(outcome, len(data)))
            connection.sendall(data)


def _painted(svg: str, *, font_files: list[str], font_family: str, system_fonts: bool) -> tuple[int, bytes]:
    try:
        return PAINTED, resvg_py.svg_to_bytes(
            svg_string=svg,
            skip_system_fonts=not system_fonts,
            font_files=font_files,
            font_family=font_family,
            sans_serif_family=font_family,
        )
    except ValueError as error:
        return REFUSED, str(error).encode()


def _received(connection: socket.socket, size: int) -> bytes | None:
    """That many bytes; None when the other side has closed before."""
    data = bytearray(size)
    view, filled = memoryview(data), 0
    while filled < size:
        count = connection.recv_into(view[filled:])
        if not count:
            return None
        filled += count
    return bytes(data)


def _limit(kind: int, wanted: int) -> None:
    _, most = resource.getrlimit(kind)
    limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(kind, (limit, limit))


if __name__ == "__main__":
    try:
        main()
    except ConnectionError:
        sys.exit(1)  # the engine is gone, and with it whoever wanted the picture
