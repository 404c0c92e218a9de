"""MCP in forced SSE mode: GET opens the single stream, and every answer travels over it.

A POST that names no session is a Streamable HTTP probe: it is answered 500 before anything is handled, so that clients
fall back to this transport. Source: remote-mcp, "Transport Modes" and "Stream Lifecycle".
"""

from __future__ import annotations

from functools import partial
from http import HTTPStatus

import structlog
from quart import Response

from actors.call import RUNNABLE, Runnable
from actors.calls import CallsClosedError
from actors.sessions import ActiveSession, NoteError
from actors.stream import Connect, Disconnect
from protocol.decision import Decision, Reply, RunBatch
from protocol.handler import error_reply
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import ErrorCode, Message, ParseFault
from transport.defaults import MCP_PATH
from transport.endpoint_request import EndpointRequest
from transport.event_stream import event_stream
from transport.kept_reply import kept_reply
from transport.mcp_http import ACCEPTED, WireReply, body_of, facts_of, message_of, refuse_address, response_of
from transport.mcp_service import McpService

USE_SSE = "Use SSE transport"
"""What a probe is answered with: the document's words."""

BESIDE = (*RUNNABLE, RunBatch)
"""What takes long, and is carried out beside its POST."""

_log = structlog.stdlib.get_logger("mcp")


class SseEndpoint:
    """Serves the endpoints in forced SSE mode. The stream tells clients to post where they opened it."""

    def __init__(self, service: McpService) -> None:
        self._service = service
        self._sessions = service.space.sessions

    async def serve(self, request: EndpointRequest) -> Response | WireReply:
        """Answer one request of any method."""
        facts = facts_of(request)
        if facts.method == "POST" and facts.session_id is None:
            _log.info("force_sse_reject", path=request.path)
            await self._sessions.tell(NoteError(USE_SSE))
            return Response(USE_SSE, 500, content_type="text/plain; charset=utf-8")
        refused = refuse_address(request) or self._service.handler.refuse_request(facts)
        refused = refused or await self._service.refuse_agent(facts)
        if refused is not None:
            return response_of(refused)
        match facts.method:
            case "POST":
                return await self._post(facts, request)
            case "GET":
                return await self._connect(facts, request)
            case _:
                return response_of(await self._service.end_session(facts))

    async def _connect(self, facts: HttpFacts, request: EndpointRequest) -> Response | WireReply:
        # Before the new stream takes over: one that its client could not read must not end the old one.
        if not facts.accepts_event_stream:
            return response_of(self._service.handler.refuse_stream(facts))
        audience = await self._service.audience_of(facts)
        if isinstance(audience, Reply):
            return response_of(audience)
        # Where the client posts to, the query names the session alone; so an agent that it named goes into the path.
        path = f"{MCP_PATH}/{audience.agent}" if "agent" in request.query else request.path
        stream = self._service.space.stream
        opened = await kept_reply(stream.ask(Connect(path, audience)))
        return event_stream(opened.outbox.next, partial(stream.tell, Disconnect(opened.session_id, opened.outbox)))

    async def _post(self, facts: HttpFacts, request: EndpointRequest) -> Response | WireReply:
        body = await body_of(request, self._service.handler)
        if isinstance(body, Reply):
            return response_of(body)
        message = await message_of(body, self._service.space.options.limits)
        active = await self._service.begin(facts, message)
        later = False
        reply: Reply | None = None
        try:
            decision = self._service.decide(facts, message, active)
            if active is not None and isinstance(decision, BESIDE):
                reply = self._answer_beside(decision, facts, message, active)
                later = reply is ACCEPTED
            else:
                reply = await self._carry_out(decision, facts, active)
            return response_of(reply)
        finally:
            if not later:
                await self._service.end(active, message, reply)

    def _answer_beside(
        self, decision: Runnable | RunBatch, facts: HttpFacts, message: Message | ParseFault, active: ActiveSession
    ) -> Reply:
        """What takes long is carried out beside its POST, which is answered at once: clients post one after another."""
        try:
            self._service.space.calls.answer(partial(self._answer_later, decision, facts, message, active))
        except CallsClosedError as error:
            request_id = None if isinstance(decision, RunBatch) else decision.request_id
            return error_reply(request_id, ErrorCode.INTERNAL_ERROR, str(error), 503)
        return ACCEPTED

    async def _answer_later(
        self, decision: Runnable | RunBatch, facts: HttpFacts, message: Message | ParseFault, active: ActiveSession
    ) -> None:
        try:
            reply = await self._service.carry_out(decision, active, facts)
            if reply.body:
                request_id = None if isinstance(decision, RunBatch) else decision.request_id
                await self._service.push(active.session.id, reply.body, request_id)
        finally:
            await self._service.end(active, message)

    async def _carry_out(self, decision: Decision, facts: HttpFacts, active: ActiveSession | None) -> Reply:
        """The reply to the POST itself; a good one travels over the stream."""
        reply = await self._service.carry_out(decision, active, facts)
        if active is None or reply.status >= HTTPStatus.BAD_REQUEST or not reply.body:
            return reply
        await self._service.push(active.session.id, reply.body)
        return ACCEPTED
