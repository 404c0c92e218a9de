"""The answer of a call as a response: JSON where it is there soon, an event stream where there is more to say.

Owns when the one becomes the other, and who waits for a call: its request, its stream, or a stream that its client can
leave and come back to. Whoever waits last for a call that is no task cancels it.
Source: MCP specification, transports ("Sending Messages to the Server", "Resumability and Redelivery").
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import structlog
import trio
from quart import Response

from actors.call import Call, Runnable
from actors.calls import CallsClosedError
from actors.event_log import EventLog
from actors.sessions import ActiveSession, OpenAnswerStream
from protocol.decision import Reply
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import Message, ParseFault
from protocol.versions import REVISIONS
from transport.event_stream import event_stream
from transport.kept_reply import kept_reply
from transport.mcp_http import WireReply, response_of
from transport.mcp_service import McpService, frame_of

STREAM_AFTER_SECONDS = 15.0
"""When an answer that is still being worked on becomes an event stream, so that clients see a sign of life."""

COME_BACK_SECONDS = 60.0
"""How long a call goes on without its client, where that can come back: some time-outs of a network, and no longer."""

RESUMABLE_VERSIONS = frozenset(name for name, revision in REVISIONS.items() if revision.priming_event)
"""The revisions whose clients can come back to the stream of an answer."""

_log = structlog.stdlib.get_logger("mcp")


class Answer(NamedTuple):
    """What goes out for a call. `is_over` says that nobody works for the request any more."""

    made: Reply | Response
    is_over: bool

    @property
    def response(self) -> Response | WireReply:
        """As it goes out."""
        return self.made if isinstance(self.made, Response) else response_of(self.made)


class CallAnswers:
    """Answers calls. `stream_after` is when a silent one becomes an event stream, and `come_back` how long one goes on
    whose client is away; both in seconds.
    """

    def __init__(
        self,
        service: McpService,
        *,
        stream_after: float = STREAM_AFTER_SECONDS,
        come_back: float = COME_BACK_SECONDS,
    ) -> None:
        self._service = service
        self._stream_after = stream_after
        self._come_back = come_back

    async def answer(
        self, decision: Runnable, facts: HttpFacts, message: Message | ParseFault, active: ActiveSession
    ) -> Answer:
        """Start the call and answer it. Cancelling cancels the call, unless it has become a task."""
        may_stream = facts.accepts_event_stream
        resumable = may_stream and decision.stateless is None and decision.version in RESUMABLE_VERSIONS
        call = self._service.start_call(decision, active, resumable=resumable)
        if isinstance(call, Reply):
            return Answer(call, is_over=True)
        handed_over = False
        try:
            if not may_stream:
                return Answer(await self._service.finish_call(call), is_over=call.task is None)
            with trio.move_on_after(self._stream_after):
                await call.sign_of_life.wait()
            if (call.done.is_set() or call.task is not None) and not call.has_messages:
                return Answer(self._service.reply_of(call), is_over=call.task is None)
            response = await self._resumable(call, message, active) if resumable else None
            handed_over = True
            return Answer(response or _CallStream(self._service, call, message, active).response(), is_over=False)
        finally:
            if not handed_over and call.task is None:
                call.cancel()

    async def close(self, answer: Answer | None, message: Message | ParseFault, active: ActiveSession | None) -> None:
        """End the activity of a request that was answered so; None for one that was not, as it was cancelled.

        A stream ends its request itself, and a task is an activity of its own.
        """
        if answer is None:
            await self._service.end(active, message)
        elif not isinstance(answer.made, Response):
            await self._service.end(active if answer.is_over else None, message, answer.made)

    async def _resumable(self, call: Call, message: Message | ParseFault, active: ActiveSession) -> Response | None:
        """The answer as a stream that its client can come back to; None where there can be none any more."""
        log = await kept_reply(self._service.space.sessions.ask(OpenAnswerStream(active.session.id)))
        if log is None:
            return None
        log.prime()
        reader = log.read()
        try:
            self._service.space.calls.answer(partial(self._write, call, log, message, active))
        except CallsClosedError:
            # The engine is ending: nobody could come back.
            log.end()
            return None
        return event_stream(reader.next, reader.close)

    async def _write(self, call: Call, log: EventLog, message: Message | ParseFault, active: ActiveSession) -> None:
        """Write what a call says, and its answer, for a client that may be away."""
        request_id = call.decision.request_id
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_cancel_once_left, call, log, self._come_back)
                while (said := await call.next_message()) is not None:
                    if not said:
                        log.interrupt()
                        continue
                    await log.room()
                    log.write(frame_of(said, request_id))
                await call.done.wait()
                log.write(frame_of(self._service.reply_of(call).body, request_id))
                nursery.cancel_scope.cancel()
        finally:
            call.cancel()
            log.end()
            await self._service.end(active, message)


async def _cancel_once_left(call: Call, log: EventLog, come_back: float) -> None:
    """Cancel a call whose client does not come back in time."""
    while True:
        await log.wait_unattended()
        with trio.move_on_after(come_back) as waiting:
            await log.wait_attended()
        if waiting.cancelled_caught:
            _log.info("client_did_not_come_back", name=call.name, seconds=come_back)
            call.cancel()
            return


class _CallStream:
    """The answer of one call as an event stream: what it says as it comes, then the answer, then the end."""

    def __init__(self, service: McpService, call: Call, message: Message | ParseFault, active: ActiveSession) -> None:
        self._service = service
        self._call = call
        self._message = message
        self._active = active
        self._answered = False

    def response(self) -> Response:
        """The stream."""
        return event_stream(self.next_frame, self.end)

    async def next_frame(self) -> bytes | None:
        """The next event. Safe to cancel and call again."""
        if self._answered:
            return None
        request_id = self._call.decision.request_id
        said = await self._call.next_message()
        if said is not None:
            return frame_of(said, request_id)
        if self._call.task is None:
            await self._call.done.wait()
        self._answered = True
        return frame_of(self._service.reply_of(self._call).body, request_id)

    async def end(self) -> None:
        """The client has the answer, or is gone: then nobody waits for the call any more, unless it is a task."""
        is_task = self._call.task is not None
        if not is_task:
            self._call.cancel()
        await self._service.end(None if is_task else self._active, self._message)
