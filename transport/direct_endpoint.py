"""MCP in direct mode: the answer is the response of the POST, GET is the session's stream, DELETE ends the session.

Source: remote-mcp, "Transport Modes"; MCP specification, "Streamable HTTP".
"""

from __future__ import annotations

from functools import partial

import trio
from quart import Response

from actors.calls import Call
from actors.sessions import ActiveSession, CloseStream
from actors.sessions import OpenStream as OpenStreamOf
from protocol.decision import CallTool, Reply
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import Message, ParseFault
from transport.endpoint_request import EndpointRequest
from transport.event_stream import event_stream
from transport.kept_reply import kept_reply
from transport.mcp_http import WireReply, body_of, facts_of, message_of, response_of
from transport.mcp_service import McpService, frame_of

STREAM_AFTER_SECONDS = 15.0
"""When an answer that is still being worked on becomes an event stream, so that clients see a sign of life."""


class DirectEndpoint:
    """Serves one path in direct mode."""

    def __init__(self, service: McpService, *, stream_after: float = STREAM_AFTER_SECONDS) -> None:
        self._service = service
        self._sessions = service.space.sessions
        self._stream_after = stream_after

    async def serve(self, request: EndpointRequest) -> Response | WireReply:
        """Answer one request of any method."""
        facts = facts_of(request)
        refused = self._service.handler.refuse_request(facts) or await self._service.refuse_agent(facts)
        if refused is not None:
            return response_of(refused)
        match facts.method:
            case "POST":
                return await self._post(facts, request)
            case "GET":
                return await self._listen(facts)
            case _:
                return response_of(await self._service.end_session(facts))

    async def _post(self, facts: HttpFacts, request: EndpointRequest) -> Response | WireReply:
        body = await body_of(request, self._service.handler)
        if isinstance(body, Reply):
            return response_of(body)
        message = await message_of(body, self._service.space.options.limits)
        active = await self._service.begin(facts, message)
        made: Reply | Response | None = None
        try:
            decision = self._service.decide(facts, message, active)
            if isinstance(decision, CallTool):
                made = await self._call(decision, facts, message, active)
            else:
                made = await self._service.carry_out(decision, active, facts)
            return made if isinstance(made, Response) else response_of(made)
        finally:
            if not isinstance(made, Response):
                await self._service.end(active, message, made)

    async def _call(
        self, decision: CallTool, facts: HttpFacts, message: Message | ParseFault, active: ActiveSession | None
    ) -> Reply | Response:
        """JSON where the answer is there soon; an event stream once there is progress, or after a while."""
        call = self._service.start_call(decision, active)
        if isinstance(call, Reply):
            return call
        may_stream = facts.accepts_event_stream
        streamed = False
        try:
            if not may_stream:
                return await self._service.finish_call(call)
            with trio.move_on_after(self._stream_after):
                await call.sign_of_life.wait()
            if call.done.is_set() and not call.has_progress:
                return self._service.reply_of(call)
            streamed = True
            answer = _CallStream(self._service, call, message, active)
            return event_stream(answer.next_frame, answer.end)
        finally:
            if not streamed:
                call.cancel()

    async def _listen(self, facts: HttpFacts) -> Response | WireReply:
        active = await self._service.begin(facts)
        try:
            decision = self._service.handler.decide_get(facts, None if active is None else active.session)
            if isinstance(decision, Reply):
                return response_of(decision)
            outbox = await kept_reply(self._sessions.ask(OpenStreamOf(decision.session_id)))
            if outbox is None:
                gone = self._service.handler.decide_get(facts, None)
                return response_of(gone) if isinstance(gone, Reply) else Response("", 404)
        finally:
            await self._service.end(active)
        closed = partial(self._sessions.tell, CloseStream(decision.session_id, outbox))
        return event_stream(outbox.next, closed)


class _CallStream:
    """The answer of one call as an event stream: progress as it comes, then the answer, then the end."""

    def __init__(
        self, service: McpService, call: Call, message: Message | ParseFault, active: ActiveSession | None
    ) -> None:
        self._service = service
        self._call = call
        self._message = message
        self._active = active
        self._answered = False

    async def next_frame(self) -> bytes | None:
        """The next event. Safe to cancel and call again."""
        if self._answered:
            return None
        request_id = self._call.decision.request_id
        progress = await self._call.next_progress()
        if progress is not None:
            return frame_of(progress, request_id)
        await self._call.done.wait()
        self._answered = True
        return frame_of(self._service.reply_of(self._call).body, request_id)

    async def end(self) -> None:
        """The client has the answer, or is gone: then nobody waits for the call any more."""
        self._call.cancel()
        await self._service.end(self._active, self._message)
