"""There is one stream. Who connects anew ends the old one first, and a late word about that is ignored."""

from __future__ import annotations

import pytest
import trio

from actors.outbox import Outbox
from actors.sessions import (
    Announce,
    Begin,
    CallClaim,
    CloseStreams,
    DeleteSession,
    OpenSession,
    ReadSessions,
    SessionsActor,
)
from actors.stream import Connect, Disconnect, OpenedStream, ReadStream, StreamActor, StreamStatus
from protocol.limits import Limits
from protocol.notifications import TOOLS_LIST_CHANGED
from protocol.session import SessionTableFullError
from protocol.sse import encode_message
from tests.actors.fakes import VERSION, running_actors

CHANGED = encode_message(TOOLS_LIST_CHANGED)


@pytest.fixture
def sessions() -> SessionsActor:
    return SessionsActor(limits=Limits(sessions=2))


@pytest.fixture
def stream(sessions: SessionsActor) -> StreamActor:
    return StreamActor(sessions)


async def connect(stream: StreamActor) -> OpenedStream:
    return await stream.ask(Connect("/mcp"))


async def list_changed_count(sessions: SessionsActor) -> int:
    return (await sessions.ask(ReadSessions())).counters.list_changed_count


async def known(sessions: SessionsActor) -> list[str]:
    return [row.session.id for row in (await sessions.ask(ReadSessions())).sessions]


async def rest_of(outbox: Outbox) -> list[bytes]:
    frames: list[bytes] = []
    while (frame := await outbox.next()) is not None:
        frames.append(frame)
    return frames


async def test_the_first_frames_are_the_endpoint_and_the_announcement(
    sessions: SessionsActor, stream: StreamActor
) -> None:
    """Case 187: connect count 1, one list_changed."""
    async with running_actors(sessions, stream):
        opened = await connect(stream)
        endpoint = f"event: endpoint\ndata: /mcp?sessionId={opened.session_id}\n\n".encode()
        assert [await opened.outbox.next(), await opened.outbox.next()] == [endpoint, CHANGED]
        assert await stream.ask(ReadStream()) == StreamStatus(opened.session_id, 1, 0)
        assert await list_changed_count(sessions) == 1


async def test_a_reconnect_ends_the_old_stream_its_session_and_its_calls(
    sessions: SessionsActor, stream: StreamActor
) -> None:
    async with running_actors(sessions, stream):
        old = await connect(stream)
        active = await sessions.ask(Begin(old.session_id, (CallClaim(1),)))
        assert active is not None
        new = await connect(stream)
        assert not old.outbox.is_open
        assert active.claims[0].cancelled
        assert await known(sessions) == [new.session_id]
        assert await stream.ask(ReadStream()) == StreamStatus(new.session_id, 2, 1)
        assert await list_changed_count(sessions) == 2


async def test_a_change_of_the_list_reaches_the_new_stream_alone(sessions: SessionsActor, stream: StreamActor) -> None:
    """Case 190: the count becomes 3."""
    async with running_actors(sessions, stream):
        old = await connect(stream)
        new = await connect(stream)
        assert len([await new.outbox.next(), await new.outbox.next()]) == 2
        await sessions.ask(Announce())
        assert await new.outbox.next() == CHANGED
        assert len(await rest_of(old.outbox)) == 2
        assert await list_changed_count(sessions) == 3


async def test_the_old_stream_has_ended_before_the_new_one_begins(sessions: SessionsActor, stream: StreamActor) -> None:
    """Room for one session only shows the order: with the old one still there, the new one would find none."""
    sessions = SessionsActor(limits=Limits(sessions=1))
    stream = StreamActor(sessions)
    async with running_actors(sessions, stream):
        await connect(stream)
        await connect(stream)
        assert (await stream.ask(ReadStream())).reconnect_count == 1


async def test_a_late_word_about_an_old_stream_is_ignored(sessions: SessionsActor, stream: StreamActor) -> None:
    async with running_actors(sessions, stream):
        old = await connect(stream)
        new = await connect(stream)
        await stream.ask(Disconnect(old.session_id, old.outbox))
        assert (await stream.ask(ReadStream())).session_id == new.session_id
        assert new.outbox.is_open


async def test_a_disconnect_ends_the_session_and_the_next_connect_is_no_reconnect(
    sessions: SessionsActor, stream: StreamActor
) -> None:
    async with running_actors(sessions, stream):
        opened = await connect(stream)
        await stream.ask(Disconnect(opened.session_id, opened.outbox))
        await stream.ask(Disconnect(opened.session_id, opened.outbox))
        status = await stream.ask(ReadStream())
        assert (status.connected, status.connect_count) == (False, 1)
        assert not opened.outbox.is_open
        assert await known(sessions) == []
        await connect(stream)
        assert (await stream.ask(ReadStream())).reconnect_count == 0


async def test_after_a_stop_nothing_is_announced(sessions: SessionsActor, stream: StreamActor) -> None:
    """Case 192."""
    async with running_actors(sessions, stream):
        await connect(stream)
        await sessions.ask(CloseStreams())
        await sessions.ask(Announce())
        assert await list_changed_count(sessions) == 1


async def test_a_stream_whose_session_was_deleted_gives_way(sessions: SessionsActor, stream: StreamActor) -> None:
    async with running_actors(sessions, stream):
        opened = await connect(stream)
        await sessions.ask(DeleteSession(opened.session_id))
        assert not opened.outbox.is_open
        await stream.ask(Disconnect(opened.session_id, opened.outbox))
        assert not (await stream.ask(ReadStream())).connected
        assert (await connect(stream)).outbox.is_open


async def test_a_connect_that_finds_no_room_is_refused(sessions: SessionsActor, stream: StreamActor) -> None:
    async with running_actors(sessions, stream):
        for _ in range(2):
            session = await sessions.ask(OpenSession(VERSION, None, None))
            assert await sessions.ask(Begin(session.id)) is not None
        with pytest.raises(SessionTableFullError, match="busy"):
            await connect(stream)
        assert await stream.ask(ReadStream()) == StreamStatus()


async def test_many_reconnects_leave_one_session_and_no_open_stream_behind(
    sessions: SessionsActor, stream: StreamActor
) -> None:
    async with running_actors(sessions, stream):
        opened: list[OpenedStream] = []

        async def reconnect() -> None:
            opened.append(await connect(stream))

        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(reconnect)
        assert [one.outbox.is_open for one in opened].count(True) == 1
        assert len(await known(sessions)) == 1
        assert (await stream.ask(ReadStream())).reconnect_count == 19
