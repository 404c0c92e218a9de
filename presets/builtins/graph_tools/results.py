"""The values that several graph tools answer with. Owns how a graph is written down for a model, and how much of it."""

from __future__ import annotations

from typing import Any

from engine.graph.records import NO_DATA, GraphEdge, GraphNode
from engine.graph.words import data_value
from presets.builtins.bounds_result import shown
from presets.schema import ToolResult

PAGE_BUDGET = 24 * 1024
"""Bytes of JSON for the entries of one page. The whole answer stays below 40 KiB, which clients pass on uncut."""
EXCERPT_LENGTH = 160
"""Characters of a content that a list shows; opening a node shows all of it."""


class NodeResult(ToolResult):
    """A node: where its middle is, and the identity that it shares, if any."""

    id: str
    kind: str
    label: str
    x: float
    y: float
    identity: str | None = None

    @classmethod
    def of(cls, node: GraphNode) -> NodeResult:
        """Write a node down, without its content and data."""
        return cls(**members_of(node))


class EdgeResult(ToolResult):
    """A directed edge."""

    id: str
    source: str
    target: str
    label: str

    @classmethod
    def of(cls, edge: GraphEdge) -> EdgeResult:
        """Write an edge down."""
        return cls(id=edge.id, source=edge.source, target=edge.target, label=edge.label)


def members_of(node: GraphNode) -> dict[str, Any]:
    """The members of `NodeResult`."""
    return {
        "id": node.id,
        "kind": node.kind,
        "label": node.label,
        "x": shown(node.position.x),
        "y": shown(node.position.y),
        "identity": node.identity,
    }


def data_of(node: GraphNode) -> dict[str, Any] | None:
    """The data of a node, or None where it has none."""
    return None if node.data == NO_DATA else data_value(node.data)


def excerpt_of(content: str) -> str | None:
    """The beginning of a content, in one line; None where there is none."""
    if len(content) <= EXCERPT_LENGTH:
        return content or None
    return content[: EXCERPT_LENGTH - 1] + "…"
