"""What the handler decides is carried out here, with the actors, for both ways of carrying MCP over HTTP.

Owns the steps from a message to its reply; knows neither requests nor responses, and holds nothing that outlives one.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus

import structlog
import trio

from actors.agents import LookAtFolders, ReadAgents, presentation_of
from actors.call import Call, Runnable
from actors.calls import CallsClosedError, caller_of
from actors.catalog import owners_of
from actors.context import ExplainTool
from actors.errors import ActorError
from actors.guards import denial
from actors.resource_changes import TooManyWatchedError
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
    TakeAnswer,
)
from actors.sessions import CancelCall as CancelCallOf
from actors.sessions import OpenSession as OpenSessionOf
from actors.sessions import SetLogLevel as SetLogLevelOf
from actors.space import Space
from engine.errors import ConflictError, EngineError, InvalidArgumentError
from presets.agents.roster import UnknownAgentError
from presets.explain import ToolState
from presets.presentation import RESERVED_NAMES, Presentation
from presets.projection import Hidden, RouteThroughProgram, Unknown
from presets.suggestions import no_such_tool
from protocol.decision import (
    Accepted,
    CallTool,
    CancelCall,
    CancelTask,
    ClientAnswered,
    Complete,
    Decision,
    GetPrompt,
    GetTask,
    HiddenOrUnknownTool,
    ItemDecision,
    Listen,
    OpenSession,
    ReadResource,
    RefusedCall,
    Reply,
    RootsChanged,
    RunBatch,
    SetLogLevel,
    Subscribe,
    Unsubscribe,
    UpdateTask,
)
from protocol.feature_rules import missing_resource_error
from protocol.handler import Handler, error_reply
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import Batch, ErrorCode, Message, ParseFault, Request, RequestId
from protocol.offer import Offer
from protocol.resource import ResourceNotFoundError
from protocol.session import Audience, Session, SessionTableFullError, TooManySubscriptionsError
from protocol.sse import EventTooLargeError, encode_message
from protocol.stateless_facts import StatelessFacts
from protocol.versions import REVISIONS
from transport.call_replies import reply_of
from transport.instructions import instructions
from transport.kept_reply import kept_reply
from transport.mcp_http import ACCEPTED, methods_of
from transport.task_replies import carry_out_task

CALLING_METHODS = frozenset({"tools/call", "resources/read", "prompts/get", "completion/complete"})
"""The requests that run something of ours, and can be cancelled."""

_OF_AGENTS = ("tools/", "resources/", "prompts/", "completion/")
"""What the methods begin with whose answer depends on the agent."""

_OFFER_OF_NOBODY = Offer(logging=True, asks_clients=True)
"""What there is where no session is named, or its agent cannot be used: nothing that the agent decides about."""

_log = structlog.stdlib.get_logger("mcp")


class McpService:
    """The steps that both endpoints share."""

    def __init__(self, space: Space, handler: Handler) -> None:
        self.space = space
        self.handler = handler
        self._sessions = space.sessions
        self._offers: dict[Audience, tuple[tuple[int, ...], Offer]] = {}
        self._looked_at = -math.inf
        """When the agents' folders were looked at last for somebody without a session; seconds of the trio clock."""

    async def begin(self, facts: HttpFacts, message: Message | ParseFault | None = None) -> ActiveSession | None:
        """Begin an activity of the session that a request names; None where it names none that exists."""
        if facts.session_id is None:
            return None
        agent = self.space.agents.agents.value.canonical(facts.agent)
        return await kept_reply(self._sessions.ask(Begin(facts.session_id, claims_of(message), agent)))

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
            if "tools/list" in methods and active is not None:
                listed = self.space.tools.revision(active.session.audience)
            _log.debug("post", methods=methods, error=posted.error)
        elif active is None:
            return
        with trio.CancelScope(shield=True):
            try:
                await self._sessions.tell(End(active, posted, listed))
            except ActorError as error:
                _log.warning("end_not_noted", reason=str(error))

    def offer_of(self, audience: Audience) -> Offer:
        """What that audience is offered now. Raises as `AgentOffers.of`."""
        catalog = self.space.catalog
        # What an offer is made of; comparing these costs less than asking for it.
        state = (
            catalog.tools.version,
            catalog.resources.version,
            catalog.prompts.version,
            self.space.agents.agents.version,
        )
        kept = self._offers.get(audience)
        if kept is not None and kept[0] == state:
            return kept[1]
        offer = replace(self.space.offers.of(audience).offer, logging=True, tasks=True, asks_clients=True)
        self._offers[audience] = (state, offer)
        return offer

    def warm_for(self, audience: Audience) -> None:
        """Let start what the first program of that audience would have to wait for, where it runs any."""
        if self.space.tools.of(audience).mode.runs_programs:
            self.space.programs.begin_warming()

    def decide(self, facts: HttpFacts, message: Message | ParseFault, active: ActiveSession | None) -> Decision:
        """What is to be done in a session, on what its agent is offered at this moment."""
        if active is None:
            return self.handler.decide(facts, message, None, _OFFER_OF_NOBODY, stateless=False)
        try:
            offer = self.offer_of(active.session.audience)
        except EngineError as error:
            # Its agent has become unusable, or is gone. The session stays: the agent may come back.
            if isinstance(message, Request) and message.method.startswith(_OF_AGENTS):
                return error_reply(message.id, ErrorCode.INTERNAL_ERROR, str(error))
            offer = _OFFER_OF_NOBODY
        return self.handler.decide(facts, message, active.session, offer, stateless=False)

    async def audience_of(
        self, facts: HttpFacts, request_id: RequestId | None = None, *, in_session: bool = False
    ) -> Audience | Reply:
        """Who a new session at this endpoint is; or why there can be none: nobody, or somebody who cannot be used.

        To a client whose session there is, 404 would say that it has ended.
        """
        try:
            presentation = presentation_of(facts.presentation)
            # Its folder may have come, or been changed or mended, a moment ago.
            agents = await self.space.agents.ask(ReadAgents())
            audience = Audience(agents.canonical(facts.agent), None if presentation is None else presentation.value)
            self.space.tools.of(audience)
            self._demand_runtime(presentation)
        except UnknownAgentError as error:
            if in_session:
                return error_reply(request_id, ErrorCode.INTERNAL_ERROR, str(error))
            return error_reply(request_id, ErrorCode.INVALID_REQUEST, str(error), HTTPStatus.NOT_FOUND)
        except InvalidArgumentError as error:
            return error_reply(request_id, ErrorCode.INVALID_REQUEST, str(error), HTTPStatus.BAD_REQUEST)
        except (EngineError, ActorError) as error:
            return error_reply(request_id, ErrorCode.INTERNAL_ERROR, str(error))
        return audience

    async def audience_now(self, facts: HttpFacts, request_id: RequestId | None) -> Audience | Reply:
        """Who a request without a session is, as `audience_of`. Folders are looked at for all of these once in
        `look_seconds`, and read where its agent is not known yet.
        """
        if trio.current_time() - self._looked_at >= self.space.options.agents.look_seconds:
            self._looked_at = trio.current_time()
            with suppress(ActorError, EngineError):
                # What cannot be read leaves the agents as they are, and the engine says so itself.
                await self.space.agents.ask(LookAtFolders())
        agents = self.space.agents.agents.value
        agent = agents.canonical(facts.agent)
        if agent in agents.views and facts.presentation is None:
            return Audience(agent)
        return await self.audience_of(facts, request_id)

    async def refuse_agent(self, facts: HttpFacts) -> Reply | None:
        """Why there is nothing at this endpoint: 404 where it is nobody's.

        None where somebody is served, or has been in a session that is still there.
        """
        agents = self.space.agents.agents.value
        if agents.canonical(facts.agent) in agents.views:
            return None
        audience = await self.audience_of(facts)
        if isinstance(audience, Audience):
            return None
        # A session may outlast its agent's bad time, and is told the reason as the answer to what it asks.
        if facts.session_id is not None:
            active = await self.begin(facts)
            await self.end(active)
            return audience if active is None and audience.status == HTTPStatus.NOT_FOUND else None
        # `initialize` gets the reason itself, with its id.
        return audience if facts.method == "GET" or audience.status == HTTPStatus.NOT_FOUND else None

    def _demand_runtime(self, presentation: Presentation | None) -> None:
        """A session that asks for programs where none can be run is told so, and does not get another form instead."""
        reason = self.space.programs.no_runtime_because()
        if presentation is not None and presentation.runs_programs and reason is not None:
            raise ConflictError(f"presentation {presentation.value!r} needs the code runtime: {reason}")

    async def carry_out(self, decision: Decision, active: ActiveSession | None, facts: HttpFacts) -> Reply:
        """Do it and give the reply; an empty body means that nothing is to be said. Cancelling cancels the calls."""
        match decision:
            case OpenSession():
                return await self._open_session(decision, facts)
            case RunBatch():
                return await self._run_batch(decision, active)
            case Listen() | GetTask() | UpdateTask() | CancelTask():
                raise ValueError("a request without a session; the handler lets none through here")
            case _:
                return await self._carry_out_item(decision, active)

    async def carry_out_alone(self, decision: Decision, audience: Audience) -> Reply:
        """As `carry_out`, for what came without a session, and runs nothing."""
        match decision:
            case Reply():
                if decision.refused is not None:
                    self._note_refused(decision.refused, audience, decision.refused.stateless)
                return decision
            case Accepted():
                return ACCEPTED
            case HiddenOrUnknownTool():
                return await self._refuse_tool(decision, audience, decision.stateless)
            case GetTask() | UpdateTask() | CancelTask():
                return await carry_out_task(self.space.tasks, self.handler, decision)
            case _:
                raise ValueError(f"{type(decision).__name__} without a session; the handler lets none through")

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

    def start_call(self, decision: Runnable, active: ActiveSession, *, resumable: bool = False) -> Call | Reply:
        """Start a call, or say why not. Whoever starts one must cancel it when nobody waits any more."""
        if active.refused is not None:
            self._note_call_refused(decision, active, str(active.refused))
            return error_reply(decision.request_id, ErrorCode.INTERNAL_ERROR, str(active.refused))
        if isinstance(decision, CallTool):
            denied = self._denial(decision, active)
            if denied is not None:
                self._note_call_refused(decision, active, denied)
                return self.handler.refused_tool_reply(decision, denied)
        try:
            return self.space.calls.start(decision, active, resumable=resumable)
        except CallsClosedError as error:
            return error_reply(decision.request_id, ErrorCode.INTERNAL_ERROR, str(error), 503)

    async def finish_call(self, call: Call) -> Reply:
        """Wait for the end of a call, or until it goes on as a task.

        What it says meanwhile goes to the session's stream, where there is one that hears it.
        """
        while (said := await call.next_message()) is not None:
            if said and not await self.push(call.decision.session_id, said, call.decision.request_id):
                call.unheard()
        if call.task is None:
            await call.done.wait()
        return self.reply_of(call)

    def reply_of(self, call: Call) -> Reply:
        """The reply to a call that is done, or that goes on as a task."""
        return reply_of(self.handler, call)

    async def push(self, session_id: str, body: bytes, request_id: RequestId | None = None) -> bool:
        """Send a message over the stream of a session. False where it has none that keeps up."""
        return await self._sessions.ask(Push(session_id, frame_of(body, request_id)))

    async def _carry_out_item(self, decision: ItemDecision, active: ActiveSession | None) -> Reply:
        match decision:
            case Reply():
                if decision.refused is not None and active is not None:
                    self._note_refused(decision.refused, active.session.audience, active.session)
                return decision
            case Accepted():
                if decision.initialized and active is not None:
                    await self._sessions.tell(MarkInitialized(active.session.id))
                return ACCEPTED
            case CancelCall():
                await self._sessions.ask(CancelCallOf(decision.session_id, decision.request_id))
                return ACCEPTED
            case ClientAnswered():
                await self._sessions.tell(TakeAnswer(decision.session_id, decision.response))
                return ACCEPTED
            case RootsChanged():
                return ACCEPTED
            case HiddenOrUnknownTool():
                session = _in_session(active).session
                return await self._refuse_tool(decision, session.audience, session)
            case SetLogLevel():
                await self._sessions.ask(SetLogLevelOf(decision.session_id, decision.level))
                return self.handler.empty_reply(decision)
            case Subscribe() | Unsubscribe():
                return await self._watch(decision, _in_session(active).session)
            case CallTool() | ReadResource() | GetPrompt() | Complete():
                return await self._call(decision, _in_session(active))

    async def _watch(self, decision: Subscribe | Unsubscribe, session: Session) -> Reply:
        try:
            if isinstance(decision, Subscribe):
                await self.space.watching.subscribe(session, decision.uri)
            else:
                await self.space.watching.unsubscribe(session, decision.uri)
        except ResourceNotFoundError:
            return missing_resource_error(
                decision.request_id, decision.uri, REVISIONS[session.protocol_version].missing_resource
            )
        except (TooManySubscriptionsError, TooManyWatchedError) as error:
            return self.handler.failure_reply(decision, str(error), ErrorCode.INVALID_PARAMS)
        return self.handler.empty_reply(decision)

    async def _call(self, decision: Runnable, active: ActiveSession) -> Reply:
        call = self.start_call(decision, active)
        if isinstance(call, Reply):
            return call
        try:
            return await self.finish_call(call)
        finally:
            call.cancel()

    def _denial(self, decision: CallTool, active: ActiveSession) -> str | None:
        """What a guard of the agent's scopes has against the call."""
        view = self.space.tools.of(active.session.audience).view
        return denial(view, decision.call.entry.definition.name, decision.call.arguments)

    async def _open_session(self, decision: OpenSession, facts: HttpFacts) -> Reply:
        version, name, client = decision.protocol_version, decision.client_name, decision.client_version
        in_session = decision.session_id is not None
        audience = await self.audience_of(facts, decision.request_id, in_session=in_session)
        if isinstance(audience, Reply):
            return audience
        try:
            if decision.session_id is None:
                opening = OpenSessionOf(version, name, client, audience, decision.capabilities)
                session = await self._sessions.ask(opening)
            else:
                negotiating = Negotiate(decision.session_id, version, name, client, decision.capabilities)
                session = await self._sessions.ask(negotiating)
        except SessionTableFullError as error:
            return error_reply(decision.request_id, ErrorCode.INTERNAL_ERROR, str(error), 503)
        if session is None:
            gone = "the session has ended; send initialize without a session id to open a new one"
            return error_reply(decision.request_id, ErrorCode.SESSION_ERROR, gone, 404)
        agent = session.audience.agent
        _log.info(
            "session_opened", session=session.id, agent=agent, client=name, client_version=client, protocol=version
        )
        self.warm_for(session.audience)
        offer = self.offer_of(session.audience)
        about = await instructions(self.space, session.audience)
        return self.handler.initialize_reply(decision, session, about, offer)

    async def _refuse_tool(
        self, decision: HiddenOrUnknownTool, audience: Audience, client: Session | StatelessFacts | None
    ) -> Reply:
        reply, reason = await self._refusal(decision, audience)
        self._note_refused(RefusedCall(decision.name, decision.arguments, reason), audience, client)
        return reply

    async def _refusal(self, decision: HiddenOrUnknownTool, audience: Audience) -> tuple[Reply, str]:
        """The reply to a call of a tool that is not offered, and the reason in it."""
        match self.space.tools.of(audience).decide_call(decision.name):
            case RouteThroughProgram(text=reason) | Hidden(reason=reason):
                return self.handler.refused_tool_reply(decision, reason), reason
            case Unknown(meant=str(meant)):
                reason = f"Unknown tool: {no_such_tool(decision.name, (meant,))}"
                return error_reply(decision.request_id, ErrorCode.INVALID_PARAMS, reason), reason
            case _:
                pass
        owners = owners_of(self.space.catalog.tools.value)
        explanation = await self.space.context.ask(ExplainTool(decision.name, owners))
        if explanation.state is ToolState.UNKNOWN:
            if not explanation.suggestions and not RESERVED_NAMES.reserved(decision.name):
                return self.handler.unknown_tool_reply(decision), str(decision.unknown)
            # Close names may be those of hidden tools, which only the explanation knows.
            reason = f"Unknown tool: {explanation.reason}"
            return error_reply(decision.request_id, ErrorCode.INVALID_PARAMS, reason), reason
        return self.handler.refused_tool_reply(decision, explanation.reason), explanation.reason

    def _note_call_refused(self, decision: Runnable, active: ActiveSession, reason: str) -> None:
        if isinstance(decision, CallTool):
            refused = RefusedCall(decision.call.entry.definition.name, decision.call.arguments, reason)
            self._note_refused(refused, active.session.audience, decision.stateless or active.session)

    def _note_refused(self, refused: RefusedCall, audience: Audience, client: Session | StatelessFacts | None) -> None:
        if client is not None:
            caller = caller_of(audience, client)
            self.space.call_log.refused(caller, refused.name, refused.arguments, refused.reason)

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


def claims_of(message: Message | ParseFault | None) -> tuple[CallClaim, ...]:
    """The calls that a body announces."""
    items = message.items if isinstance(message, Batch) else (message,)
    return tuple(CallClaim(item.id) for item in items if isinstance(item, Request) and item.method in CALLING_METHODS)


def _in_session(active: ActiveSession | None) -> ActiveSession:
    if active is None:
        raise ValueError("a request without a session; the handler lets none through here")
    return active


def frame_of(body: bytes, request_id: RequestId | None) -> bytes:
    """A message as an event; one that is too large for clients becomes an error that says so."""
    try:
        return encode_message(body)
    except EventTooLargeError as error:
        _log.error("event_too_large", size=error.size, limit=error.limit)
        refused = error_reply(request_id, ErrorCode.INTERNAL_ERROR, f"the answer cannot be sent: {error}")
        return encode_message(refused.body)
