"""The records of a graph: nodes, edges, and what is being looked at. Owns their form alone.

Positions are graph units with +y up. Commands keep what is said here, so readers need not check again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.drawing.geometry import Point
from engine.records import Record

NO_DATA = "{}"
"""The data of a node that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode(Record):
    """A node. Its id is its key, such as `string-entity:node-1`; the part before the colon says where it comes from.

    `data` is a JSON object as canonical text, so that equal data is equal text. `identity` is the key of the identity
    that it shares with others; that identity need not be there. Nodes are listed in ascending `order`.
    """

    collection: ClassVar[str] = "graph.node"
    kind: str
    label: str
    content: str = ""
    data: str = NO_DATA
    position: Point
    order: int
    identity: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptNode(Record):
    """A string entity or an identity that was taken off the map: what it was, for loading it again. It has no edges."""

    collection: ClassVar[str] = "graph.kept"
    kind: str
    label: str
    content: str = ""
    data: str = NO_DATA
    position: Point
    identity: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdge(Record):
    """A directed edge between two nodes of the map; its label is its type, and may be empty.

    Its id is `<source>-><target>`, so each ordered pair has at most one. Edges are listed in ascending `order`.
    """

    collection: ClassVar[str] = "graph.edge"
    source: str
    target: str
    label: str = ""
    order: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFocus(Record):
    """What is being looked at: the selected nodes, the one in focus, and the one that is open. There is one.

    It may name what is gone; read it through `engine.graph.document.focus_of`.
    """

    collection: ClassVar[str] = "graph.focus"
    id: str = "focus"
    selected: tuple[str, ...] = ()
    focused: str | None = None
    opened: str | None = None


RECORD_TYPES: tuple[type[Record], ...] = (GraphNode, KeptNode, GraphEdge, GraphFocus)
"""Every class of record that a graph keeps."""


def edge_id(source: str, target: str) -> str:
    """The id of the edge from one key to another."""
    return f"{source}->{target}"
