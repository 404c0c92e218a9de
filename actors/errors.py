"""Errors of the runtime: what may go wrong between an asker and an actor. Errors of the domain pass as themselves."""


class ActorError(Exception):
    """Base of what the runtime itself refuses."""


class MailboxFullError(ActorError):
    """Raised when a mailbox stayed full for the whole deadline. The message was not accepted."""

    def __init__(self, actor: str, depth: int, deadline: float) -> None:
        super().__init__(
            f"actor {actor!r} is overloaded: its mailbox held {depth} messages for {deadline:g} s; try again later"
        )
        self.actor = actor
        self.depth = depth


class ActorStoppedError(ActorError):
    """Raised when the actor has stopped or is stopping. The message did not run."""

    def __init__(self, actor: str) -> None:
        super().__init__(f"actor {actor!r} has stopped; the engine is shutting down")
        self.actor = actor


class AskUpwardsError(ActorError):
    """Raised at once when an actor asks one that stands above it, or itself. Such a wait could never end."""

    def __init__(self, asker: str, asked: str) -> None:
        super().__init__(f"actor {asker!r} asked {asked!r}, which stands above it; asks run one way, down the order")


class InternalError(ActorError):
    """Raised to the asker when the step failed by a bug of ours. The log has the details; the state is as before."""

    def __init__(self, actor: str, message: str) -> None:
        super().__init__(f"internal error in actor {actor!r} while it handled {message}; the log has the details")
