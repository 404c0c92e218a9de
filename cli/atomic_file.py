"""Writes a file whole or not at all. Owns the temporary file beside it."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from cli.failure import CommandFailedError


def write_atomically(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Put the content at the path, so that a reader sees the old file or the new one, whatever happens.

    A symbolic link stays and what it points at is replaced. `mode` is narrowed by the umask. The folder must be there.
    Raises `CommandFailedError` with the system's reason; then the old file stands.
    """
    try:
        target = path.resolve()
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise CommandFailedError(f"Cannot write {path}: {error.strerror or error}.") from None
