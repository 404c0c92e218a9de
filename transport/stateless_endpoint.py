"""MCP without sessions: every request says for itself who asks, and nothing is remembered of it.

Owns the way of one such request; what it is answered with is the handler's, and how a call is answered is shared with
sessions. Source: MCP specification 2026-07-28.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from http import HTTPStatus

from quart import Response

from actors.call import RUNNABLE, Runnable
from actors.listeners import CloseListener, OpenListener, TooManyListenersError
from actors.sessions import BeginAlone
from engine.errors import EngineError
from protocol.decision import Decision, Listen, Reply
from protocol.handler import error_reply
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import ErrorCode, Message, ParseFault, Request
from protocol.offer import Offer
from protocol.session import EVERYBODY, Audience
from transport.call_answers import Answer, CallAnswers
from transport.event_stream import event_stream
from transport.instructions import instructions
from transport.kept_reply import kept_reply
from transport.mcp_http import WireReply, event_response_of
from transport.mcp_service import McpService, claims_of, frame_of

DISCOVER = "server/discover"


class StatelessEndpoint:
    """Answers the POSTs that name no session."""

    def __init__(self, service: McpService, answers: CallAnswers) -> None:
        self._service = service
        self._answers = answers

    async def post(self, facts: HttpFacts, message: Message | ParseFault) -> Response | WireReply:
        """Answer one."""
        audience = await self._service.audience_now(facts, message.id if isinstance(message, Request) else None)
        if isinstance(audience, Reply):
            decision: Decision = audience
        else:
            offer = await self._offer(audience, message)
            decision = (
                offer
                if isinstance(offer, Reply)
                else self._service.handler.decide(facts, message, None, offer, stateless=True)
            )
        if isinstance(decision, RUNNABLE) and isinstance(audience, Audience):
            return await self._run(decision, facts, message, audience)
        answer: Answer | None = None
        try:
            if isinstance(decision, Listen) and isinstance(audience, Audience):
                answer = Answer(await self._listen(decision, facts, audience), is_over=True)
            else:
                where = audience if isinstance(audience, Audience) else EVERYBODY
                answer = Answer(await self._service.carry_out_alone(decision, where), is_over=True)
            return _form_of(answer, facts)
        finally:
            reply = answer.made if answer is not None and isinstance(answer.made, Reply) else None
            await self._service.end(None, message, reply)

    async def _run(
        self, decision: Runnable, facts: HttpFacts, message: Message | ParseFault, audience: Audience
    ) -> Response | WireReply:
        begin = BeginAlone(decision.version, audience, claims_of(message), f"{facts.principal}\n{audience.agent}")
        active = await kept_reply(self._service.space.sessions.ask(begin))
        answer: Answer | None = None
        try:
            answer = await self._answers.answer(decision, facts, message, active)
            return _form_of(answer, facts)
        finally:
            await self._answers.close(answer, message, active)

    async def _offer(self, audience: Audience, message: Message | ParseFault) -> Offer | Reply:
        """What is on offer for that audience now, with what only the description of the server says."""
        request_id = message.id if isinstance(message, Request) else None
        try:
            offer = self._service.offer_of(audience)
        except EngineError as error:
            return error_reply(request_id, ErrorCode.INTERNAL_ERROR, str(error))
        self._service.warm_for(audience)
        if isinstance(message, Request) and message.method == DISCOVER:
            return replace(offer, instructions=await instructions(self._service.space, audience))
        return offer

    async def _listen(self, decision: Listen, facts: HttpFacts, audience: Audience) -> Response | Reply:
        if not facts.accepts_event_stream:
            reason = "subscriptions are told on a text/event-stream, which accept leaves out"
            return error_reply(decision.request_id, ErrorCode.INVALID_REQUEST, reason, HTTPStatus.NOT_ACCEPTABLE)
        space = self._service.space
        last = frame_of(self._service.handler.listen_end_reply(decision).body, decision.request_id)
        try:
            listener = await kept_reply(space.listeners.ask(OpenListener(decision, audience, last)))
        except TooManyListenersError as error:
            reason = str(error)
            return error_reply(decision.request_id, ErrorCode.INTERNAL_ERROR, reason, HTTPStatus.SERVICE_UNAVAILABLE)
        space.watching.listen(listener, decision.kept.uris)
        return event_stream(listener.outbox.next, partial(space.listeners.tell, CloseListener(listener)))


def _form_of(answer: Answer, facts: HttpFacts) -> Response | WireReply:
    """The answer as JSON where that is one, but as a stream of one event for a client that takes nothing else."""
    if isinstance(answer.made, Reply) and not facts.accepts_json:
        return event_response_of(answer.made)
    return answer.response
