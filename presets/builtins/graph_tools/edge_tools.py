"""The tool that connects nodes."""

from __future__ import annotations

from pydantic import Field

from engine.graph.edges import AddEdge
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.graph_tools.arguments import LOAD_HELP, EdgeLabelText, NodeId
from presets.builtins.graph_tools.loading import load
from presets.builtins.graph_tools.results import EdgeResult
from presets.schema import WriteArguments
from protocol.tool import ToolCall


class AddEdgeArguments(WriteArguments):
    """From where to where."""

    from_: NodeId = Field(alias="from", description=LOAD_HELP)
    to: NodeId = Field(description="Id of a node, as in from. May be the same node.")
    label: EdgeLabelText = Field("", description="What the edge means, such as 'depends on'.")


class AddEdgeResult(EdgeResult):
    """The edge. Where one led from source to target already, `created` is false and `previous_label` was its label.

    `loaded_ids` are the ends that had to be brought onto the map.
    """

    created: bool
    previous_label: str | None = None
    loaded_ids: list[str]
    changed: bool
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """`graph.add-edge`."""
    return (
        typed_adapter(
            id="graph.add-edge",
            mcp_name="space_graph_add_edge",
            title="Add an edge",
            description="Connect two nodes with a directed edge. There is one edge from a node to another: a second "
            "call for the same two gives it the new label.",
            arguments=AddEdgeArguments,
            result=AddEdgeResult,
            run=_add_edge,
            idempotent=True,
        ),
    )


async def _add_edge(app: App, arguments: AddEdgeArguments, call: ToolCall) -> AddEdgeResult:
    del call
    source, from_source = await load(app, arguments.from_, "from")
    target, from_target = await load(app, arguments.to, "to")
    sources = {loaded.key: loaded for loaded in (from_source, from_target) if loaded is not None}
    done = await app.execute(AddEdge(source=source, target=target, edge_label=arguments.label, sources=sources))
    made = done.result
    return AddEdgeResult(
        id=made.edge.id,
        source=made.edge.source,
        target=made.edge.target,
        label=made.edge.label,
        created=made.previous_label is None,
        previous_label=made.previous_label,
        loaded_ids=list(dict.fromkeys(made.loaded)),
        changed=done.changed,
        revision=done.revision,
    )
