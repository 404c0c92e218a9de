"""MCP in direct mode: the answer is the response of the POST, GET is the session's stream, DELETE ends the session.

A POST that names no session, because its client knows none, goes another way from its body on. Source: remote-mcp,
"Transport Modes"; MCP specification, "Streamable HTTP".
"""

from __future__ import annotations

from functools import partial
from http import HTTPStatus

from quart import Response

from actors.call import RUNNABLE
from actors.event_log import parse_event_id
from actors.sessions import CloseStream, FindStream, FoundStream
from actors.sessions import OpenStream as OpenStreamOf
from protocol.decision import OpenStream, Reply
from protocol.handler import error_reply
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import ErrorCode
from protocol.versions import REVISIONS
from transport.call_answers import STREAM_AFTER_SECONDS, Answer, CallAnswers
from transport.endpoint_request import EndpointRequest
from transport.event_stream import event_stream
from transport.kept_reply import kept_reply
from transport.mcp_http import (
    WireReply,
    body_of,
    event_response_of,
    facts_of,
    last_event_id_of,
    message_of,
    refuse_address,
    response_of,
)
from transport.mcp_service import McpService
from transport.stateless_endpoint import StatelessEndpoint


class DirectEndpoint:
    """Serves one path in direct mode."""

    def __init__(self, service: McpService, *, stream_after: float = STREAM_AFTER_SECONDS) -> None:
        self._service = service
        self._sessions = service.space.sessions
        self._answers = CallAnswers(service, stream_after=stream_after)
        self._stateless = StatelessEndpoint(service, self._answers)

    async def serve(self, request: EndpointRequest) -> Response | WireReply:
        """Answer one request of any method."""
        facts = facts_of(request)
        refused = refuse_address(request) or self._service.handler.refuse_request(facts)
        refused = refused or await self._service.refuse_agent(facts)
        if refused is not None:
            return response_of(refused)
        match facts.method:
            case "POST":
                return await self._post(facts, request)
            case "GET":
                return await self._listen(facts, last_event_id_of(request))
            case _:
                return response_of(await self._service.end_session(facts))

    async def _post(self, facts: HttpFacts, request: EndpointRequest) -> Response | WireReply:
        body = await body_of(request, self._service.handler)
        if isinstance(body, Reply):
            return response_of(body)
        message = await message_of(body, self._service.space.options.limits)
        if self._service.handler.is_stateless(facts, message):
            return await self._stateless.post(facts, message)
        active = await self._service.begin(facts, message)
        answer: Answer | None = None
        try:
            decision = self._service.decide(facts, message, active)
            if active is not None and isinstance(decision, RUNNABLE):
                answer = await self._answers.answer(decision, facts, message, active)
            else:
                answer = Answer(await self._service.carry_out(decision, active, facts), is_over=True)
            if isinstance(answer.made, Reply) and facts.prefers_event_stream:
                return event_response_of(answer.made)
            return answer.response
        finally:
            await self._answers.close(answer, message, active)

    async def _listen(self, facts: HttpFacts, last_event_id: str | None) -> Response | WireReply:
        active = await self._service.begin(facts)
        try:
            decision = self._service.handler.decide_get(facts, None if active is None else active.session)
            if isinstance(decision, Reply):
                return response_of(decision)
            if last_event_id is not None and REVISIONS[decision.version].priming_event:
                return await self._resume(decision, last_event_id, facts)
            return await self._open(decision, None, facts)
        finally:
            await self._service.end(active)

    async def _resume(self, decision: OpenStream, last_event_id: str, facts: HttpFacts) -> Response | WireReply:
        """Go on with the stream of which the client has seen this event, and with no other one."""
        place = parse_event_id(last_event_id)
        found: FoundStream | None = None
        if place is not None:
            found = await self._sessions.ask(FindStream(decision.session_id, place[0]))
        if place is None or found is None:
            reason = "no stream with this Last-Event-ID is kept; leave the header out to open the stream of the session"
            return response_of(error_reply(None, ErrorCode.INVALID_REQUEST, reason, HTTPStatus.BAD_REQUEST))
        if found.of_session:
            return await self._open(decision, place[1], facts)
        reader = found.log.read(place[1])
        return event_stream(reader.next, reader.close)

    async def _open(self, decision: OpenStream, after: int | None, facts: HttpFacts) -> Response | WireReply:
        """Open the stream of the session."""
        outbox = await kept_reply(self._sessions.ask(OpenStreamOf(decision.session_id, after=after)))
        if outbox is None:
            gone = self._service.handler.decide_get(facts, None)
            return response_of(gone) if isinstance(gone, Reply) else Response("", 404)
        return event_stream(outbox.next, partial(self._sessions.tell, CloseStream(decision.session_id, outbox)))
