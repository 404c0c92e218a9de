"""The tools that give the whole map as JSON and put it back, exactly."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from engine.errors import InvalidArgumentError
from engine.graph.records import GraphEdge, GraphNode
from engine.graph.state import (
    MAX_SELECTED,
    MAX_STATE_EDGES,
    MAX_STATE_NODES,
    EdgeState,
    GetState,
    NodeState,
    RestoreState,
)
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.graph_tools.arguments import (
    ContentText,
    Coordinate,
    EdgeLabelText,
    KindWord,
    LabelText,
    NodeId,
)
from presets.builtins.graph_tools.results import PAGE_BUDGET, data_of
from presets.builtins.page import PageArguments, within_budget
from presets.schema import ToolResult, WriteArguments
from protocol.tool import ToolCall

MAX_PAGE = 1_000
"""Most entries of one page of a state; their bytes usually end it earlier."""


class StateNode(ToolResult):
    """A node of a state."""

    id: NodeId
    kind: KindWord
    label: LabelText
    x: Coordinate
    y: Coordinate
    content: ContentText | None = None
    data: dict[str, Any] | None = None
    identity: NodeId | None = None


class StateEdge(ToolResult):
    """An edge of a state."""

    source: NodeId
    target: NodeId
    label: EdgeLabelText = ""


class GraphState(ToolResult):
    """A map, or a page of it. `node_count` and `edge_count` are those of the whole map."""

    nodes: Annotated[list[StateNode], Field(max_length=MAX_STATE_NODES)]
    edges: Annotated[list[StateEdge], Field(max_length=MAX_STATE_EDGES)]
    selected_node_keys: Annotated[list[NodeId], Field(max_length=MAX_SELECTED, default_factory=list)]
    focused_node_key: NodeId | None = None
    opened_node_key: NodeId | None = None
    node_count: Annotated[int, Field(ge=0)] | None = None
    edge_count: Annotated[int, Field(ge=0)] | None = None


class GetStateArguments(PageArguments):
    """Which page."""

    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = Field(MAX_PAGE, description="Nodes and edges per page, together.")


class GetStateResult(ToolResult):
    """The state. Where `next` is present it is a page: join the nodes and the edges of all pages before restoring."""

    state: GraphState
    next: int | None
    revision: int


class RestoreStateArguments(WriteArguments):
    """The map as it shall be."""

    state: GraphState = Field(description="As space_graph_get_state gives it, all pages joined.")


class RestoreStateResult(ToolResult):
    """What the map holds now, and how many nodes went off it."""

    node_count: int
    edge_count: int
    removed_count: int
    changed: bool
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """`graph.get-state` and `graph.restore-state`."""
    return (
        typed_adapter(
            id="graph.get-state",
            mcp_name="space_graph_get_state",
            title="Get the state of the graph",
            description="Give the whole map as JSON that restores exactly: nodes with all that is in them, edges, "
            "selection and focus. Large maps come in pages: nodes first, then edges.",
            arguments=GetStateArguments,
            result=GetStateResult,
            run=_get_state,
            read_only=True,
            idempotent=True,
        ),
        typed_adapter(
            id="graph.restore-state",
            mcp_name="space_graph_restore_state",
            title="Restore the state of the graph",
            description="Make the map exactly what the state says, whatever is on it now. One step to undo.",
            arguments=RestoreStateArguments,
            result=RestoreStateResult,
            run=_restore_state,
            idempotent=True,
        ),
    )


async def _get_state(app: App, arguments: GetStateArguments, call: ToolCall) -> GetStateResult:
    del call
    done = await app.execute(GetState(offset=arguments.offset, limit=arguments.limit))
    page = done.result
    nodes: list[StateNode] = []
    edges: list[StateEdge] = []
    for entry in within_budget((*map(_node, page.nodes), *map(_edge, page.edges)), PAGE_BUDGET):
        if isinstance(entry, StateNode):
            nodes.append(entry)
        else:
            edges.append(entry)
    end = arguments.offset + len(nodes) + len(edges)
    focus = page.focus
    state = GraphState(
        nodes=nodes,
        edges=edges,
        selected_node_keys=list(focus.selected),
        focused_node_key=focus.focused,
        opened_node_key=focus.opened,
        node_count=page.node_count,
        edge_count=page.edge_count,
    )
    is_more = bool(nodes or edges) and end < page.node_count + page.edge_count
    return GetStateResult(state=state, next=end if is_more else None, revision=done.revision)


async def _restore_state(app: App, arguments: RestoreStateArguments, call: ToolCall) -> RestoreStateResult:
    del call
    state = arguments.state
    for name, expected, given in (
        ("nodes", state.node_count, len(state.nodes)),
        ("edges", state.edge_count, len(state.edges)),
    ):
        if expected is not None and expected != given:
            raise InvalidArgumentError(
                f"The state says that it has {expected} {name}, but holds {given}: it is a page, or was cut. "
                f"Join the {name} of all pages, or correct {name[:-1]}_count."
            )
    command = RestoreState(
        nodes=[_node_state(node) for node in state.nodes],
        edges=[EdgeState(source=edge.source, target=edge.target, label=edge.label) for edge in state.edges],
        selected=tuple(state.selected_node_keys),
        focused=state.focused_node_key,
        opened=state.opened_node_key,
    )
    done = await app.execute(command)
    made = done.result
    return RestoreStateResult(
        node_count=made.node_count,
        edge_count=made.edge_count,
        removed_count=made.removed_count,
        changed=done.changed,
        revision=done.revision,
    )


def _node(node: GraphNode) -> StateNode:
    return StateNode(
        id=node.id,
        kind=node.kind,
        label=node.label,
        x=node.position.x,
        y=node.position.y,
        content=node.content or None,
        data=data_of(node),
        identity=node.identity,
    )


def _edge(edge: GraphEdge) -> StateEdge:
    return StateEdge(source=edge.source, target=edge.target, label=edge.label)


def _node_state(node: StateNode) -> NodeState:
    return NodeState(
        id=node.id,
        kind=node.kind,
        label=node.label,
        position=(node.x, node.y),
        content=node.content or "",
        data=node.data or {},
        identity=node.identity,
    )
