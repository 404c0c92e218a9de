"""The tool that shows a graph to a model: a summary first, then a page of nodes or edges, within bounds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from engine.errors import InvalidArgumentError
from engine.graph.inspect import GraphSummary, InspectEdges, InspectNodes, NodeEntry
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App, Done
from presets.builtins.bounds_result import BoundsResult
from presets.builtins.drawing_tools.arguments import BoxArgument
from presets.builtins.graph_tools.arguments import ID_HELP, KindWord, NodeId
from presets.builtins.graph_tools.results import (
    PAGE_BUDGET,
    EdgeResult,
    NodeResult,
    data_of,
    excerpt_of,
    members_of,
)
from presets.builtins.page import MAX_PAGE_ENTRIES, PageArguments, within_budget
from presets.schema import ToolResult
from protocol.tool import ToolCall

SHOWN_KINDS = 60
"""Kinds that the summary counts; the most frequent ones."""
SHOWN_SELECTED = 20
"""Selected nodes that the summary names."""


class InspectArguments(PageArguments):
    """What to look at."""

    show: Literal["nodes", "edges", "summary"] = "nodes"
    ids: Annotated[list[NodeId], Field(max_length=MAX_PAGE_ENTRIES)] | None = Field(
        None, description="Only these nodes."
    )
    kind: KindWord | None = Field(None, description="Only nodes of this kind.")
    bounds: BoxArgument | None = Field(
        None, description="Box {left,bottom,right,top} or {x,y,width,height}; only nodes whose middle is in it."
    )
    identity: NodeId | None = Field(None, description="Only nodes that share this identity.")
    node: NodeId | None = Field(None, description=f"With show: edges, only those of this node. {ID_HELP}")
    include_data: bool = Field(False, description="Also content and data of each node, whole.")


class InspectedNode(NodeResult):
    """A node with the number of edges that end and begin at it. `excerpt` is the beginning of its content."""

    incoming_count: int
    outgoing_count: int
    excerpt: str | None = None
    content: str | None = None
    data: dict[str, Any] | None = None


class InspectResult(ToolResult):
    """The map. `total` counts the nodes or edges that meet the filters; `next` is the offset of the page after this.

    `kinds` counts the nodes of each kind, `other_kinds` the kinds that are left out of it.
    """

    revision: int
    node_count: int
    edge_count: int
    kinds: dict[str, int]
    other_kinds: int
    bounds: BoundsResult | None
    focused_id: str | None
    opened_id: str | None
    selected_count: int
    selected_ids: list[str]
    total: int
    nodes: list[InspectedNode]
    edges: list[EdgeResult]
    next: int | None


def adapters() -> tuple[ToolAdapter, ...]:
    """`graph.inspect`."""
    return (
        typed_adapter(
            id="graph.inspect",
            mcp_name="space_graph_inspect",
            title="Inspect the graph",
            description="Look at the map: how much there is of what, what is in focus, and a page of its nodes or its "
            "edges in the order in which they came. Filters combine; when `next` is present there are more: call again "
            "with it as offset. +x moves right, +y moves up.",
            arguments=InspectArguments,
            result=InspectResult,
            run=_inspect,
            read_only=True,
            idempotent=True,
        ),
    )


async def _inspect(app: App, arguments: InspectArguments, call: ToolCall) -> InspectResult:
    del call
    _refuse_what_does_not_fit(arguments)
    if arguments.show == "edges":
        seen = await app.execute(InspectEdges(node=arguments.node, offset=arguments.offset, limit=arguments.limit))
        edges = list(within_budget(map(EdgeResult.of, seen.result.edges), PAGE_BUDGET))
        return _written(seen, seen.result.summary, arguments, seen.result.total, edges=edges)
    command = InspectNodes(
        keys=None if arguments.ids is None else tuple(arguments.ids),
        kind=arguments.kind,
        bounds=None if arguments.bounds is None else arguments.bounds.value(),
        identity=arguments.identity,
        offset=arguments.offset,
        limit=0 if arguments.show == "summary" else arguments.limit,
    )
    done = await app.execute(command)
    written = (_node(entry, whole=arguments.include_data) for entry in done.result.nodes)
    return _written(
        done, done.result.summary, arguments, done.result.total, nodes=list(within_budget(written, PAGE_BUDGET))
    )


def _refuse_what_does_not_fit(arguments: InspectArguments) -> None:
    of_nodes = [name for name in ("ids", "kind", "bounds", "identity") if getattr(arguments, name) is not None]
    if arguments.show == "edges" and (of_nodes or arguments.include_data):
        given = ", ".join([*of_nodes, *(["include_data"] if arguments.include_data else [])])
        raise InvalidArgumentError(f"{given}: for nodes only; edges are filtered by node.")
    if arguments.show != "edges" and arguments.node is not None:
        raise InvalidArgumentError("node filters edges: give show: 'edges' with it, or ids to see nodes.")


def _written(
    done: Done[Any],
    summary: GraphSummary,
    arguments: InspectArguments,
    total: int,
    *,
    nodes: list[InspectedNode] | None = None,
    edges: list[EdgeResult] | None = None,
) -> InspectResult:
    focus = summary.focus
    by_count = sorted(summary.kinds, key=lambda kind: (-kind[1], kind[0]))
    end = arguments.offset + len(nodes or edges or ())
    return InspectResult(
        revision=done.revision,
        node_count=summary.node_count,
        edge_count=summary.edge_count,
        kinds=dict(by_count[:SHOWN_KINDS]),
        other_kinds=max(0, len(by_count) - SHOWN_KINDS),
        bounds=None if summary.bounds is None else BoundsResult.of(summary.bounds),
        focused_id=focus.focused,
        opened_id=focus.opened,
        selected_count=len(focus.selected),
        selected_ids=list(focus.selected[:SHOWN_SELECTED]),
        total=total,
        nodes=nodes or [],
        edges=edges or [],
        next=end if (nodes or edges) and end < total else None,
    )


def _node(entry: NodeEntry, *, whole: bool) -> InspectedNode:
    node = entry.node
    return InspectedNode(
        **members_of(node),
        incoming_count=entry.incoming_count,
        outgoing_count=entry.outgoing_count,
        excerpt=None if whole else excerpt_of(node.content),
        content=(node.content or None) if whole else None,
        data=data_of(node) if whole else None,
    )
