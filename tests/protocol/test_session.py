"""Sessions: uuid4 ids, a time to live measured from the end of the last activity, and a bounded number."""

from __future__ import annotations

from itertools import count
from uuid import UUID

import pytest

from protocol.session import CLIENT_TEXT_CHARS, SESSION_TTL_SECONDS, SessionTable, SessionTableFullError
from tests.protocol.samples import NOW

HOUR = 3600.0
NEWEST = "2025-11-25"


def table(limit: int = 3, ttl_seconds: float = HOUR) -> SessionTable:
    numbers = count(1)
    return SessionTable(ttl_seconds=ttl_seconds, limit=limit, new_id=lambda: f"s{next(numbers)}")


def test_ids_are_random_uuids_of_visible_ascii() -> None:
    sessions = SessionTable()
    ids = {sessions.open(NOW, NEWEST).session.id for _ in range(50)}
    assert len(ids) == 50
    assert all(UUID(session_id).version == 4 for session_id in ids)


def test_a_session_knows_its_client_its_version_and_its_times() -> None:
    session = table().open(NOW, "2025-03-26", "opencode", "1.18").session
    assert (session.protocol_version, session.client_name, session.client_version) == ("2025-03-26", "opencode", "1.18")
    assert (session.created_at, session.last_seen, session.negotiated, session.initialized) == (NOW, NOW, True, False)


def test_the_default_time_to_live_is_an_hour() -> None:
    assert SESSION_TTL_SECONDS == HOUR


def test_a_session_expires_strictly_after_its_time_to_live() -> None:
    sessions = table()
    sessions.open(NOW, NEWEST)
    assert sessions.prune(NOW + HOUR) == ()
    assert [session.id for session in sessions.prune(NOW + HOUR + 0.001)] == ["s1"]
    assert sessions.get("s1") is None
    assert sessions.status().expired_count == 1


def test_the_time_to_live_is_measured_from_the_end_of_the_last_activity() -> None:
    sessions = table()
    sessions.open(NOW, NEWEST)
    sessions.begin("s1", NOW + 1)
    sessions.end("s1", NOW + 2 * HOUR)
    assert sessions.prune(NOW + 3 * HOUR) == ()
    assert len(sessions.prune(NOW + 3 * HOUR + 1)) == 1


def test_a_session_with_activity_in_flight_never_expires() -> None:
    sessions = table()
    sessions.open(NOW, NEWEST)
    sessions.begin("s1", NOW)
    sessions.begin("s1", NOW)
    sessions.end("s1", NOW)
    assert sessions.prune(NOW + 100 * HOUR) == ()
    sessions.end("s1", NOW + 100 * HOUR)
    assert len(sessions.prune(NOW + 102 * HOUR)) == 1


@pytest.mark.parametrize("ttl_seconds", [0.0, -1.0])
def test_without_a_time_to_live_no_session_expires(ttl_seconds: float) -> None:
    sessions = table(ttl_seconds=ttl_seconds)
    sessions.open(NOW, NEWEST)
    assert sessions.prune(NOW + 1000 * HOUR) == ()


def test_only_the_expired_ones_are_pruned_oldest_first() -> None:
    sessions = table()
    for second in range(3):
        sessions.open(NOW + second, NEWEST)
    sessions.begin("s1", NOW + 10)
    sessions.end("s1", NOW + 10)
    assert [session.id for session in sessions.prune(NOW + HOUR + 5)] == ["s2", "s3"]
    assert [session.id for session in sessions] == ["s1"]


def test_a_clock_that_is_set_back_lets_sessions_live_longer_and_never_shorter() -> None:
    sessions = table()
    sessions.open(NOW + 5 * HOUR, NEWEST)
    sessions.open(NOW, NEWEST)
    assert sessions.prune(NOW + 2 * HOUR) == ()
    assert len(sessions.prune(NOW + 6 * HOUR + 1)) == 2


def test_looking_at_a_session_is_no_activity() -> None:
    sessions = table()
    sessions.open(NOW, NEWEST)
    assert sessions.get("s1") is sessions.get("s1")
    assert len(sessions.prune(NOW + HOUR + 1)) == 1
    assert sessions.get(None) is None


def test_a_full_table_lets_the_longest_idle_session_make_room() -> None:
    sessions = table(limit=2)
    sessions.open(NOW, NEWEST)
    sessions.open(NOW, NEWEST)
    sessions.begin("s1", NOW)
    sessions.end("s1", NOW)
    opened = sessions.open(NOW, NEWEST)
    assert opened.evicted is not None
    assert (opened.session.id, opened.evicted.id, len(sessions)) == ("s3", "s2", 2)
    assert sessions.status().evicted_count == 1


def test_a_table_full_of_busy_sessions_refuses_another_and_stays_as_it_is() -> None:
    sessions = table(limit=1)
    sessions.open(NOW, NEWEST)
    sessions.begin("s1", NOW)
    before = sessions.status()
    with pytest.raises(SessionTableFullError, match="1 sessions"):
        sessions.open(NOW, NEWEST)
    assert sessions.status() == before


def test_a_stream_opens_a_session_that_is_not_negotiated_and_speaks_the_oldest_version() -> None:
    session = table().open_stream(NOW).session
    assert (session.negotiated, session.protocol_version) == (False, "2024-11-05")


def test_the_session_of_a_stream_is_negotiated_later() -> None:
    sessions = table()
    sessions.open_stream(NOW)
    session = sessions.negotiate("s1", "2025-06-18", "x" * 1000, None)
    assert (session.negotiated, session.protocol_version) == (True, "2025-06-18")
    assert session.client_name == "x" * CLIENT_TEXT_CHARS
    assert sessions.get("s1") is session


def test_a_version_that_is_not_served_opens_nothing() -> None:
    sessions = table()
    with pytest.raises(ValueError, match="2026-07-28"):
        sessions.open(NOW, "2026-07-28")
    assert len(sessions) == 0


def test_negotiating_an_unknown_session_is_an_error() -> None:
    with pytest.raises(KeyError):
        table().negotiate("s9", NEWEST)


def test_the_word_of_the_client_that_it_is_ready_is_noted() -> None:
    sessions = table()
    sessions.open(NOW, NEWEST)
    session = sessions.mark_initialized("s1")
    assert session is not None
    assert session.initialized
    assert sessions.mark_initialized("s9") is None


def test_a_deleted_session_is_gone_even_while_it_is_busy() -> None:
    sessions = table()
    sessions.open(NOW, NEWEST)
    sessions.begin("s1", NOW)
    deleted = sessions.delete("s1")
    assert deleted is not None
    assert sessions.get("s1") is None
    assert sessions.delete("s1") is None
    sessions.end("s1", NOW)
    assert sessions.status().deleted_count == 1


def test_activity_of_an_unknown_session_changes_nothing() -> None:
    sessions = table()
    assert sessions.begin("s9", NOW) is None
    sessions.end("s9", NOW)
    assert len(sessions) == 0


def test_an_end_too_many_changes_nothing() -> None:
    sessions = table()
    sessions.open(NOW, NEWEST)
    sessions.end("s1", NOW + 5)
    session = sessions.get("s1")
    assert session is not None
    assert (session.in_flight, session.last_seen) == (0, NOW)


def test_the_status_counts_sessions_and_those_that_are_busy() -> None:
    sessions = table()
    sessions.open(NOW, NEWEST)
    sessions.open(NOW, NEWEST)
    sessions.begin("s2", NOW)
    status = sessions.status()
    assert (status.session_count, status.busy_count, status.opened_count, status.limit) == (2, 1, 2, 3)


def test_sessions_are_frozen() -> None:
    session = table().open(NOW, NEWEST).session
    with pytest.raises(AttributeError):
        session.last_seen = 0.0  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
