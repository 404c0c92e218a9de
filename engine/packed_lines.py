"""The lines of a gzip file, one after the other, never more at a time than is allowed. Owns the limits of unpacking."""

from __future__ import annotations

import zlib
from typing import IO

from engine.world_file_error import WorldFileError

MAX_UNPACKED_BYTES = 1024 * 1024 * 1024
"""Most that a world file may unpack to: the largest one that its other limits allow, and no more than is bearable."""

MAX_LINE_BYTES = 64 * 1024 * 1024
"""Longest line. A record such as a large height field has a few MiB, and a change holds two of them."""

GZIP_BITS = 16 + zlib.MAX_WBITS
"""How zlib is told that a stream is gzip."""

_PACKED_CHUNK = 64 * 1024
_UNPACKED_CHUNK = 1024 * 1024
"""Bytes at a time; of what comes out as well, since one byte of a hostile file may become a thousand."""


class PackedLines:
    """Reads the lines of one gzip file. Every method raises `WorldFileError` for what cannot be or is too much."""

    def __init__(self, file: IO[bytes]) -> None:
        self.number = 0
        """Of the line that was given last, from 1."""
        self._file = file
        self._unpacker = zlib.decompressobj(GZIP_BITS)
        self._packed = b""
        self._lines: list[bytes] = []
        self._rest: list[bytes] = []
        self._rest_bytes = 0
        self._unpacked_bytes = 0

    def next(self) -> bytes:
        """The next line, without its end."""
        while not self._lines:
            if not self._fill():
                raise WorldFileError(f"it ends early, after {self.number} lines")
        self.number += 1
        return self._lines.pop()

    def expect_end(self) -> None:
        """Make sure that there is nothing more, and that the whole file has come as it was written."""
        while not self._lines and not self._rest and self._fill():
            pass
        if self._lines or self._rest:
            raise WorldFileError(f"line {self.number + 1}: it should have ended here")

    def _fill(self) -> bool:
        """Unpack some more; False at the proper end of the file."""
        if self._unpacker.eof:
            if self._unpacker.unused_data or self._file.read(1):
                raise WorldFileError("something follows the end of the packed data")
            return False
        if not self._packed:
            self._packed = self._file.read(_PACKED_CHUNK)
        at_end = not self._packed
        try:
            data = self._unpacker.decompress(self._packed, _UNPACKED_CHUNK)
        except zlib.error:
            what = "it is damaged" if self._unpacked_bytes else "it is not packed with gzip, or damaged"
            raise WorldFileError(what) from None
        self._packed = self._unpacker.unconsumed_tail
        if at_end and not data and not self._unpacker.eof:
            raise WorldFileError(f"it ends early, after {self.number} lines")
        self._take(data)
        return True

    def _take(self, data: bytes) -> None:
        self._unpacked_bytes += len(data)
        if self._unpacked_bytes > MAX_UNPACKED_BYTES:
            raise WorldFileError(f"it unpacks to more than {MAX_UNPACKED_BYTES} bytes")
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = b"".join((*self._rest, whole[0]))
            whole.reverse()
            self._lines = whole
            self._rest, self._rest_bytes = [], 0
        if rest:
            self._rest.append(rest)
            self._rest_bytes += len(rest)
        if self._rest_bytes > MAX_LINE_BYTES:
            raise WorldFileError(f"line {self.number + 1 + len(whole)} is longer than {MAX_LINE_BYTES} bytes")
