"""One file of an agent's folder, read whole. Owns what counts as a file here: nothing that waits, grows or leads away.

Whoever writes these folders may put anything there: a pipe, a device, a link to what is not theirs to show. Blocks for
no longer than a disk does; call it off the event loop all the same. Never writes.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path


class PlainFileError(ValueError):
    """Raised for what is there and is no file to be read. The text begins with what follows the name of the file."""


def read_plain_file(path: Path, most_bytes: int, *, inside: Path | None = None) -> bytes:
    """What is in the file, at most `most_bytes`.

    Links are followed, with `inside` only to what lies in that folder, which may be a link itself. Raises
    `PlainFileError` for what leads elsewhere, is no file or is longer, and `OSError`.
    """
    with open(open_plain_file(path, inside=inside), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        # It may grow while it is read, and some files say that they are empty and are not.
        data = file.read(most_bytes + 1) if size <= most_bytes else b""
        if len(data) > most_bytes:
            size = max(size, len(data))
    if size > most_bytes:
        raise PlainFileError(f"has {size} bytes; the most is {most_bytes}")
    return data


def open_plain_file(path: Path, *, inside: Path | None = None) -> int:
    """A descriptor of the file, for reading, which the caller closes. Raises as `read_plain_file`."""
    real = Path(os.path.realpath(path))
    if inside is not None and leads_out(path, inside):
        raise PlainFileError("is a link that leads out of the agent's folder")
    # A pipe would wait for its writer, and what was looked at by name may be another thing by now.
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise PlainFileError("is not a file")
    return descriptor


def leads_out(path: Path, folder: Path) -> bool:
    """Whether what lies at this path, links followed, is not in that folder."""
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
