"""The refusal of a world file. Owns how its text begins."""

from __future__ import annotations

from engine.errors import InvalidArgumentError


class WorldFileError(InvalidArgumentError):
    """Raised when a world file cannot be read; nothing has changed. The text says what is wrong and where."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The world file cannot be read: {reason}.")
