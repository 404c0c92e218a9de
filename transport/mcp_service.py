"""What the handler decides is carried out here, with the actors, for both ways of carrying MCP over HTTP.

Owns the steps from a message to its reply; knows neither requests nor responses, and holds nothing that outlives one.
"""

from __future__ import annotations

from http import HTTPStatus

import structlog
import trio

from actors.calls import Call, CallsClosedError
from actors.catalog import owners_of
from actors.context import ExplainTool
from actors.errors import ActorError
from actors.sessions import (
    ActiveSession,
    Begin,
    CallClaim,
    DeleteSession,
    End,
    MarkInitialized,
    Negotiate,
    Posted,
    Push,
)
from actors.sessions import CancelCall as CancelCallOf
from actors.sessions import OpenSession as OpenSessionOf
from actors.space import Space
from presets.explain import ToolState
from protocol.decision import (
    Accepted,
    CallTool,
    CancelCall,
    Decision,
    HiddenOrUnknownTool,
    ItemDecision,
    OpenSession,
    Reply,
    RunBatch,
)
from protocol.handler import Handler, error_reply
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import Batch, ErrorCode, Message, ParseFault, Request, RequestId
from protocol.session import SessionTableFullError
from protocol.sse import EventTooLargeError, encode_message
from transport.instructions import instructions
from transport.kept_reply import kept_reply
from transport.mcp_http import ACCEPTED, methods_of

_log = structlog.stdlib.get_logger("mcp")


class McpService:
    """The steps that both endpoints share."""

    def __init__(self, space: Space, handler: Handler) -> None:
        self.space = space
        self.handler = handler
        self._sessions = space.sessions

    async def begin(self, facts: HttpFacts, message: Message | ParseFault | None = None) -> ActiveSession | None:
        """Begin an activity of the session that a request names; None where it names none that exists."""
        if facts.session_id is None:
            return None
        return await kept_reply(self._sessions.ask(Begin(facts.session_id, _claims_of(message))))

    async def end(
        self,
        active: ActiveSession | None,
        message: Message | ParseFault | None = None,
        reply: Reply | None = None,
    ) -> None:
        """End the activity, and count what it was; also when the request is being cancelled, or nothing would expire.

        `message` is what a POST held, `reply` how it was answered, where that is known.
        """
        posted, listed = None, None
        if message is not None:
            methods = methods_of(message)
            failed = reply is not None and reply.status >= HTTPStatus.BAD_REQUEST
            posted = Posted(methods, reply.body.decode("utf-8", "replace") if reply is not None and failed else None)
            if "tools/list" in methods:
                listed = self.space.catalog.tools.value.revision
            _log.debug("post", methods=methods, error=posted.error)
        elif active is None:
            return
        with trio.CancelScope(shield=True):
            try:
                await self._sessions.tell(End(active, posted, listed))
            except ActorError as error:
                _log.warning("end_not_noted", reason=str(error))

    def decide(self, facts: HttpFacts, message: Message | ParseFault, active: ActiveSession | None) -> Decision:
        """What is to be done, on the tool list of this moment."""
        session = None if active is None else active.session
        return self.handler.decide(facts, message, session, self.space.catalog.tools.value)

    async def carry_out(self, decision: Decision, active: ActiveSession | None) -> Reply:
        """Do it and give the reply; an empty body means that nothing is to be said. Cancelling cancels the calls."""
        if isinstance(decision, OpenSession):
            return await self._open_session(decision)
        if isinstance(decision, RunBatch):
            return await self._run_batch(decision, active)
        return await self._carry_out_item(decision, active)

    async def end_session(self, facts: HttpFacts) -> Reply:
        """Carry out a DELETE: the session ends with its stream and its calls."""
        active = await self.begin(facts)
        try:
            decision = self.handler.decide_delete(facts, None if active is None else active.session)
            if isinstance(decision, Reply):
                return decision
            await self._sessions.ask(DeleteSession(decision.session_id))
            return Reply(204, b"", ())
        finally:
            await self.end(active)

    def start_call(self, decision: CallTool, active: ActiveSession | None) -> Call | Reply:
        """Start a call, or say why not. Whoever starts one must cancel it when nobody waits any more."""
        if active is None:
            raise ValueError("a call without a session; the handler lets none through")
        if active.refused is not None:
            return error_reply(decision.request_id, ErrorCode.INTERNAL_ERROR, str(active.refused))
        try:
            return self.space.calls.start(decision, active)
        except CallsClosedError as error:
            return error_reply(decision.request_id, ErrorCode.INTERNAL_ERROR, str(error), 503)

    async def finish_call(self, call: Call) -> Reply:
        """Wait for the end of a call; its progress goes to the session's stream, where there is one."""
        while (progress := await call.next_progress()) is not None:
            await self.push(call.decision.session_id, progress, call.decision.request_id)
        await call.done.wait()
        return self.reply_of(call)

    def reply_of(self, call: Call) -> Reply:
        """The reply to a call that is done."""
        if call.outcome is None:
            return error_reply(call.decision.request_id, ErrorCode.REQUEST_CANCELLED, "the call was cancelled")
        made = self.handler.call_reply(call.decision, call.outcome)
        if made.problem is not None:
            _log.error("tool_result_malformed", problem=made.problem)
        return made.reply

    async def push(self, session_id: str, body: bytes, request_id: RequestId | None = None) -> bool:
        """Send a message over the stream of a session. False where it has none that keeps up."""
        return await self._sessions.ask(Push(session_id, frame_of(body, request_id)))

    async def _carry_out_item(self, decision: ItemDecision, active: ActiveSession | None) -> Reply:
        match decision:
            case Reply():
                return decision
            case Accepted():
                if decision.initialized and active is not None:
                    await self._sessions.tell(MarkInitialized(active.session.id))
                return ACCEPTED
            case CancelCall():
                await self._sessions.ask(CancelCallOf(decision.session_id, decision.request_id))
                return ACCEPTED
            case HiddenOrUnknownTool():
                return await self._refuse_tool(decision)
            case CallTool():
                return await self._call(decision, active)

    async def _call(self, decision: CallTool, active: ActiveSession | None) -> Reply:
        call = self.start_call(decision, active)
        if isinstance(call, Reply):
            return call
        try:
            return await self.finish_call(call)
        finally:
            call.cancel()

    async def _open_session(self, decision: OpenSession) -> Reply:
        version, name, client = decision.protocol_version, decision.client_name, decision.client_version
        try:
            if decision.session_id is None:
                session = await self._sessions.ask(OpenSessionOf(version, name, client))
            else:
                session = await self._sessions.ask(Negotiate(decision.session_id, version, name, client))
        except SessionTableFullError as error:
            return error_reply(decision.request_id, ErrorCode.INTERNAL_ERROR, str(error), 503)
        if session is None:
            gone = "the session has ended; send initialize without a session id to open a new one"
            return error_reply(decision.request_id, ErrorCode.SESSION_ERROR, gone, 404)
        _log.info("session_opened", session=session.id, client=name, client_version=client, protocol=version)
        return self.handler.initialize_reply(decision, session, instructions(self.space.context.view.value))

    async def _refuse_tool(self, decision: HiddenOrUnknownTool) -> Reply:
        owners = owners_of(self.space.catalog.tools.value)
        explanation = await self.space.context.ask(ExplainTool(decision.name, owners))
        if explanation.state is ToolState.UNKNOWN:
            if not explanation.suggestions:
                return self.handler.unknown_tool_reply(decision)
            # Close names may be those of hidden tools, which only the explanation knows.
            return error_reply(decision.request_id, ErrorCode.INVALID_PARAMS, f"Unknown tool: {explanation.reason}")
        return self.handler.hidden_tool_reply(decision, explanation.reason)

    async def _run_batch(self, decision: RunBatch, active: ActiveSession | None) -> Reply:
        bodies: list[bytes] = []

        async def run_item(item: ItemDecision) -> None:
            reply = await self._carry_out_item(item, active)
            if reply.body:
                bodies.append(reply.body)

        async with trio.open_nursery() as nursery:
            for item in decision.items:
                nursery.start_soon(run_item, item)
        reply = self.handler.batch_reply(bodies)
        return reply if isinstance(reply, Reply) else ACCEPTED


def _claims_of(message: Message | ParseFault | None) -> tuple[CallClaim, ...]:
    """The calls that a body announces."""
    items = message.items if isinstance(message, Batch) else (message,)
    return tuple(CallClaim(item.id) for item in items if isinstance(item, Request) and item.method == "tools/call")


def frame_of(body: bytes, request_id: RequestId | None) -> bytes:
    """A message as an event; one that is too large for clients becomes an error that says so."""
    try:
        return encode_message(body)
    except EventTooLargeError as error:
        _log.error("event_too_large", size=error.size, limit=error.limit)
        refused = error_reply(request_id, ErrorCode.INTERNAL_ERROR, f"the answer cannot be sent: {error}")
        return encode_message(refused.body)
