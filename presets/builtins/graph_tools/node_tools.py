"""The tools that bring nodes onto the map, take them off it and arrange them."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Annotated, Any

from pydantic import Field

from engine.drawing.geometry import Point
from engine.errors import InvalidArgumentError
from engine.graph.arrange import ApplyLayout, TakeMap
from engine.graph.layout import Method, arranged, parts_of, together
from engine.graph.nodes import STRING_ENTITY, AddNode, LoadNode, RemoveNodes
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.bounds_result import BoundsResult
from presets.builtins.graph_tools.arguments import (
    LOAD_HELP,
    PLACE_HELP,
    ContentText,
    Coordinate,
    KindWord,
    LabelText,
    NodeId,
    position_of,
)
from presets.builtins.graph_tools.loading import load
from presets.builtins.graph_tools.results import NodeResult, members_of
from presets.schema import ToolResult, WriteArguments
from protocol.tool import ToolCall

MAX_REMOVED = 1_000
"""Nodes that one call takes off the map."""
NAMED_IDS = 50
"""Ids that an answer lists before it only counts."""
BATCH_NODES = 500
"""Nodes that are arranged between two reports of progress."""


class AddNodeArguments(WriteArguments):
    """The new node."""

    label: LabelText = Field(description="What is written on it: one line.")
    kind: KindWord = Field(STRING_ENTITY, description="A word for what it is, such as 'person'; gives it its color.")
    content: ContentText | None = Field(
        None, description="Text of any length up to the limit; shown when it is opened."
    )
    data: dict[str, Any] | None = Field(None, description="JSON object of further facts, up to 8 KiB.")
    x: Coordinate | None = Field(None, description=PLACE_HELP)
    y: Coordinate | None = None
    identity: NodeId | None = Field(None, description="Identity that it shares, such as identity:identity-1.")


class AddNodeResult(NodeResult):
    """The new node."""

    revision: int


class LoadNodeArguments(WriteArguments):
    """Which node."""

    id: NodeId = Field(description=LOAD_HELP)
    x: Coordinate | None = Field(None, description=PLACE_HELP)
    y: Coordinate | None = None
    refresh: bool = Field(False, description="true takes over what a file or a node of another world is like now.")


class LoadNodeResult(NodeResult):
    """The node. `loaded` is false when it was on the map as it is now."""

    loaded: bool
    revision: int


class RemoveNodesArguments(WriteArguments):
    """Which nodes."""

    ids: Annotated[list[NodeId], Field(min_length=1, max_length=MAX_REMOVED)] = Field(
        description="Nodes of the map. All of them must be there, or none is removed."
    )


class RemoveNodesResult(ToolResult):
    """What went off the map; `removed_ids` are the first of them."""

    removed_count: int
    removed_ids: list[str]
    removed_edge_count: int
    revision: int


class LayoutArguments(WriteArguments):
    """How to arrange."""

    method: Method = Field(
        "auto",
        description="auto chooses for each connected part. layered: edges lead down. force: neighbors are near. "
        "grid: rows.",
    )


class LayoutResult(ToolResult):
    """How many nodes have another place now, and the box around all of them."""

    moved_count: int
    node_count: int
    bounds: BoundsResult
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """`graph.add-node`, `graph.load-node`, `graph.layout` and `graph.remove-nodes`."""
    return (
        typed_adapter(
            id="graph.add-node",
            mcp_name="space_graph_add_node",
            title="Add a node",
            description="Make a new node with a label, a kind, a text and data, and show it on the map, at a free "
            "place unless one is given. Returns its id.",
            arguments=AddNodeArguments,
            result=AddNodeResult,
            run=_add_node,
        ),
        typed_adapter(
            id="graph.load-node",
            mcp_name="space_graph_load_node",
            title="Load a node",
            description="Bring a node onto the map by its id, and focus it: a file or folder of the workspace, a node "
            "of another world, or one that was taken off the map.",
            arguments=LoadNodeArguments,
            result=LoadNodeResult,
            run=_load_node,
        ),
        typed_adapter(
            id="graph.layout",
            mcp_name="space_graph_layout",
            title="Arrange the map",
            description="Move all nodes so that the map can be read: connected ones together, none over another. "
            "One step to undo.",
            arguments=LayoutArguments,
            result=LayoutResult,
            run=_layout,
        ),
        typed_adapter(
            id="graph.remove-nodes",
            mcp_name="space_graph_remove_nodes",
            title="Remove nodes",
            description="Take nodes off the map, with the edges that touch them. What they stand for stays: files are "
            "untouched, and space_graph_load_node brings a node back, without edges.",
            arguments=RemoveNodesArguments,
            result=RemoveNodesResult,
            run=_remove_nodes,
        ),
    )


async def _add_node(app: App, arguments: AddNodeArguments, call: ToolCall) -> AddNodeResult:
    del call
    command = AddNode(
        title=arguments.label,
        kind=arguments.kind,
        content=arguments.content or "",
        data=arguments.data or {},
        position=position_of(arguments.x, arguments.y),
        identity=arguments.identity,
    )
    done = await app.execute(command)
    return AddNodeResult(**members_of(done.result), revision=done.revision)


async def _load_node(app: App, arguments: LoadNodeArguments, call: ToolCall) -> LoadNodeResult:
    del call
    position = position_of(arguments.x, arguments.y)
    key, loaded = await load(app, arguments.id, refresh=arguments.refresh)
    if arguments.refresh and loaded is None:
        raise InvalidArgumentError("refresh is for file: and world: nodes; this world keeps the others itself.")
    done = await app.execute(LoadNode(key=key, loaded=loaded, position=position, refresh=arguments.refresh))
    return LoadNodeResult(**members_of(done.result.node), loaded=done.result.loaded, revision=done.revision)


async def _remove_nodes(app: App, arguments: RemoveNodesArguments, call: ToolCall) -> RemoveNodesResult:
    del call
    done = await app.execute(RemoveNodes(tuple(arguments.ids)))
    removed = done.result
    return RemoveNodesResult(
        removed_count=len(removed.nodes),
        removed_ids=list(removed.nodes[:NAMED_IDS]),
        removed_edge_count=removed.edge_count,
        revision=done.revision,
    )


async def _layout(app: App, arguments: LayoutArguments, call: ToolCall) -> LayoutResult:
    snapshot = (await app.execute(TakeMap())).result
    parts = await app.in_thread(partial(parts_of, snapshot))
    places: list[list[Point]] = []
    total, since_told = len(snapshot.nodes), 0
    for part in parts:
        places.append(await app.in_thread(partial(arranged, part, arguments.method)))
        since_told += len(part.nodes)
        if since_told >= BATCH_NODES:
            since_told = 0
            await call.progress(sum(map(len, places)), total, "nodes arranged")
    positions = [Point(0.0, 0.0)] * total
    whole = await app.in_thread(partial(together, places))
    for node, place in zip(chain.from_iterable(part.nodes for part in parts), chain.from_iterable(whole), strict=True):
        positions[node] = place
    done = await app.execute(ApplyLayout(snapshot, tuple(positions)))
    made = done.result
    return LayoutResult(
        moved_count=made.moved_count,
        node_count=made.node_count,
        bounds=BoundsResult.of(made.bounds),
        revision=done.revision,
    )
