"""The questions that wait for the answers of clients with sessions.

Owns who waits for what; which answer belongs to which question is `protocol.client_requests`. Sends nothing: whoever
asks sends, and waits under a time limit of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import trio

from protocol.client_requests import AskedClient, ClientRequestTable, NotAsked
from protocol.input_request import InputRequest, InputResponse, MalformedAnswer
from protocol.jsonrpc import Response
from protocol.session import Session


class Question:
    """One question to a client: the message to send, and the answer once it has come."""

    __slots__ = ("answer", "id", "lost", "message", "settled")

    def __init__(self, asked: AskedClient) -> None:
        self.id = asked.id
        self.message = asked.message
        self.settled = trio.Event()
        """Set with the answer, or when none can come any more."""
        self.answer: InputResponse | MalformedAnswer | None = None
        """None where none came, or where a form was filled in wrongly."""
        self.lost: str | None = None
        """Why no answer can come, once that is known."""

    def settle(self, answer: InputResponse | MalformedAnswer | None = None) -> None:
        """Let whoever asked go on. What comes first counts."""
        if not self.settled.is_set():
            self.answer = answer
            self.settled.set()

    def lose(self, reason: str) -> None:
        """As `settle`, where no answer can come any more."""
        if not self.settled.is_set():
            self.lost = reason
            self.settled.set()


class Questions:
    """Open questions by their ids, which no two sessions share."""

    def __init__(self, limit: int) -> None:
        self._table = ClientRequestTable(limit=limit)
        self._open: dict[str, Question] = {}

    def ask(self, session: Session, requests: Sequence[InputRequest]) -> tuple[Question, ...] | NotAsked:
        """Note all of these questions, or none of them and why."""
        made: list[Question] = []
        for request in requests:
            asked = self._table.ask(session.id, request, session.capabilities, session.protocol_version)
            if isinstance(asked, NotAsked):
                self.forget(session.id, [question.id for question in made])
                return asked
            question = Question(asked)
            self._open[question.id] = question
            made.append(question)
        return tuple(made)

    def take(self, session_id: str, response: Response) -> bool:
        """Give an answer to whoever waits for it. False where nobody does, in that session.

        Raises `SchemaError` for a form whose own schema is none.
        """
        answered = self._table.answer(session_id, response)
        if answered is None:
            return False
        self._open.pop(answered.id).settle(answered.answer)
        return True

    def forget(self, session_id: str, ids: Sequence[str]) -> None:
        """Wait for these answers no more. Harmless when repeated."""
        for request_id in ids:
            self._table.forget(session_id, request_id)
            question = self._open.pop(request_id, None)
            if question is not None:
                question.lose("nobody waits for the answer any more")

    def end_session(self, session_id: str) -> None:
        """Wait for no answer of a session any more."""
        self.forget(session_id, self._table.end_session(session_id))
