"""What the headers and the query of a request say."""

from __future__ import annotations

import pytest

from protocol.http_facts import HttpFacts
from tests.protocol.samples import post


@pytest.mark.parametrize(
    ("header", "query", "session_id"),
    [
        ("a", None, "a"),
        (None, "b", "b"),
        ("a", "b", "a"),
        ("", "b", "b"),
        (" a ", None, "a"),
        ("", "", None),
        (None, None, None),
    ],
)
def test_the_session_header_goes_before_the_query(
    header: str | None, query: str | None, session_id: str | None
) -> None:
    assert HttpFacts(method="POST", session_header=header, session_query=query).session_id == session_id


@pytest.mark.parametrize(
    ("content_type", "is_json"),
    [
        ("application/json", True),
        ("application/json; charset=utf-8", True),
        ("Application/JSON", True),
        (" application/json ;x=y", True),
        ("application/json-seq", False),
        ("application/jsonp", False),
        ("text/json", False),
        ("text/plain", False),
        ("", False),
        (None, False),
    ],
)
def test_a_json_body_is_declared_exactly(content_type: str | None, is_json: bool) -> None:
    assert post(content_type=content_type).has_json_body is is_json


@pytest.mark.parametrize(
    ("accept", "json", "stream"),
    [
        (None, True, True),
        ("", True, True),
        ("*/*", True, True),
        ("application/json, text/event-stream", True, True),
        ("application/json", True, False),
        ("application/*;q=0.5", True, False),
        ("text/*", False, True),
        ("TEXT/Event-Stream", False, True),
        ("text/html", False, False),
        ("application/json;q=0, text/event-stream;q=0.0", False, False),
    ],
)
def test_what_the_client_accepts_is_read_leniently(accept: str | None, json: bool, stream: bool) -> None:
    facts = post(accept=accept)
    assert (facts.accepts_json, facts.accepts_event_stream) == (json, stream)


@pytest.mark.parametrize(
    ("accept", "stream"),
    [
        (None, False),
        ("*/*", False),
        ("application/json, text/event-stream", False),
        ("text/event-stream, application/json", True),
        ("Text/Event-Stream", True),
        ("application/json;q=0.5, text/event-stream", True),
        ("text/event-stream;q=0.9, application/json", False),
        ("text/event-stream;q=0, application/json;q=0", False),
        ("text/event-stream;q=much, application/json", True),
        ("text/html, text/*", False),
    ],
)
def test_a_client_has_its_answer_in_the_form_that_it_wants_more_or_names_first(
    accept: str | None, stream: bool
) -> None:
    assert post(accept=accept).prefers_event_stream is stream


def test_a_version_is_read_without_blanks_and_an_empty_one_is_none() -> None:
    assert post(version=" 2025-06-18 ").version == "2025-06-18"
    assert post(version="").version is None


def test_headers_of_the_protocol_are_kept_as_often_as_they_came() -> None:
    facts = HttpFacts(
        method="POST",
        version_header="b",
        mcp_headers=(("mcp-protocol-version", " a "), ("mcp-name", "\tx y "), ("mcp-protocol-version", "b")),
    )
    assert facts.values("mcp-name") == ("x y",)
    assert facts.values("mcp-method") == ()
    assert facts.versions == ("a", "b")


def test_the_version_is_known_without_the_list_of_headers_and_an_empty_one_is_none() -> None:
    assert HttpFacts(method="GET", version_header=" 2025-11-25 ").versions == ("2025-11-25",)
    assert HttpFacts(method="GET", mcp_headers=(("mcp-protocol-version", ""),)).versions == ()
    assert HttpFacts(method="GET").versions == ()
