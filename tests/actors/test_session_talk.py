"""Questions of a call in a session: the limit on the wait, and that nothing of a question is left behind."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock

from actors.call import Call
from actors.session_talk import ANSWER_SECONDS, SessionTalk
from actors.sessions import Begin, CallClaim, OpenSession, SessionsActor, TakeAnswer
from protocol.client_capabilities import Capability, ClientCapabilities
from protocol.decision import CallTool
from protocol.input_request import ElicitAnswer, ElicitForm
from protocol.jsonrpc import Response, parse_json
from protocol.prepared_call import PreparedCall
from protocol.schema import SchemaError
from protocol.tool import ToolError
from protocol.tool_list import ToolEntry
from tests.actors.fakes import tool

FORM = ElicitForm("Which name?", {"properties": {"name": {"type": "string"}}})
CAN_BE_ASKED = ClientCapabilities(frozenset({Capability.ELICITATION_FORM}))
ACCEPTED = {"action": "accept", "content": {"name": "Ada"}}


class Rig:
    """One call of a session whose client can fill in forms."""

    def __init__(self, sessions: SessionsActor, call: Call) -> None:
        self.sessions = sessions
        self.call = call

    async def sent(self) -> dict[str, object]:
        """The next message to the client."""
        message = await self.call.next_message()
        assert message is not None
        value = parse_json(message)
        assert isinstance(value, dict)
        return value

    async def answer(self, request_id: object, result: object) -> bool:
        assert isinstance(request_id, str)
        return await self.sessions.ask(TakeAnswer(self.call.decision.session_id, Response(request_id, result)))


@asynccontextmanager
async def rig() -> AsyncGenerator[Rig]:
    sessions = SessionsActor()
    with trio.fail_after(2 * ANSWER_SECONDS):
        async with trio.open_nursery() as nursery:
            await nursery.start(sessions.run)
            yield await made(sessions)
            nursery.cancel_scope.cancel()


async def made(sessions: SessionsActor) -> Rig:
    session = await sessions.ask(OpenSession("2025-06-18", None, None, capabilities=CAN_BE_ASKED))
    active = await sessions.ask(Begin(session.id, (CallClaim(1),)))
    assert active is not None
    prepared = PreparedCall(ToolEntry.of(tool()), {})
    decision = CallTool(1, session.id, session.protocol_version, prepared, None)
    return Rig(sessions, Call(decision, SessionTalk(sessions, active)))


async def test_an_answer_that_does_not_come_in_time_is_given_up_and_taken_back(autojump_clock: MockClock) -> None:
    async with rig() as it:
        started = trio.current_time()
        with pytest.raises(ToolError, match="600 s"):
            await it.call.ask({"who": FORM})
        assert trio.current_time() - started == pytest.approx(ANSWER_SECONDS, abs=1)
        asked, taken_back = await it.sent(), await it.sent()
        assert taken_back["method"] == "notifications/cancelled"
        assert taken_back["params"] == {"requestId": asked["id"], "reason": "nobody waits for the answer any more"}
        assert not await it.answer(asked["id"], ACCEPTED)


async def test_all_questions_of_one_time_are_answered_before_the_call_goes_on(autojump_clock: MockClock) -> None:
    async with rig() as it, trio.open_nursery() as nursery:

        async def reply() -> None:
            first, second = await it.sent(), await it.sent()
            await it.answer(second["id"], {"action": "decline"})
            await trio.sleep(5)
            await it.answer(first["id"], ACCEPTED)

        nursery.start_soon(reply)
        answers = await it.call.ask({"a": FORM, "b": FORM})
        assert answers == {"a": ElicitAnswer("accept", {"name": "Ada"}), "b": ElicitAnswer("decline")}


async def test_a_call_that_is_cancelled_forgets_its_questions() -> None:
    async with rig() as it:
        with trio.move_on_after(0.01):
            await it.call.ask({"who": FORM})
        asked = await it.sent()
        assert not await it.answer(asked["id"], ACCEPTED)


async def test_a_form_that_is_none_is_a_fault_of_its_tool_and_is_not_sent() -> None:
    async with rig() as it:
        with pytest.raises(SchemaError):
            await it.call.ask({"who": ElicitForm("?", {"properties": {"x": {"type": "nonsense"}}})})
        assert not it.call.has_messages
