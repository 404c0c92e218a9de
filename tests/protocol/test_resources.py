"""Resources, templates and pages. MCP specification, server/resources and server/utilities ("Pagination")."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import Icon, TextResourceContents

from protocol.cache_hint import CacheHint, CacheScope
from protocol.decision import ReadResource, Subscribe, Unsubscribe
from protocol.handler import Handler
from protocol.jsonrpc import parse
from protocol.limits import Limits
from protocol.offer import Offer
from protocol.owned_table import RegistrationError
from protocol.pages import Page, page
from protocol.resource import ResourceOutcome
from protocol.resource_list import ResourceRegistry
from protocol.uri_template import UriTemplate
from protocol.versions import SESSION_VERSIONS
from tests.protocol.samples import HANDLER, SERVER, body_of, post, request, session
from tests.protocol.stateless_samples import (
    OFFER,
    STATELESS,
    decide,
    modern,
    resource,
    suggest,
    template,
)

SESSION = session()


def in_session(message: Any, version: str = "2025-11-25", offer: Offer = OFFER, handler: Handler = HANDLER) -> Any:
    return handler.decide(post("session-1"), parse(json.dumps(message).encode()), session(version), offer)


@pytest.mark.parametrize("version", SESSION_VERSIONS)
def test_resources_are_listed_in_every_revision(version: str) -> None:
    listed = body_of(in_session(request("resources/list"), version))["result"]
    assert listed == {"resources": [{"uri": "space://tree", "name": "tree"}, {"uri": "space://world", "name": "world"}]}
    templates = body_of(in_session(request("resources/templates/list"), version))["result"]
    assert templates == {"resourceTemplates": [{"uriTemplate": "space://object/{id}", "name": "object"}]}


def test_members_that_a_revision_does_not_know_are_left_out() -> None:
    full = resource(title="World", description="All", mime_type="text/plain", size=7, icons=(Icon(src="a.png"),))
    offer = Offer(resources=ResourceRegistry().apply(additions=[full]))
    members = {
        version: set(body_of(in_session(request("resources/list"), version, offer))["result"]["resources"][0])
        for version in SESSION_VERSIONS
    }
    plain = {"uri", "name", "description", "mimeType", "size"}
    assert members["2024-11-05"] == members["2025-03-26"] == plain
    assert members["2025-06-18"] == plain | {"title"}
    assert members["2025-11-25"] == plain | {"title", "icons"}


def test_a_list_without_a_session_says_how_long_it_may_be_kept() -> None:
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "server/discover"):
        result = body_of(decide(modern(method)))["result"]
        assert (result["resultType"], result["cacheScope"]) == ("complete", "private")
        assert isinstance(result["ttlMs"], int)
    assert "ttlMs" not in body_of(in_session(request("resources/list")))["result"]


@pytest.mark.parametrize(
    ("uri", "name", "values"),
    [("space://world", "world", {}), ("space://object/a%20b", "object", {"id": "a b"})],
)
def test_a_resource_is_read_by_its_uri_or_by_a_template(uri: str, name: str, values: object) -> None:
    for found in (decide(modern("resources/read", {"uri": uri})), in_session(request("resources/read", {"uri": uri}))):
        assert isinstance(found, ReadResource)
        assert (found.read.uri, found.read.name, found.read.values) == (uri, name, values)


def test_what_was_read_is_the_answer_and_may_say_how_long_it_holds() -> None:
    contents = (TextResourceContents(uri="space://world", text="hi", mime_type="text/plain"),)
    shown = [{"uri": "space://world", "text": "hi", "mimeType": "text/plain"}]
    found = decide(modern("resources/read", {"uri": "space://world"}))
    assert isinstance(found, ReadResource)
    result = body_of(STATELESS.read_reply(found, ResourceOutcome(contents, CacheHint(50, CacheScope.PUBLIC))))["result"]
    assert (result["contents"], result["ttlMs"], result["cacheScope"]) == (shown, 50, "public")
    usual = body_of(STATELESS.read_reply(found, ResourceOutcome(contents)))["result"]
    assert (usual["ttlMs"], usual["cacheScope"]) == (0, "private")
    old = in_session(request("resources/read", {"uri": "space://world"}))
    assert body_of(HANDLER.read_reply(old, ResourceOutcome(contents)))["result"] == {"contents": shown}


@pytest.mark.parametrize("uri", ["space://nothing", "space://object/", "space://object/a/b", ""])
def test_a_resource_that_does_not_exist_is_an_error_with_the_code_of_its_generation(uri: str) -> None:
    for decision, code in [
        (decide(modern("resources/read", {"uri": uri})), -32602),
        (in_session(request("resources/read", {"uri": uri})), -32002),
    ]:
        error = body_of(decision)["error"]
        assert (error["code"], error["data"]) == (code, {"uri": uri})


def test_a_resource_that_turns_out_not_to_exist_is_the_same_error() -> None:
    found = decide(modern("resources/read", {"uri": "space://object/gone"}))
    assert isinstance(found, ReadResource)
    error = body_of(STATELESS.missing_resource_reply(found))["error"]
    assert (error["code"], error["data"]) == (-32602, {"uri": "space://object/gone"})


@pytest.mark.parametrize("params", [{}, {"uri": 7}, {"uri": "space://" + "x" * 5000}])
def test_a_uri_that_is_none_is_invalid_params(params: object) -> None:
    for method in ("resources/read", "resources/subscribe", "resources/unsubscribe"):
        assert body_of(in_session(request(method, params)))["error"]["code"] == -32602


def test_a_session_watches_resources_that_exist() -> None:
    assert in_session(request("resources/subscribe", {"uri": "space://world"})) == Subscribe(
        1, "session-1", "space://world"
    )
    assert body_of(in_session(request("resources/subscribe", {"uri": "space://x"})))["error"]["code"] == -32002
    gone = in_session(request("resources/unsubscribe", {"uri": "space://x"}))
    assert gone == Unsubscribe(1, "session-1", "space://x")
    assert body_of(HANDLER.empty_reply(gone)) == {"jsonrpc": "2.0", "id": 1, "result": {}}


# the registry


def test_a_change_is_whole_or_does_not_happen() -> None:
    registry = ResourceRegistry()
    first = registry.apply(additions=[resource()])
    with pytest.raises(RegistrationError, match="belongs to 'worlds'"):
        registry.apply(additions=[resource("space://new"), resource(owner="somebody")])
    assert registry.snapshot() is first
    with pytest.raises(RegistrationError, match="must not remove"):
        registry.apply(removals=[("space://world", "somebody")])
    assert registry.apply(removals=[("space://world", "worlds"), ("space://x", "y")]).uris == ()


def test_the_revision_rises_where_clients_can_see_the_change() -> None:
    registry = ResourceRegistry()
    first = registry.apply(additions=[resource()]).revision
    assert registry.apply(additions=[resource(source="other")]).revision == first
    assert registry.apply(additions=[template()]).revision == first + 1
    assert registry.apply(additions=[resource(title="W")]).revision == first + 2


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        (resource("world"), "begin with a scheme"),
        (resource(name=" "), "name must not be empty"),
        (resource(owner=""), "owner"),
        (resource(description="\ud800"), "written as JSON"),
        (template(completers={"other": suggest}), "to complete"),
    ],
)
def test_a_definition_that_will_not_do_is_refused_with_the_reason(definition: Any, words: str) -> None:
    with pytest.raises(RegistrationError, match=words):
        ResourceRegistry().apply(additions=[definition])


def test_what_is_added_twice_is_refused() -> None:
    with pytest.raises(RegistrationError, match="twice"):
        ResourceRegistry().apply(additions=[resource(), resource()])


# templates


@pytest.mark.parametrize(
    ("text", "uri", "values"),
    [
        ("test://template/{id}/data", "test://template/123/data", {"id": "123"}),
        ("a://{x}", "a://1", {"x": "1"}),
        ("a://{x}", "a://%C3%BC%2F", {"x": "ü/"}),
        ("a://{x}.{y}", "a://b.c.d", {"x": "b", "y": "c.d"}),
        ("a://{x}/{y}/z", "a://1/2/z", {"x": "1", "y": "2"}),
        ("a://{x}aa", "a://aaa", {"x": "a"}),
        ("a://{x}", "a://", None),
        ("a://{x}", "a://b/c", None),
        ("a://{x}", "a://b?c", None),
        ("a://{x}", "a://%ff", None),
        ("a://{x}", "a://%zz", None),
        ("a://{x}/z", "a://1/y", None),
        ("a://{x}/z", "a:/", None),
        ("a://{x}a", "a://a", None),
    ],
)
def test_a_template_matches_what_it_can_have_made(text: str, uri: str, values: object) -> None:
    assert UriTemplate.parse(text).match(uri) == values


@pytest.mark.parametrize(
    "text", ["a://b", "{x}", "a://{x}{y}", "a://{+x}", "a://{x*}", "a://{}", "a://{x}/{x}", "a://{x}}"]
)
def test_a_template_of_another_kind_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="template"):
        UriTemplate.parse(text)


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_a_template_finds_what_it_filled_in(first: str, second: str) -> None:
    made = UriTemplate.parse("a://{first}/b/{second}/c")
    values = {"first": first, "second": second}
    assert made.match(made.fill(values)) == values


def test_a_hostile_uri_takes_no_time() -> None:
    made = UriTemplate.parse("a://{a}-{b}-{c}-{d}-{e}/z")
    assert made.match("a://" + "-" * 4000) is None
    assert made.match("a://" + "a-" * 2000) is None


# pages


@pytest.mark.slow
@given(st.sets(st.text(max_size=5), max_size=30), st.integers(1, 7))
def test_pages_hold_every_item_once_in_order(keys: set[str], size: int) -> None:
    listed = sorted(keys)
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(40):
        found = page("resources", listed, cursor, size)
        assert found is not None
        seen += listed[found.start : found.stop]
        cursor = found.next_cursor
        if cursor is None:
            break
    assert seen == listed


@given(st.none() | st.text(max_size=40) | st.integers() | st.lists(st.integers(), max_size=2))
def test_no_cursor_raises(cursor: object) -> None:
    found = page("resources", ["a", "b"], cursor, 1)
    assert found is None or cursor is None


def test_a_cursor_of_another_list_names_no_page() -> None:
    first = page("resources", ["a", "b"], None, 1)
    assert first is not None
    assert page("prompts", ["a", "b"], first.next_cursor, 1) is None


def test_a_cursor_outlives_the_item_that_it_names() -> None:
    first = page("resources", ["a", "b", "c"], None, 2)
    assert first is not None
    assert page("resources", ["a", "c", "d"], first.next_cursor, 5) == Page(1, 3, None)


def test_long_lists_come_in_pages_and_short_ones_whole() -> None:
    handler = Handler(SERVER, Limits(items_per_page=2, tools_per_page=3))
    registry = ResourceRegistry()
    many = Offer(
        tools=OFFER.tools,
        resources=registry.apply(additions=[resource(f"a://{number}", name="n") for number in range(5)]),
    )
    for method, member, counts in [("resources/list", "resources", [2, 2, 1]), ("tools/list", "tools", [3, 2])]:
        cursor: object = None
        for count in counts:
            params = {} if cursor is None else {"cursor": cursor}
            result = body_of(in_session(request(method, params), offer=many, handler=handler))["result"]
            assert len(result[member]) == count
            cursor = result.get("nextCursor")
        assert cursor is None


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list", "prompts/list"])
@pytest.mark.parametrize("cursor", ["", "zzz", 7, ["x"]])
def test_a_cursor_that_names_no_page_is_invalid_params(method: str, cursor: object) -> None:
    assert body_of(in_session(request(method, {"cursor": cursor})))["error"]["code"] == -32602
    assert body_of(decide(modern(method, {"cursor": cursor})))["error"]["code"] == -32602
