"""Sessions: how long they live, what ends with them, what a cancellation means, and what is counted."""

from __future__ import annotations

import pytest
import trio

from actors.outbox import Outbox
from actors.sessions import (
    ActiveSession,
    Announce,
    AnnounceTo,
    Begin,
    CallClaim,
    CancelCall,
    CloseStream,
    CloseStreams,
    DeleteSession,
    End,
    ListFollowing,
    MarkInitialized,
    Negotiate,
    NoteError,
    NoteUnfollowed,
    OpenSession,
    OpenStream,
    OpenStreamSession,
    Posted,
    Presented,
    PresentSession,
    Push,
    ReadSessions,
    SessionsActor,
    SessionsStatus,
)
from protocol.limits import Limits
from protocol.notifications import TOOLS_LIST_CHANGED
from protocol.session import Audience, Session, SessionTableFullError
from protocol.sse import encode_message
from tests.actors.fakes import SetClock, running_actors

VERSION = "2025-06-18"
"""The newest version whose streams are not numbered."""

TTL = 100.0
CHANGED = encode_message(TOOLS_LIST_CHANGED)
START = 1_700_000_000.0


@pytest.fixture
def clock() -> SetClock:
    return SetClock(START)


@pytest.fixture
def sessions(clock: SetClock) -> SessionsActor:
    limits = Limits(sessions=2, calls_per_session=2, calls_total=3, outbox_frames=2)
    return SessionsActor(ttl_seconds=TTL, limits=limits, clock=clock)


async def opened(sessions: SessionsActor) -> Session:
    return await sessions.ask(OpenSession(VERSION, "opencode", "1.18"))


async def begun(sessions: SessionsActor, session: Session, *ids: int | str) -> ActiveSession:
    active = await sessions.ask(Begin(session.id, tuple(CallClaim(request_id) for request_id in ids)))
    assert active is not None, "the session is gone"
    return active


async def stream_of(sessions: SessionsActor, session: Session, *first: bytes) -> Outbox:
    outbox = await sessions.ask(OpenStream(session.id, first))
    assert outbox is not None, "the session is gone"
    return outbox


async def is_known(sessions: SessionsActor, session: Session) -> bool:
    """Whether the session exists now. Asking is no activity, unlike `Begin`."""
    await sessions.ask(Begin("prunes only"))
    return session.id in [row.session.id for row in (await read(sessions)).sessions]


async def read(sessions: SessionsActor) -> SessionsStatus:
    return await sessions.ask(ReadSessions())


async def rest_of(outbox: Outbox) -> list[bytes]:
    """What is still written of a stream that has been ended."""
    frames: list[bytes] = []
    while (frame := await outbox.next()) is not None:
        frames.append(frame)
    return frames


async def test_a_session_is_opened_for_a_client(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        session = await opened(sessions)
        assert (session.client_name, session.client_version) == ("opencode", "1.18")
        assert (session.created_at, session.protocol_version, session.negotiated) == (START, VERSION, True)
        await sessions.ask(MarkInitialized(session.id))
        active = await begun(sessions, session)
        assert active.session.initialized
        assert not active.has_stream


async def test_an_unknown_session_is_nobodys(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        assert await sessions.ask(Begin("gone")) is None
        assert await sessions.ask(Negotiate("gone", VERSION, None, None)) is None
        assert await sessions.ask(OpenStream("gone")) is None
        assert not await sessions.ask(DeleteSession("gone"))
        assert not await sessions.ask(Push("gone", b"frame"))
        assert not await sessions.ask(CancelCall("gone", 1))
        await sessions.ask(MarkInitialized("gone"))
        await sessions.ask(NoteUnfollowed("gone", 1))
        await sessions.ask(CloseStream("gone", Outbox()))
        assert (await read(sessions)).sessions == ()


async def test_the_time_to_live_is_measured_from_the_end_of_the_last_activity(
    sessions: SessionsActor, clock: SetClock
) -> None:
    async with running_actors(sessions):
        session = await opened(sessions)
        clock.now += TTL
        active = await begun(sessions, session)
        clock.now += 5 * TTL
        assert await is_known(sessions, session), "a request is in flight"
        await sessions.ask(End(active))
        clock.now += TTL
        assert await is_known(sessions, session), "no longer than its time"
        clock.now += 1
        assert not await is_known(sessions, session)


async def test_an_open_stream_keeps_its_session_alive(sessions: SessionsActor, clock: SetClock) -> None:
    async with running_actors(sessions):
        session = await opened(sessions)
        outbox = await stream_of(sessions, session)
        clock.now += 5 * TTL
        assert await is_known(sessions, session)
        await sessions.ask(CloseStream(session.id, outbox))
        clock.now += TTL
        assert await is_known(sessions, session)
        clock.now += 1
        assert not await is_known(sessions, session)


async def test_a_stream_that_was_replaced_counts_once(sessions: SessionsActor, clock: SetClock) -> None:
    async with running_actors(sessions):
        session = await opened(sessions)
        older, newer = await stream_of(sessions, session), await stream_of(sessions, session)
        await sessions.ask(CloseStream(session.id, older))
        clock.now += 5 * TTL
        assert await is_known(sessions, session)
        await sessions.ask(CloseStream(session.id, newer))
        await sessions.ask(CloseStream(session.id, newer))
        clock.now += TTL + 1
        assert not await is_known(sessions, session)


async def test_the_session_that_was_idle_for_longest_makes_room(sessions: SessionsActor, clock: SetClock) -> None:
    async with running_actors(sessions):
        first, second = await opened(sessions), await opened(sessions)
        await sessions.ask(End(await begun(sessions, first)))
        third = await opened(sessions)
        assert [row.session.id for row in (await read(sessions)).sessions] == [first.id, third.id]
        assert not await is_known(sessions, second)


async def test_when_every_session_is_busy_no_further_one_is_opened(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        for _ in range(2):
            await begun(sessions, await opened(sessions))
        for message in (OpenSession(VERSION, None, None), OpenStreamSession()):
            with pytest.raises(SessionTableFullError, match="all 2 sessions are busy"):
                await sessions.ask(message)
        assert len((await read(sessions)).sessions) == 2


async def test_what_hangs_on_a_session_ends_with_it(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        session = await opened(sessions)
        outbox = await stream_of(sessions, session)
        active = await begun(sessions, session, 1, 2)
        scope = trio.CancelScope()
        active.claims[0].attach(scope)
        assert await sessions.ask(DeleteSession(session.id))
        assert not await is_known(sessions, session)
        assert await rest_of(outbox) == [CHANGED]
        assert scope.cancel_called
        assert active.claims[1].cancelled
        await sessions.ask(CloseStream(session.id, outbox))
        await sessions.ask(End(active, listed=1))
        assert len(sessions.state.calls) == 0


async def test_a_new_stream_starts_with_its_first_frames_and_the_announcement(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        outbox = await stream_of(sessions, await opened(sessions), b"endpoint")
        assert [await outbox.next(), await outbox.next()] == [b"endpoint", CHANGED]


async def test_a_newer_stream_replaces_the_older_and_a_late_close_of_that_is_ignored(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        session = await opened(sessions)
        older, newer = await stream_of(sessions, session), await stream_of(sessions, session)
        assert await rest_of(older) == [CHANGED]
        await sessions.ask(CloseStream(session.id, older))
        assert await sessions.ask(Push(session.id, b"frame"))
        assert [await newer.next(), await newer.next()] == [CHANGED, b"frame"]
        assert (await begun(sessions, session)).has_stream


async def test_a_frame_goes_to_the_stream_of_its_session_alone(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        one, other = await opened(sessions), await opened(sessions)
        outbox = await stream_of(sessions, one)
        assert not await sessions.ask(Push(other.id, b"frame"))
        assert await sessions.ask(Push(one.id, b"frame"))
        assert [await outbox.next(), await outbox.next()] == [CHANGED, b"frame"]


async def test_a_client_that_does_not_read_loses_its_stream_and_may_open_another(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        session = await opened(sessions)
        slow = await stream_of(sessions, session)
        assert await sessions.ask(Push(session.id, b"1"))
        assert await sessions.ask(Push(session.id, b"2"))
        assert not await sessions.ask(Push(session.id, b"3"))
        assert not (await begun(sessions, session)).has_stream
        assert await rest_of(slow) == [CHANGED, b"1", b"2"]
        fresh = await stream_of(sessions, session)
        await sessions.ask(CloseStream(session.id, slow))
        assert fresh.is_open


async def test_every_stream_hears_an_announcement_once_until_it_has_read_it(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        outboxes = [await stream_of(sessions, await opened(sessions)) for _ in range(2)]
        for outbox in outboxes:
            assert await outbox.next() == CHANGED
        await sessions.ask(Announce())
        await sessions.ask(Announce())
        await sessions.ask(CloseStreams())
        assert [await rest_of(outbox) for outbox in outboxes] == [[CHANGED], [CHANGED]]
        assert (await read(sessions)).counters.list_changed_count == 4


async def test_after_the_streams_were_closed_nothing_is_announced_or_pushed(sessions: SessionsActor) -> None:
    """Case 192: the count stays."""
    async with running_actors(sessions):
        session = await opened(sessions)
        await stream_of(sessions, session)
        await sessions.ask(CloseStreams())
        await sessions.ask(Announce())
        assert not await sessions.ask(Push(session.id, b"frame"))
        assert (await read(sessions)).counters.list_changed_count == 1


async def test_every_stream_ends_with_the_actor(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        outbox = await stream_of(sessions, await opened(sessions))
        sessions.close()
        assert await rest_of(outbox) == [CHANGED]


async def test_a_cancellation_means_the_call_of_its_session_and_of_its_very_id(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        one, other = await opened(sessions), await opened(sessions)
        ours, theirs = await begun(sessions, one, 1, "1"), await begun(sessions, other, 1)
        assert await sessions.ask(CancelCall(one.id, "1"))
        assert [claim.cancelled for claim in (*ours.claims, *theirs.claims)] == [False, True, False]
        assert not await sessions.ask(CancelCall(one.id, 2))


async def test_of_calls_with_equal_ids_each_cancellation_means_another_the_oldest_first(
    sessions: SessionsActor,
) -> None:
    """Some clients give every request the id 1."""
    async with running_actors(sessions):
        session = await opened(sessions)
        first, second = await begun(sessions, session, 1), await begun(sessions, session, 1)
        assert await sessions.ask(CancelCall(session.id, 1))
        assert (first.claims[0].cancelled, second.claims[0].cancelled) == (True, False)
        assert await sessions.ask(CancelCall(session.id, 1))
        assert second.claims[0].cancelled
        assert not await sessions.ask(CancelCall(session.id, 1))


async def test_the_end_of_one_call_leaves_the_other_of_its_id_alone(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        session = await opened(sessions)
        first, second = await begun(sessions, session, 1), await begun(sessions, session, 1)
        await sessions.ask(End(first))
        assert await sessions.ask(CancelCall(session.id, 1))
        assert (first.claims[0].cancelled, second.claims[0].cancelled) == (False, True)


async def test_a_cancellation_that_overtakes_its_call_cancels_what_begins_later(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        session = await opened(sessions)
        active = await begun(sessions, session, 1)
        assert await sessions.ask(CancelCall(session.id, 1))
        scope = trio.CancelScope()
        active.claim_for(1).attach(scope)
        assert scope.cancel_called


@pytest.mark.parametrize(("ids", "whose"), [((1, 2, 3), "this session"), ((1, 2), "the engine")])
async def test_of_too_many_calls_none_begins(sessions: SessionsActor, ids: tuple[int, ...], whose: str) -> None:
    async with running_actors(sessions):
        busy, session = await opened(sessions), await opened(sessions)
        if whose == "the engine":
            await begun(sessions, busy, 1, 2)
        refused = await begun(sessions, session, *ids)
        assert refused.refused is not None
        assert whose in str(refused.refused)
        assert refused.calls == ()
        assert not await sessions.ask(CancelCall(session.id, 1))
        await sessions.ask(End(refused))
        assert (await begun(sessions, session, 1)).refused is None


async def test_the_status_shows_each_session_with_its_stream_and_its_calls(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        quiet, busy = await opened(sessions), await opened(sessions)
        await stream_of(sessions, busy)
        await begun(sessions, busy, 1, 2)
        rows = (await read(sessions)).sessions
        assert [(row.session.id, row.has_stream, row.calls) for row in rows] == [
            (quiet.id, False, 0),
            (busy.id, True, 2),
        ]


async def test_requests_are_counted_by_method(sessions: SessionsActor, clock: SetClock) -> None:
    """Case 185 among them: what was refused last is told."""
    async with running_actors(sessions):
        session = await opened(sessions)
        await sessions.ask(End(None, Posted(("initialize",))))
        await sessions.ask(End(await begun(sessions, session), Posted(("tools/list", "tools/call", "ping"))))
        await sessions.ask(End(await begun(sessions, session)))
        await sessions.ask(End(None, Posted((), "no JSON")))
        counters = (await read(sessions)).counters
        assert (counters.post_count, counters.initialize_count) == (3, 1)
        assert (counters.tools_list_count, counters.tools_call_count) == (1, 1)
        assert (counters.last_method, counters.last_error) == ("ping", "no JSON")
        await sessions.ask(NoteError("no stream"))
        counters = (await read(sessions)).counters
        assert (counters.post_count, counters.last_error) == (3, "no stream")
        assert counters.last_list_changed_at is None
        clock.now += 7
        await stream_of(sessions, session)
        assert (await read(sessions)).counters.last_list_changed_at == clock.now


async def test_a_client_follows_the_list_until_it_lets_a_change_pass_and_again_once_it_lists(
    sessions: SessionsActor,
) -> None:
    async with running_actors(sessions):
        session = await opened(sessions)
        active = await begun(sessions, session)
        assert active.following.value == ListFollowing(-1, follows=True)
        await sessions.ask(End(active, listed=3))
        assert active.following.value == ListFollowing(3, follows=True)
        await sessions.ask(NoteUnfollowed(session.id, 3))
        assert active.following.value.follows, "it has listed that revision after all"
        await sessions.ask(NoteUnfollowed(session.id, 4))
        assert active.following.value == ListFollowing(3, follows=False)
        await sessions.ask(End(await begun(sessions, session), listed=2))
        assert active.following.value == ListFollowing(3, follows=True)


async def test_a_session_that_a_stream_opened_is_negotiated_later(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        session = await sessions.ask(OpenStreamSession())
        assert (session.negotiated, session.protocol_version) == (False, "2024-11-05")
        agreed = await sessions.ask(Negotiate(session.id, VERSION, "opencode", None))
        assert agreed is not None
        assert (agreed.id, agreed.negotiated, agreed.protocol_version) == (session.id, True, VERSION)


async def test_a_session_gets_its_tools_in_another_form_and_the_reply_tells_whose_list_it_had(
    sessions: SessionsActor,
) -> None:
    async with running_actors(sessions):
        session = await opened(sessions)
        presented = await sessions.ask(PresentSession(session.id, "code"))
        assert isinstance(presented, Presented)
        assert (presented.before, presented.session.audience) == (Audience(), Audience("", "code"))
        again = await sessions.ask(PresentSession(session.id, None))
        assert again is not None
        assert (again.before, again.session.audience) == (Audience("", "code"), Audience())
        assert await sessions.ask(PresentSession("nobody", "code")) is None


async def test_what_was_listed_in_one_form_says_nothing_about_another(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        session = await opened(sessions)
        listing = await begun(sessions, session)
        await sessions.ask(End(await begun(sessions, session), listed=7))
        await sessions.ask(PresentSession(session.id, "code"))
        assert listing.following.value == ListFollowing()
        await sessions.ask(End(listing, listed=8))
        assert listing.following.value == ListFollowing(), "that list was asked for in the form of before"
        await sessions.ask(End(await begun(sessions, session), listed=1))
        assert listing.following.value == ListFollowing(1)


async def test_an_announcement_to_one_session_reaches_its_stream_alone(sessions: SessionsActor) -> None:
    async with running_actors(sessions):
        streams = [await stream_of(sessions, await opened(sessions)) for _ in range(2)]
        for stream in streams:
            assert await stream.next() == CHANGED
        first, second = (await read(sessions)).sessions
        await sessions.ask(AnnounceTo(first.session.id))
        await sessions.ask(AnnounceTo("nobody"))
        assert await streams[0].next() == CHANGED
        await sessions.ask(Push(second.session.id, b"next"))
        assert await streams[1].next() == b"next"
