"""How a call in a session asks its client: with requests of ours on the stream of its own request, while it waits.

Owns the wait for the answers, its limit, and taking questions back that nobody waits for any more.
"""

from __future__ import annotations

from collections.abc import Mapping

import structlog
import trio

from actors.call import Call, refused_question
from actors.errors import ActorError
from actors.questions import Question
from actors.sessions import ActiveSession, AskClient, ForgetQuestions, SessionsActor
from protocol.client_capabilities import ClientCapabilities
from protocol.client_requests import NotAsked
from protocol.input_request import InputRequest, InputResponse, MalformedAnswer
from protocol.log_level import LogLevel
from protocol.notifications import cancelled_notification
from protocol.task import Task
from protocol.tool import ToolError

ANSWER_SECONDS = 600.0
"""How long a client may take to answer, seconds: a person may have to read and fill in something."""

REACHED_NOBODY = (
    "the question has reached nobody, since the client has no stream open that could carry it. Let it accept "
    "text/event-stream beside application/json with each POST, or open the stream of the session with GET (a call in "
    "an array of messages needs that in any case), and call again"
)
"""What is told of a question that could not be delivered."""

LAST_WORD_SECONDS = 1.0
"""How long a call that is being cancelled may take to forget its questions."""

_log = structlog.stdlib.get_logger("mcp")


class SessionTalk:
    """See `Talk`. `resumable` says that the client takes its answer from a stream that it can come back to."""

    __slots__ = ("_active", "_open", "_resumable", "_sessions")

    def __init__(self, sessions: SessionsActor, active: ActiveSession, *, resumable: bool = False) -> None:
        self._sessions = sessions
        self._active = active
        self._resumable = resumable
        self._open: tuple[Question, ...] = ()

    @property
    def client(self) -> ClientCapabilities:
        """What it said with `initialize`."""
        return self._active.session.capabilities

    @property
    def state(self) -> object:
        """None: in a session a call waits, and never begins anew."""
        return None

    @property
    def log_level(self) -> LogLevel | None:
        """What the session wants now."""
        return self._active.log_level.value

    @property
    def waits(self) -> bool:
        """It does."""
        return True

    @property
    def can_come_back(self) -> bool:
        """Where revision and client know how."""
        return self._resumable

    async def ask(self, call: Call, requests: Mapping[str, InputRequest], state: object) -> Mapping[str, InputResponse]:
        """See `Interaction`."""
        session_id = self._active.session.id
        asked = await self._sessions.ask(AskClient(session_id, tuple(requests.values())))
        if isinstance(asked, NotAsked):
            raise refused_question(asked.reason)
        self._open = (*self._open, *asked)
        answered = False
        try:
            with trio.move_on_after(ANSWER_SECONDS) as waiting:
                for question in asked:
                    await call.emit(question.message)
                for question in asked:
                    await question.settled.wait()
                answered = True
        finally:
            self._open = tuple(question for question in self._open if question not in asked)
            if not answered:
                await self._take_back(call, [question.id for question in asked if not question.settled.is_set()])
        if waiting.cancelled_caught:
            raise refused_question(f"it has not answered within {ANSWER_SECONDS:g} s")
        return {key: _answer_of(key, question) for key, question in zip(requests, asked, strict=True)}

    async def become_task(self, call: Call) -> Task | None:
        """None: sessions know no tasks."""
        await trio.lowlevel.checkpoint()
        return None

    async def note(self, message: str) -> None:
        """Never called: there are no tasks."""

    def unheard(self) -> None:
        """See `Talk`."""
        for question in self._open:
            question.lose(REACHED_NOBODY)

    async def _take_back(self, call: Call, ids: list[str]) -> None:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + LAST_WORD_SECONDS):
            try:
                await self._sessions.tell(ForgetQuestions(self._active.session.id, tuple(ids)))
            except ActorError as error:
                _log.warning("questions_not_forgotten", reason=str(error))
            for request_id in ids:
                await call.emit(cancelled_notification(request_id, "nobody waits for the answer any more"))


def _answer_of(key: str, question: Question) -> InputResponse:
    answer = question.answer
    if question.lost is not None:
        raise refused_question(question.lost)
    if answer is None:
        raise ToolError(f"the client gave no answer to {key!r} that fits the question")
    if isinstance(answer, MalformedAnswer):
        raise ToolError(f"the client's answer to {key!r} {answer.reason}")
    return answer
