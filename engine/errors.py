"""Errors of the domain: something that was asked of the engine is not possible. The engine is unchanged after each.

The text is for whoever asked (a model, a person, a program): it names what was wrong, where, and what would be right.
Any other exception that leaves the engine is a bug of ours.
"""


class EngineError(Exception):
    """Raised when the engine refuses what was asked. Nothing has changed."""


class InvalidArgumentError(EngineError):
    """Raised when a value is outside what the operation takes (not finite, empty, degenerate, of a wrong kind)."""


class NotFoundError(EngineError):
    """Raised when an id, a name or a path names nothing."""


class ConflictError(EngineError):
    """Raised when the operation is possible, but not in the present state (nothing selected, name taken, limit)."""


class StaleError(ConflictError):
    """Raised when a change names the revision it is based on, and the world has changed since."""

    def __init__(self, base_revision: int, revision: int) -> None:
        super().__init__(
            f"the world is at revision {revision}, and this change is based on revision {base_revision}; "
            "look at what has changed, then base the change on the present revision"
        )
        self.base_revision = base_revision
        self.revision = revision


class ForbiddenError(EngineError):
    """Raised when the operation would leave the ground it may work on (a path outside the workspace folder)."""
