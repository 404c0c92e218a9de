"""The tool registry. Cases [M] 134 to 155 of the existing engine, ownership, and changes that are whole or nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import ToolAnnotations

from protocol.prepared_call import PreparedCall, UnknownTool, prepare_call
from protocol.tool_list import ToolList
from protocol.tool_registry import (
    KEPT_FACES,
    TOOL_NAME_CHARS,
    DuplicateToolError,
    InvalidToolError,
    OwnershipError,
    ToolRegistry,
)
from tests.protocol.samples import NOW, SHAPE_SCHEMA, SilentCall, say_goodbye, tool


class Listener:
    """Remembers the revision that each call brought."""

    def __init__(self) -> None:
        self.revisions: list[int] = []

    def __call__(self, tools: ToolList) -> None:
        self.revisions.append(tools.revision)


def test_a_registry_is_created_without_options() -> None:  # [M] 134
    assert len(ToolRegistry().snapshot()) == 0


def test_a_listed_tool_has_name_description_and_schema() -> None:  # [M] 135
    registry = ToolRegistry()
    registry.register(tool(), now=NOW)
    assert json.loads(registry.snapshot().wire("2025-11-25")) == [
        {
            "name": "space_hello",
            "description": "Says hello.",
            "inputSchema": {"type": "object", "properties": {}},
        }
    ]


async def test_a_tool_without_arguments_runs_when_called_with_none() -> None:  # [M] 138
    registry = ToolRegistry()
    call = prepare_call(registry.register(tool(), now=NOW), "space_hello", None)
    assert isinstance(call, PreparedCall)
    outcome = await call.entry.definition.run(call.arguments, SilentCall())
    assert outcome.content[0].model_dump(exclude_none=True) == {"type": "text", "text": "hello"}


def test_an_unknown_tool_says_so() -> None:  # [M] 139
    assert "Unknown tool" in str(prepare_call(ToolRegistry().snapshot(), "space_none", {}))


def test_an_unknown_tool_suggests_the_nearest_visible_one() -> None:
    tools = ToolRegistry().register(tool(), now=NOW)
    assert prepare_call(tools, "space_helo", {}) == UnknownTool("space_helo", "space_hello")


def test_an_unregistered_tool_is_gone() -> None:  # [M] 141
    registry = ToolRegistry()
    assert len(registry.register(tool(), now=NOW)) == 1
    assert len(registry.unregister("space_hello", "presets", now=NOW)) == 0


def test_a_listener_hears_of_each_change() -> None:  # [M] 142
    registry, listener = ToolRegistry(), Listener()
    registry.add_on_change(listener)
    registry.register(tool(), now=NOW)
    assert listener.revisions == [1]
    registry.unregister("space_hello", "presets", now=NOW)
    assert listener.revisions == [1, 2]


def test_two_listeners_both_hear_of_a_change() -> None:  # [M] 143
    registry, first, second = ToolRegistry(), Listener(), Listener()
    registry.add_on_change(first)
    registry.add_on_change(second)
    registry.register(tool(), now=NOW)
    assert (first.revisions, second.revisions) == ([1], [1])


def test_a_removed_listener_hears_nothing_however_often_it_was_added() -> None:
    registry, listener = ToolRegistry(), Listener()
    assert registry.add_on_change(listener) is listener
    registry.add_on_change(listener)
    registry.remove_on_change(listener)
    registry.remove_on_change(listener)
    registry.register(tool(), now=NOW)
    assert listener.revisions == []


def test_a_listener_may_remove_itself_without_hiding_the_change_from_the_next() -> None:
    registry, last = ToolRegistry(), Listener()

    def once(tools: ToolList) -> None:
        registry.remove_on_change(once)

    registry.add_on_change(once)
    registry.add_on_change(last)
    registry.register(tool(), now=NOW)
    assert last.revisions == [1]
    assert registry.status().listener_count == 1


def test_a_listener_that_another_one_adds_hears_of_the_next_change_first() -> None:
    registry, late = ToolRegistry(), Listener()

    def adding(tools: ToolList) -> None:
        if not late.revisions and registry.status().listener_count == 1:
            registry.add_on_change(late)

    registry.add_on_change(adding)
    registry.register(tool(), now=NOW)
    assert late.revisions == []
    registry.unregister("space_hello", "presets", now=NOW)
    assert late.revisions == [2]


def test_a_failing_listener_hides_the_change_from_nobody() -> None:
    registry, last = ToolRegistry(), Listener()

    def failing(tools: ToolList) -> None:
        raise RuntimeError("no")

    registry.add_on_change(failing)
    registry.add_on_change(last)
    with pytest.raises(ExceptionGroup, match="listeners"):
        registry.register(tool(), now=NOW)
    assert last.revisions == [1]
    assert len(registry.snapshot()) == 1


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"name": None}, "name"),  # [M] 145
        ({"name": ""}, "name"),
        ({"description": None}, "description"),  # [M] 146
        ({"description": " "}, "description"),
        ({"description": "\ud800"}, "description"),
        ({"input_schema": None}, "inputSchema"),  # [M] 147
        ({"input_schema": {"type": "array"}}, "inputSchema"),
        ({"input_schema": {"type": "object", "properties": 3}}, "inputSchema"),
        ({"input_schema": {"type": "object", "default": object()}}, "inputSchema"),
        ({"input_schema": {"$ref": "http://example.com/x"}}, "inputSchema"),
        ({"output_schema": {"type": "string"}}, "outputSchema"),
        ({"output_schema": {"type": "object", "required": 1}}, "outputSchema"),
        ({"run": None}, "run"),  # [M] 148
        ({"name": "space hello"}, "letters"),  # [M] 149
        ({"name": "space_héllo"}, "letters"),
        ({"name": "space_hello\n"}, "letters"),
        ({"name": "space_" + "x" * TOOL_NAME_CHARS}, "characters"),
        ({"owner": ""}, "owner"),
    ],
)
def test_an_invalid_definition_is_refused_and_the_part_is_named(changes: dict[str, Any], text: str) -> None:
    registry = ToolRegistry()
    with pytest.raises(InvalidToolError) as caught:
        registry.register(tool(**changes), now=NOW)
    assert text in str(caught.value)
    assert registry.status().change_count == 0


def test_the_first_fault_in_the_documented_order_is_reported() -> None:
    broken: dict[str, Any] = {"name": "a b", "description": "", "input_schema": None, "run": None}
    for member, good, text in (
        ("name", "space_a", "letters"),
        ("description", "A.", "description"),
        ("input_schema", {}, "inputSchema"),
        ("run", say_goodbye, "run"),
    ):
        with pytest.raises(InvalidToolError, match=text):
            ToolRegistry().register(tool(**broken), now=NOW)
        broken[member] = good
    assert len(ToolRegistry().register(tool(**broken), now=NOW)) == 1


def test_a_name_without_the_configured_prefix_is_refused() -> None:  # [M] 150
    registry = ToolRegistry("space_")
    with pytest.raises(InvalidToolError, match="prefix 'space_'"):
        registry.register(tool("hello"), now=NOW)


def test_the_longest_name_fits_into_what_models_take() -> None:
    ToolRegistry().register(tool("x" * TOOL_NAME_CHARS), now=NOW)
    assert len("space-unit-dev_" + "x" * TOOL_NAME_CHARS) == 64


def test_the_status_of_a_fresh_registry_shows_no_tools_and_the_prefix() -> None:  # [M] 153
    status = ToolRegistry("space_").status()
    assert (status.tool_count, status.change_count, status.last_change, status.namespace_prefix) == (
        0,
        0,
        None,
        "space_",
    )


def test_the_status_after_one_registration_shows_one_change_and_its_time() -> None:  # [M] 154
    registry = ToolRegistry("space_")
    registry.register(tool(), now=NOW)
    status = registry.status()
    assert (status.tool_count, status.change_count, status.last_change) == (1, 1, NOW)


def test_tools_are_sorted_by_name() -> None:  # [M] 155
    registry = ToolRegistry()
    registry.register(tool("space_b"), now=NOW)
    assert registry.register(tool("space_a"), now=NOW).names == ("space_a", "space_b")


def test_a_batch_of_changes_counts_once_and_is_heard_once() -> None:
    registry, listener = ToolRegistry(), Listener()
    registry.apply(additions=(tool("space_a"), tool("space_b")), now=NOW)
    registry.add_on_change(listener)
    registry.apply(removals=(("space_a", "presets"),), additions=(tool("space_c"), tool("space_d")), now=NOW + 1)
    assert registry.snapshot().names == ("space_b", "space_c", "space_d")
    assert listener.revisions == [2]
    assert registry.status().change_count == 2


@pytest.mark.parametrize(
    ("removals", "additions", "error"),
    [
        ((("space_a", "presets"),), (tool("space_b"), tool("a b")), InvalidToolError),
        ((("space_a", "presets"),), (tool("space_b"), tool("space_b")), DuplicateToolError),
        ((("space_a", "presets"), ("space_x", "presets")), (tool("space_b"),), OwnershipError),
        ((("space_a", "presets"),), (tool("space_b"), tool("space_x")), OwnershipError),
    ],
)
def test_a_refused_batch_changes_nothing(removals: Any, additions: Any, error: type[Exception]) -> None:
    registry, listener = ToolRegistry(), Listener()
    registry.apply(additions=(tool("space_a"), tool("space_x", owner="somebody")), now=NOW)
    before = registry.snapshot()
    registry.add_on_change(listener)
    with pytest.raises(error):
        registry.apply(removals=removals, additions=additions, now=NOW + 1)
    assert registry.snapshot() is before
    assert (registry.status().change_count, registry.status().last_change) == (1, NOW)
    assert listener.revisions == []


@pytest.mark.parametrize(
    ("verb", "change"),
    [("replace", {"additions": (tool(owner="presets"),)}), ("remove", {"removals": (("space_hello", "presets"),)})],
)
def test_a_tool_of_another_owner_stays_and_both_owners_are_named(verb: str, change: dict[str, Any]) -> None:
    registry = ToolRegistry()
    registry.register(tool(owner="units"), now=NOW)
    with pytest.raises(OwnershipError, match=verb) as caught:
        registry.apply(**change, now=NOW)
    assert "'units'" in str(caught.value)
    assert "'presets'" in str(caught.value)
    assert registry.owner_of("space_hello") == "units"


def test_a_name_may_pass_to_another_owner_once_its_own_gave_it_up() -> None:
    registry = ToolRegistry()
    registry.register(tool(owner="units"), now=NOW)
    registry.apply(removals=(("space_hello", "units"),), additions=(tool(owner="presets"),), now=NOW)
    assert registry.owner_of("space_hello") == "presets"
    assert registry.owner_of("space_none") is None


def test_removing_an_unknown_name_is_silent_and_no_change() -> None:
    registry, listener = ToolRegistry(), Listener()
    registry.add_on_change(listener)
    before = registry.snapshot()
    assert registry.unregister("space_none", "presets", now=NOW) is before
    assert (listener.revisions, registry.status().change_count) == ([], 0)


def test_a_new_body_behind_the_same_face_is_published_under_the_same_revision() -> None:
    registry, listener = ToolRegistry(), Listener()
    registry.register(tool(), now=NOW)
    registry.add_on_change(listener)
    fresh = registry.register(tool(run=say_goodbye, source="other"), now=NOW)
    assert (fresh.revision, listener.revisions) == (1, [1])
    call = prepare_call(fresh, "space_hello", None)
    assert isinstance(call, PreparedCall)
    assert call.entry.definition.run is say_goodbye


@pytest.mark.parametrize(
    "changes",
    [
        {"description": "Greets."},
        {"input_schema": {"type": "object", "properties": {"a": {}}}},
        {"output_schema": {"type": "object"}},
        {"title": "Hello"},
        {"annotations": ToolAnnotations(read_only_hint=True)},
    ],
)
def test_whatever_a_client_can_see_makes_a_new_revision(changes: dict[str, Any]) -> None:
    registry = ToolRegistry()
    registry.register(tool(), now=NOW)
    assert registry.register(tool(**changes), now=NOW).revision == 2


def test_a_tool_that_goes_and_comes_back_within_one_change_keeps_the_revision() -> None:
    registry = ToolRegistry()
    registry.register(tool(), now=NOW)
    fresh = registry.apply(removals=(("space_hello", "presets"),), additions=(tool(),), now=NOW)
    assert fresh.revision == 1


def test_a_list_is_not_touched_by_later_changes() -> None:
    registry = ToolRegistry()
    old = registry.register(tool(), now=NOW)
    registry.unregister("space_hello", "presets", now=NOW)
    assert old.names == ("space_hello",)
    with pytest.raises(AttributeError):
        old.revision = 7  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


FULL = tool(
    title="Hello",
    annotations=ToolAnnotations(read_only_hint=True),
    output_schema={"properties": {"text": {"type": "string"}}},
)


@pytest.mark.parametrize(
    ("version", "members"),
    [
        ("2024-11-05", ["name", "description", "inputSchema"]),
        ("2025-03-26", ["name", "description", "inputSchema", "annotations"]),
        ("2025-06-18", ["name", "title", "description", "inputSchema", "outputSchema", "annotations"]),
        ("2025-11-25", ["name", "title", "description", "inputSchema", "outputSchema", "annotations"]),
    ],
)
def test_each_revision_lists_the_members_that_it_knows(version: str, members: list[str]) -> None:
    (listed,) = json.loads(ToolRegistry().register(FULL, now=NOW).wire(version))
    assert list(listed) == members
    assert listed.get("annotations", {"readOnlyHint": True}) == {"readOnlyHint": True}


def test_every_schema_on_the_wire_is_an_object_with_properties() -> None:
    # Clients drop all tools of a server over one schema without them.
    bare = tool(input_schema={"$defs": {"a": {}}}, output_schema={})
    (listed,) = json.loads(ToolRegistry().register(bare, now=NOW).wire("2025-11-25"))
    assert listed["inputSchema"] == {"type": "object", "properties": {}, "$defs": {"a": {}}}
    assert listed["outputSchema"] == {"type": "object", "properties": {}}


def test_the_bytes_of_a_list_do_not_depend_on_how_it_came_about() -> None:
    one, other = ToolRegistry(), ToolRegistry()
    one.apply(additions=(tool("space_a"), tool("space_b")), now=NOW)
    other.register(tool("space_b", description="Old."), now=NOW)
    other.apply(removals=(("space_b", "presets"),), additions=(tool("space_b"), tool("space_a")), now=NOW)
    assert one.snapshot().wire("2025-06-18") == other.snapshot().wire("2025-06-18")


def test_the_bytes_of_a_list_are_made_once() -> None:
    listed = ToolRegistry().register(tool(), now=NOW)
    assert listed.wire("2025-06-18") is listed.wire("2025-11-25")


def test_changing_a_schema_after_registration_changes_nothing() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "number"}}}
    listed = ToolRegistry().register(tool(input_schema=schema), now=NOW)
    schema["properties"] = {}
    assert b'"number"' in listed.wire("2025-11-25")


def test_a_face_that_was_seen_before_is_not_compiled_again() -> None:
    registry = ToolRegistry()
    first = registry.register(tool(input_schema=SHAPE_SCHEMA), now=NOW).entries[0].face
    registry.unregister("space_hello", "presets", now=NOW)
    assert registry.register(tool(input_schema=dict(SHAPE_SCHEMA)), now=NOW).entries[0].face is first


def test_the_faces_that_are_kept_are_bounded() -> None:
    registry = ToolRegistry()
    for number in range(KEPT_FACES + 10):
        registry.register(tool(description=f"Number {number}."), now=NOW)
    assert len(registry._faces) == KEPT_FACES
