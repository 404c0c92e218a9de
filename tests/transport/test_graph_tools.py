"""Every tool of the graph through the MCP endpoint: what it does to the state, what is then seen, and how it is undone.

Pictures show a fixed part of the map, so that what changed can be told from what only moved. Source: agent-presets,
table "Graph".
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.graph.figures import MARK_GAP, NODE_HEIGHT, NODE_WIDTH
from tests.transport.running_engine import running_engine
from tests.transport.surface_trial import SurfaceTrial

UNITS_PER_PIXEL = 4
WIDTH, HEIGHT = 200, 150
VIEW = {"width": WIDTH, "height": HEIGHT, "box": {"x": -400, "y": -300, "width": 800, "height": 600}}
GRAPH_CONTEXT = {"surface": "canvas", "activity": "graph", "canvas_visible": True}
OFF_BY_DEFAULT = ("graph-state-tools",)

ADA, BOB = "string-entity:node-1", "string-entity:node-2"
"""The ids that the first two nodes get."""


@pytest.fixture
async def graph(tmp_path: Path) -> AsyncGenerator[SurfaceTrial]:
    """An empty graph, with every preset on."""
    async with running_engine(tmp_path, built_in=True) as engine:
        yield await SurfaceTrial.entered(engine, "graph", GRAPH_CONTEXT, VIEW, *OFF_BY_DEFAULT)


async def two_nodes(graph: SurfaceTrial) -> None:
    """Ada on the left, Bob on the right, far enough apart to tell them in the picture."""
    await graph("add_node", label="Ada", x=-200, y=0)
    await graph("add_node", label="Bob", x=200, y=0)


def around(x: float, y: float, width: float = NODE_WIDTH, height: float = NODE_HEIGHT) -> NDArray[np.bool_]:
    """The pixels that a node there can touch, its frame included."""
    half_width, half_height = width / 2 + 2 * MARK_GAP, height / 2 + 2 * MARK_GAP
    columns = np.arange(WIDTH) * UNITS_PER_PIXEL - 400
    rows = 300 - np.arange(HEIGHT) * UNITS_PER_PIXEL
    return (abs(rows - y) <= half_height)[:, np.newaxis] & (abs(columns - x) <= half_width)[np.newaxis, :]


async def nodes(graph: SurfaceTrial, **criteria: Any) -> dict[str, dict[str, Any]]:
    return {node["id"]: node for node in (await graph("inspect", **criteria))["nodes"]}


async def edges(graph: SurfaceTrial) -> list[dict[str, Any]]:
    return (await graph("inspect", show="edges"))["edges"]


async def svg(graph: SurfaceTrial) -> str:
    response = await graph.engine.request("GET", "/api/view.svg")
    assert response.status == 200
    return response.body.decode()


async def test_every_tool_of_the_table_is_on_offer_and_the_dangerous_ones_only_when_turned_on(
    graph: SurfaceTrial,
) -> None:
    everything = await graph.tool_names()
    assert everything == {
        *("add_node", "load_node", "layout", "remove_nodes", "add_edge", "focus_node", "open_node", "search_nodes"),
        *("inspect", "create_identity", "get_state", "restore_state"),
    }
    await graph.override("graph-state-tools", "auto")
    assert await graph.tool_names() == everything - {"get_state", "restore_state"}
    assert "graph-state-tools" in await graph.refused("restore_state", state={"nodes": [], "edges": []})


async def test_a_node_is_on_the_map_where_it_was_put_and_holds_what_it_was_given(graph: SurfaceTrial) -> None:
    change = await graph.change(
        "add_node", label="Ada Lovelace", kind="person", content="First.", data={"born": 1815}, x=100, y=100
    )
    (node,) = (await nodes(graph, include_data=True)).values()
    assert (node["id"], node["kind"], node["label"]) == (change.result["id"], "person", "Ada Lovelace")
    assert (node["x"], node["y"], node["data"]) == (100, 100, {"born": 1815})
    assert change.changed_pixels.any()
    assert not change.changed_pixels[~around(100, 100)].any()
    assert "Ada Lovelace" in await svg(graph)


async def test_a_file_of_the_workspace_is_loaded_onto_the_map_and_its_content_is_not(
    graph: SurfaceTrial, tmp_path: Path
) -> None:
    (tmp_path / "workspace" / "notes.txt").write_text("secret", encoding="utf-8")
    change = await graph.change("load_node", id="file:notes.txt", x=0, y=-150)
    assert change.result["loaded"] is True
    (node,) = (await nodes(graph, include_data=True)).values()
    assert (node["kind"], node["data"]["size_bytes"]) == ("file", 6)
    assert change.changed_pixels.any()
    assert not change.changed_pixels[~around(0, -150)].any()
    seen = await svg(graph)
    assert "notes.txt" in seen
    assert "secret" not in seen + str(change)


async def test_a_node_of_another_world_is_loaded_as_it_was(graph: SurfaceTrial) -> None:
    await graph("add_node", label="Ada", data={"born": 1815})
    home = (await graph.context())["world_id"]
    await graph.override("general-world-tools", "on")
    await graph.app("create_world", name="other")
    change = await graph.change("load_node", id=f"world:{home}/{ADA}", x=0, y=0)
    (node,) = (await nodes(graph, include_data=True)).values()
    assert (node["id"], node["label"]) == (f"world:{home}/{ADA}", "Ada")
    assert node["data"]["born"] == 1815 or node["data"]["data"]["born"] == 1815
    assert change.changed_pixels[around(0, 0)].any()


async def test_removed_nodes_go_with_their_edges_and_can_be_loaded_again(graph: SurfaceTrial) -> None:
    await two_nodes(graph)
    alone = await graph.picture()
    await graph("add_edge", **{"from": ADA, "to": BOB, "label": "knows"})
    change = await graph.change("remove_nodes", ids=[BOB])
    assert list(await nodes(graph)) == [ADA]
    assert await edges(graph) == []
    assert change.changed_pixels[around(200, 0)].any()
    assert not change.changed_pixels[~(around(200, 0) | around(0, 0, width=400))].any()
    await graph.change("load_node", id=BOB)
    assert (await nodes(graph))[BOB]["label"] == "Bob"
    await graph("focus_node", id=BOB)
    focused = await graph.picture()
    assert np.array_equal(focused[around(-200, 0)], alone[around(-200, 0)])


async def test_an_edge_leads_from_one_node_to_the_other(graph: SurfaceTrial) -> None:
    await two_nodes(graph)
    change = await graph.change("add_edge", **{"from": ADA, "to": BOB, "label": "knows"})
    assert change.result["created"] is True
    assert await edges(graph) == [{"id": f"{ADA}->{BOB}", "source": ADA, "target": BOB, "label": "knows"}]
    between = around(0, 0, width=200)
    assert change.changed_pixels[between].any()
    assert not change.changed_pixels[~between & ~around(-200, 0) & ~around(200, 0)].any()
    assert "knows" in await svg(graph)
    renamed = await graph.change("add_edge", **{"from": ADA, "to": BOB, "label": "admires"})
    assert renamed.result["created"] is False
    assert [edge["label"] for edge in await edges(graph)] == ["admires"]


@pytest.mark.parametrize("tool", ["focus_node", "open_node"])
async def test_a_node_in_focus_is_framed_and_known_to_the_context_and_no_step_of_the_history(
    graph: SurfaceTrial, tool: str
) -> None:
    await two_nodes(graph)
    await graph("focus_node", id=ADA)
    before = await graph.picture()
    result = await graph(tool, id=BOB)
    assert (result["id"], result["loaded"], result["changed"]) == (BOB, False, True)
    assert (await graph("inspect"))["selected_ids"] == [BOB]
    assert (await graph.state())["focused_node_key"] == BOB
    assert (await graph.state()).get("opened_node_key") == (BOB if tool == "open_node" else None)
    assert (await graph.context())["selection_kind"] == "graph-node"
    changed = np.any(await graph.picture() != before, axis=2)
    assert changed[around(-200, 0)].any()
    assert changed[around(200, 0)].any()
    assert not changed[~(around(-200, 0) | around(200, 0))].any()
    assert (await graph.app("undo"))["step"] == "add node"
    assert list(await nodes(graph)) == [ADA]
    assert (await graph("inspect"))["selected_ids"] == []
    assert "selection_kind" not in await graph.context()


async def test_an_opened_node_is_given_with_its_edges(graph: SurfaceTrial) -> None:
    await two_nodes(graph)
    await graph("add_edge", **{"from": ADA, "to": BOB, "label": "knows"})
    opened = await graph("open_node", id=BOB)
    assert (opened["incoming_count"], opened["outgoing_count"]) == (1, 0)
    assert (opened["incoming"][0]["label"], opened["outgoing"]) == ("knows", [])


async def test_nodes_are_found_by_what_they_say_even_misspelled_and_nothing_changes(graph: SurfaceTrial) -> None:
    await graph("add_node", label="Analytical engine", content="punched cards")
    await graph("add_node", label="Difference engine")
    picture, revision = await graph.picture(), await graph.revision()
    found = await graph("search_nodes", query="anlytical")
    assert [node["id"] for node in found["nodes"]] == [ADA]
    first = await graph("search_nodes", query="engine", limit=1)
    second = await graph("search_nodes", query="engine", limit=1, offset=first["next"])
    assert first["total"] == second["total"] == 2
    assert {first["nodes"][0]["id"], second["nodes"][0]["id"]} == {ADA, BOB}
    assert [node["id"] for node in (await graph("search_nodes", query="punched"))["nodes"]] == [ADA]
    assert (await graph("search_nodes", query="zebra"))["nodes"] == []
    assert await graph.revision() == revision
    assert np.array_equal(await graph.picture(), picture)


async def test_inspect_gives_what_is_there_page_by_page(graph: SurfaceTrial) -> None:
    for number in range(5):
        await graph("add_node", label=f"n{number}", kind="topic" if number else "person", x=number * 100, y=0)
    picture, revision = await graph.picture(), await graph.revision()
    summary = await graph("inspect", show="summary")
    assert (summary["node_count"], summary["kinds"]) == (5, {"person": 1, "topic": 4})
    first = await graph("inspect", limit=3)
    rest = await graph("inspect", limit=3, offset=first["next"])
    assert [node["label"] for page in (first, rest) for node in page["nodes"]] == ["n0", "n1", "n2", "n3", "n4"]
    assert "next" not in rest
    assert len(await nodes(graph, kind="person")) == 1
    within = await nodes(graph, bounds={"left": 150, "bottom": -10, "right": 350, "top": 10})
    assert [node["label"] for node in within.values()] == ["n2", "n3"]
    assert await graph.revision() == revision
    assert np.array_equal(await graph.picture(), picture)


async def test_an_identity_is_shared_by_nodes_and_made_only_once(graph: SurfaceTrial) -> None:
    await two_nodes(graph)
    change = await graph.change("create_identity", name="The Countess", role="author", nodes=[ADA, BOB])
    identity = change.result["id"]
    assert identity.startswith("identity:")
    sharing = await nodes(graph, identity=identity)
    assert {ADA, BOB} <= set(sharing)
    assert change.changed_pixels.any()
    assert "The Countess" in await svg(graph)
    again = await graph("create_identity", name="the  countess")
    assert again["id"] == identity
    assert len([node for node in await nodes(graph) if node.startswith("identity:")]) == 1


@pytest.mark.parametrize("method", ["auto", "layered", "force", "grid"])
async def test_a_layout_moves_nodes_apart_and_is_seen(graph: SurfaceTrial, method: str) -> None:
    for number in range(6):
        await graph("add_node", label=f"n{number}", x=10 * number, y=0)
    for number in range(2, 7):
        await graph("add_edge", **{"from": ADA, "to": f"string-entity:node-{number}"})
    change = await graph.change("layout", method=method)
    assert change.result["moved_count"] > 0
    places = [(node["x"], node["y"]) for node in (await nodes(graph)).values()]
    apart = [abs(a[0] - b[0]) >= 84 or abs(a[1] - b[1]) >= NODE_HEIGHT for a in places for b in places if a is not b]
    assert all(apart)
    assert change.changed_pixels.any()


async def test_a_restored_state_is_exactly_the_one_that_was_taken(graph: SurfaceTrial) -> None:
    await two_nodes(graph)
    await graph("add_edge", **{"from": ADA, "to": BOB, "label": "knows"})
    await graph("create_identity", name="Countess", nodes=[ADA])
    await graph("open_node", id=ADA)
    taken, picture = await graph.state(), await graph.picture()
    await graph("remove_nodes", ids=[ADA])
    await graph("add_node", label="Intruder", x=0, y=200)
    change = await graph.change("restore_state", state=taken)
    assert change.after == taken
    assert np.array_equal(change.picture_after, picture)
    assert "Intruder" not in await svg(graph)


async def test_who_restores_the_whole_answer_is_told_to_pass_its_state(graph: SurfaceTrial) -> None:
    answer = await graph("get_state")
    assert 'inside its "state": pass that alone' in await graph.refused("restore_state", state=answer)


async def test_a_state_can_be_restored_in_another_world(graph: SurfaceTrial) -> None:
    await two_nodes(graph)
    await graph("add_edge", **{"from": BOB, "to": ADA})
    taken, picture = await graph.state(), await graph.picture()
    await graph.override("general-world-tools", "on")
    await graph.app("create_world", name="other")
    change = await graph.change("restore_state", state=taken)
    assert change.after == taken
    assert np.array_equal(change.picture_after, picture)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("add_node", {"label": "x"}),
        ("load_node", {"id": "file:notes.txt"}),
        ("layout", {}),
        ("remove_nodes", {"ids": [ADA]}),
        ("add_edge", {"from": ADA, "to": BOB}),
        ("focus_node", {"id": ADA}),
        ("open_node", {"id": ADA}),
        ("create_identity", {"name": "x"}),
        ("restore_state", {"state": {"nodes": [], "edges": []}}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_write_that_is_based_on_an_old_revision_is_refused_and_on_the_present_one_done(
    graph: SurfaceTrial, tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    (tmp_path / "workspace" / "notes.txt").touch()
    await two_nodes(graph)
    before, revision = await graph.state(), await graph.revision()
    assert f"revision {revision}" in await graph.refused(tool, **arguments, base_revision=revision - 1)
    assert await graph.state() == before
    await graph(tool, **arguments, base_revision=revision)
    assert await graph.revision() >= revision


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("add_node", {"label": ""}, "label"),
        ("add_node", {"label": "x", "kind": "Not A Kind"}, "kind"),
        ("add_node", {"label": "x", "x": 1e300}, "x"),
        ("add_node", {"label": "x", "identity": "identity:nobody"}, "identity"),
        ("load_node", {"id": "file:../outside"}, "outside"),
        ("load_node", {"id": "file:missing.txt"}, "missing.txt"),
        ("load_node", {"id": "world:world-9/x"}, "world-9"),
        ("remove_nodes", {"ids": [ADA, "string-entity:node-9"]}, "node-9"),
        ("add_edge", {"from": ADA, "to": "string-entity:node-9"}, "node-9"),
        ("focus_node", {"id": "nothing"}, "nothing"),
        ("open_node", {"id": "string-entity:node-9"}, "node-9"),
        ("search_nodes", {"query": ""}, "query"),
        ("inspect", {"limit": 201}, "limit"),
        ("create_identity", {"name": "  "}, "name"),
        ("layout", {"method": "spiral"}, "method"),
        ("restore_state", {"state": {"nodes": [], "edges": [{"source": ADA, "target": BOB}]}}, "edges"),
    ],
)
async def test_what_cannot_be_is_refused_with_its_reason_and_nothing_changes(
    graph: SurfaceTrial, tool: str, arguments: dict[str, Any], reason: str
) -> None:
    await two_nodes(graph)
    before = await graph.state()
    assert reason in await graph.refused(tool, **arguments)
    assert await graph.state() == before
