"""The graph presets and their tools, as an agent meets them.

Case 041 of the existing engine (G) is noted by its number: there is one map for each world here, so that a stale one
cannot be met; the node is in the world that is active now.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from engine.commands import CreateWorld, RememberContext, SwitchWorld
from engine.graph.records import GraphNode
from engine.graph.state import NodeState, RestoreState
from presets.adapters import ToolAdapter
from presets.builtins import graph
from presets.context import ContextSnapshot
from presets.definition import DefaultState
from presets.overrides import NO_OVERRIDES
from presets.registry import PresetRegistry
from presets.resolution import resolve
from protocol.tool import ToolError
from tests.presets.fake_app import FakeApp, SilentCall
from tests.presets.samples import DRAWING, GRAPH, SCENE

ADAPTERS = graph.adapters()
BY_NAME = {adapter.mcp_name.removeprefix("space_graph_"): adapter for adapter in ADAPTERS}
MOST_BYTES = 40 * 1024
"""What clients pass on of an answer."""

TABLE = {
    "graph-node-tools": ("auto", "normal", ["add_node", "load_node"]),
    "graph-node-map-tools": ("auto", "destructive", ["remove_nodes"]),
    "graph-edge-tools": ("auto", "normal", ["add_edge"]),
    "graph-nav-tools": ("auto", "normal", ["focus_node", "open_node", "search_nodes"]),
    "graph-identity-tools": ("auto", "normal", ["create_identity"]),
    "graph-state-tools": ("off", "destructive", ["get_state", "restore_state"]),
}
"""The table of the document."""
ADDED = {"graph-node-tools": ["layout"], "graph-nav-tools": ["inspect"]}
"""What docs/graph.md adds to it."""


class Tools:
    """A fresh engine on a graph, and its tools by their short names; every call is checked against its schemas."""

    def __init__(self, workspace: Path) -> None:
        self.app = FakeApp(workspace)
        self.app.context = GRAPH
        remembered = RememberContext(surface="canvas", activity="graph", canvas_visible=True)
        self.app.engine.execute(remembered)

    async def __call__(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        adapter = BY_NAME[tool]
        arguments = {name.rstrip("_"): value for name, value in arguments.items()}
        jsonschema_rs.validate(dict(adapter.input_schema), arguments)
        outcome = await adapter.make_run(self.app)(arguments, SilentCall())
        assert outcome.structured is not None
        assert adapter.output_schema is not None
        jsonschema_rs.validate(dict(adapter.output_schema), dict(outcome.structured))
        (content,) = outcome.content
        text = content.model_dump()["text"]
        assert json.loads(text) == outcome.structured
        assert len(text.encode()) < MOST_BYTES
        return dict(outcome.structured)

    async def refused(self, tool: str, /, **arguments: object) -> str:
        """The error of a call that must fail, and must leave the world as it is."""
        before = self.app.engine.active_world.revision
        with pytest.raises(ToolError) as error:
            await self(tool, **arguments)
        assert self.app.engine.active_world.revision == before
        return str(error.value)

    async def node(self, label: str, **more: object) -> str:
        return (await self("add_node", label=label, **more))["id"]


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "plan.md").write_text("the secret plan")
    (tmp_path / "link").symlink_to("/etc/passwd")
    return Tools(tmp_path)


def offered(context: ContextSnapshot) -> set[str]:
    return set(resolve(PresetRegistry(graph.presets()), context, NO_OVERRIDES).tool_ids)


def test_the_presets_are_those_of_the_documents_table_and_two_tools():
    names = {adapter.id: adapter.mcp_name.removeprefix("space_graph_") for adapter in ADAPTERS}
    written = {
        preset.name: (preset.default_state.value, preset.risk.value, [names[tool_id] for tool_id in preset.tool_ids])
        for preset in graph.presets()
    }
    expected = {name: (state, risk, [*listed, *ADDED.get(name, [])]) for name, (state, risk, listed) in TABLE.items()}
    assert written == expected
    assert list(written) == list(TABLE)
    assert {preset.group for preset in graph.presets()} == {"graph"}


def test_the_graph_tools_are_there_in_a_graph_and_nowhere_else():
    in_graph = offered(GRAPH)
    assert "graph.remove-nodes" in in_graph
    assert len(in_graph) == 10
    assert not {"graph.get-state", "graph.restore-state"} & in_graph
    assert offered(DRAWING) == offered(SCENE) == set()


def test_every_tool_belongs_to_exactly_one_preset_and_every_preset_says_something():
    listed = [tool_id for preset in graph.presets() for tool_id in preset.tool_ids]
    assert sorted(listed) == sorted(adapter.id for adapter in ADAPTERS)
    assert all(preset.system_prompt for preset in graph.presets())
    (state,) = [preset for preset in graph.presets() if preset.default_state is DefaultState.OFF]
    assert state.name == "graph-state-tools"


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.mcp_name)
def test_schemas_are_plain_closed_objects_and_valid(adapter: ToolAdapter):
    assert adapter.output_schema is not None
    for schema in (adapter.input_schema, adapter.output_schema):
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert not {"anyOf", "oneOf", "allOf", "$ref", "$defs"} & set(schema)
        assert "$ref" not in json.dumps(schema)
        jsonschema_rs.meta.validate(dict(schema))
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in adapter.input_schema["properties"])
    assert adapter.read_only != ("base_revision" in adapter.input_schema["properties"])


async def test_a_node_comes_back_with_its_id_and_everything_that_was_given(tools: Tools):
    made = await tools("add_node", label="Ada", kind="person", content="text", data={"born": 1815}, x=1.5, y=-2)
    opened = await tools("open_node", id=made["id"])

    assert made["id"] == "string-entity:node-1"
    assert (made["label"], made["kind"], made["x"], made["y"]) == ("Ada", "person", 1.5, -2)
    assert (opened["content"], opened["data"]) == ("text", {"born": 1815})
    assert made["revision"] == 1
    assert (await tools("add_node", label="b"))["kind"] == "string-entity"


async def test_one_coordinate_alone_is_refused(tools: Tools):
    assert "both x and y" in await tools.refused("add_node", label="a", x=1)


async def test_a_file_is_shown_by_name_size_and_type_and_its_content_stays_unread(tools: Tools):
    made = await tools("load_node", id="file:./notes//plan.md")
    opened = await tools("open_node", id=made["id"])
    folder = await tools("load_node", id="file:notes")

    assert (made["id"], made["label"], made["kind"], made["loaded"]) == ("file:notes/plan.md", "plan.md", "file", True)
    assert opened["data"] == {"path": "notes/plan.md", "size_bytes": 15, "media_type": "text/markdown"}
    assert "content" not in opened
    assert "secret" not in json.dumps(opened)
    assert (folder["kind"], folder["label"]) == ("folder", "notes")
    assert tools.app.context.selection_kind == "graph-node"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("file:nowhere.md", "There is no 'nowhere.md'"),
        ("file:../x", "holds '..'"),
        ("file:/etc/passwd", "outside the workspace"),
        ("file:link", "is a link"),
        ("file:link/x", "symbolic link"),
        ("world:world-9/string-entity:node-1", "No world has the id 'world-9'"),
        ("world:world-1/string-entity:node-1", "is this world"),
        ("string-entity:node-1", "names no node of this world"),
        ("plan.md", "is no id of a node"),
    ],
)
async def test_what_cannot_be_loaded_is_refused_by_every_tool_that_loads(tools: Tools, key: str, said: str):
    for tool in ("load_node", "focus_node", "open_node"):
        assert said in await tools.refused(tool, id=key)
    assert said in await tools.refused("add_edge", from_=key, to=key)


async def test_a_file_that_changed_is_refreshed_and_one_that_is_gone_stays_shown(tools: Tools):
    file = tools.app.files.root / "notes" / "plan.md"
    await tools("load_node", id="file:notes/plan.md", x=7, y=8)
    file.write_text("longer than before")
    as_it_was = await tools("load_node", id="file:notes/plan.md")
    refreshed = await tools("load_node", id="file:notes/plan.md", refresh=True)
    file.unlink()
    gone = await tools("focus_node", id="file:notes/plan.md")

    assert (as_it_was["loaded"], refreshed["loaded"], gone["loaded"]) == (False, True, False)
    assert (await tools("open_node", id="file:notes/plan.md"))["data"]["size_bytes"] == 18
    assert (refreshed["x"], refreshed["y"]) == (7, 8)
    assert "There is no" in await tools.refused("load_node", id="file:notes/plan.md", refresh=True)
    node = await tools.node("a")
    assert "refresh is for" in await tools.refused("load_node", id=node, refresh=True)


async def test_a_node_of_another_world_is_shown_with_all_that_is_in_it(tools: Tools):  # 041
    await tools("add_node", label="far", kind="person", content="text", data={"n": 1})
    await tools.app.execute(CreateWorld("other", activate=True))
    made = await tools("load_node", id="world:world-1/string-entity:node-1")

    assert (made["id"], made["label"], made["kind"]) == ("world:world-1/string-entity:node-1", "far", "person")
    opened = await tools("open_node", id=made["id"])
    assert (opened["content"], opened["data"]) == ("text", {"n": 1})
    missing = await tools.refused("load_node", id="world:world-1/string-entity:node-2")
    assert "World world-1 (home) has no node" in missing
    await tools.app.execute(SwitchWorld("world-1"))
    assert (await tools("inspect"))["node_count"] == 1


async def test_an_edge_loads_its_ends_and_a_second_one_says_what_it_replaced(tools: Tools):
    a = await tools.node("a")
    first = await tools("add_edge", from_=a, to="file:notes/plan.md", label="reads")
    second = await tools("add_edge", from_=a, to="file:notes/plan.md", label="writes")
    same = await tools("add_edge", from_=a, to="file:notes/plan.md", label="writes")

    assert (first["id"], first["loaded_ids"]) == (f"{a}->file:notes/plan.md", ["file:notes/plan.md"])
    assert (first["created"], second["created"], second["previous_label"]) == (True, False, "reads")
    assert (second["changed"], same["changed"]) == (True, False)
    assert (await tools("add_edge", from_=a, to=a))["label"] == ""


async def test_removing_leaves_files_alone_and_says_how_many_edges_went(tools: Tools):
    a = await tools.node("a")
    await tools("add_edge", from_=a, to="file:notes/plan.md")
    gone = await tools("remove_nodes", ids=[a, "file:notes/plan.md"])

    assert (gone["removed_count"], gone["removed_edge_count"]) == (2, 1)
    assert (await tools("inspect"))["node_count"] == 0
    assert (tools.app.files.root / "notes" / "plan.md").exists()
    assert (await tools("load_node", id=a))["label"] == "a"
    assert "1 of 1 ids are not on the map" in await tools.refused("remove_nodes", ids=["file:notes/plan.md"])


async def test_an_identity_is_created_once_and_shared(tools: Tools):
    a, b = await tools.node("a"), await tools.node("b")
    first = await tools("create_identity", name="Ada", role="author", nodes=[a, b])
    again = await tools("create_identity", name="ada")

    assert first["id"] == again["id"] == "identity:identity-1"
    assert (first["created"], again["created"], again["changed"], again["role"]) == (True, False, False, "author")
    assert (again["shared_by"], (await tools("open_node", id=first["id"]))["sharing_ids"]) == (2, [a, b])
    assert (await tools("inspect", identity=first["id"]))["total"] == 2
    assert (await tools.node("c", identity=first["id"])) == "string-entity:node-3"


async def test_focusing_changes_the_context_and_removing_changes_it_back(tools: Tools):
    a = await tools.node("a")
    assert tools.app.context.selection_kind is None
    await tools("focus_node", id=a)
    assert tools.app.context.selection_kind == "graph-node"
    again = await tools("focus_node", id=a)
    assert not again["changed"]
    await tools("remove_nodes", ids=[a])
    assert tools.app.context.selection_kind is None


async def test_searching_gives_ids_and_labels_best_first(tools: Tools):
    await tools("add_node", label="Notes", content="about the river " * 20)
    river = await tools.node("River")
    found = await tools("search_nodes", query="rivre")
    page = await tools("search_nodes", query="river", limit=1)

    assert [node["id"] for node in found["nodes"]] == [river, "string-entity:node-1"]
    assert len(found["nodes"][1]["excerpt"]) == 160
    assert (page["total"], page["next"], page["all_words"]) == (2, 1, True)
    assert "no letter" in await tools.refused("search_nodes", query="!!")


async def test_a_large_map_is_inspected_page_by_page_within_bounds(tools: Tools):
    nodes = [
        NodeState(
            id=f"string-entity:n{n}", kind=f"kind-{n % 90}", label="ü" * 200, position=(n * 300, 0), content="ü" * 4000
        )
        for n in range(120)
    ]
    await tools.app.execute(RestoreState(nodes=nodes))
    for more in ({}, {"include_data": True}):
        page = await tools("inspect", limit=200, **more)
        seen = [node["id"] for node in page["nodes"]]
        while "next" in page:
            page = await tools("inspect", limit=200, offset=page["next"], **more)
            seen += [node["id"] for node in page["nodes"]]
        assert seen == [node.id for node in nodes]
        assert (len(page["kinds"]), page["other_kinds"]) == (60, 30)
    assert (await tools("inspect", show="summary"))["nodes"] == []


async def test_inspecting_edges_pages_too_and_filters_that_do_not_fit_are_refused(tools: Tools):
    keys = [await tools.node(f"n{n}") for n in range(4)]
    for key in keys[1:]:
        await tools("add_edge", from_=keys[0], to=key, label="x")
    page = await tools("inspect", show="edges", limit=2)
    rest = await tools("inspect", show="edges", limit=2, offset=page["next"])

    assert [edge["target"] for edge in (*page["edges"], *rest["edges"])] == keys[1:]
    assert "next" not in rest
    assert (await tools("inspect", show="edges", node=keys[2]))["total"] == 1
    assert "for nodes only" in await tools.refused("inspect", show="edges", kind="person")
    assert "show: 'edges'" in await tools.refused("inspect", node=keys[0])
    (first,) = (await tools("inspect", ids=[keys[0]]))["nodes"]
    assert (first["outgoing_count"], first["incoming_count"]) == (3, 0)


async def test_a_state_goes_out_and_comes_back_exactly(tools: Tools):
    a = await tools("add_node", label="a", content="x\ny", data={"n": None, "l": [1, {"m": None}]}, x=0.1, y=1e-7)
    await tools("add_edge", from_=a["id"], to="file:notes/plan.md", label="reads")
    await tools("create_identity", name="Ada", nodes=[a["id"]])
    await tools("open_node", id=a["id"])
    state = (await tools("get_state"))["state"]
    records = {record.id: record for record in tools.app.engine.active_world.read().all(GraphNode)}
    await tools("remove_nodes", ids=[a["id"]])
    await tools.node("b")

    restored = await tools("restore_state", state=state)

    assert (restored["node_count"], restored["edge_count"], restored["removed_count"]) == (3, 1, 1)
    assert (await tools("get_state"))["state"] == state
    assert {r.id: r for r in tools.app.engine.active_world.read().all(GraphNode)} == records
    assert not (await tools("restore_state", state=state))["changed"]


async def test_a_page_of_a_state_alone_is_refused_and_all_pages_joined_are_restored(tools: Tools):
    nodes = [
        NodeState(id=f"string-entity:n{n}", kind="n", label=f"n{n}", position=(0, n), content="x" * 900)
        for n in range(60)
    ]
    await tools.app.execute(RestoreState(nodes=nodes))
    await tools("add_edge", from_=nodes[0].id, to=nodes[1].id)
    first = await tools("get_state")
    joined, offset = dict(first["state"], nodes=[], edges=[]), 0
    while offset is not None:
        page = await tools("get_state", offset=offset)
        joined["nodes"] += page["state"]["nodes"]
        joined["edges"] += page["state"]["edges"]
        offset = page.get("next")

    assert "next" in first
    assert "it is a page" in await tools.refused("restore_state", state=first["state"])
    assert not (await tools("restore_state", state=joined))["changed"]


async def test_a_layout_moves_nodes_in_one_step(tools: Tools):
    a, b, c = [await tools.node(name) for name in "abc"]
    await tools("add_edge", from_=a, to=b)
    await tools("add_edge", from_=b, to=c)
    made = await tools("layout")
    below = [node["y"] for node in (await tools("inspect"))["nodes"]]

    assert below == sorted(below, reverse=True)
    assert (made["moved_count"], made["node_count"]) == (3, 3)
    assert (await tools("layout", method="grid"))["bounds"]["top"] >= 0
    await tools.app.undo()
    await tools.app.undo()
    assert [node["y"] for node in (await tools("inspect"))["nodes"]] != below


async def test_a_layout_of_nothing_is_refused(tools: Tools):
    assert "The map has 0 nodes" in await tools.refused("layout")


async def test_a_write_that_is_based_on_an_old_revision_is_refused(tools: Tools):
    a = await tools.node("a")
    b = await tools("add_node", label="b", base_revision=1)
    assert "revision 2" in await tools.refused("add_edge", from_=a, to=b["id"], base_revision=1)
    assert "revision 2" in await tools.refused("load_node", id="file:notes/plan.md", base_revision=0)
    assert (await tools("layout", base_revision=2))["revision"] == 3
