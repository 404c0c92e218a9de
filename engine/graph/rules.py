"""What every record of a graph keeps, checked on records that came from elsewhere. Owns the check alone.

The limits are those of the commands. There is no series of ids: a new node never gets a key that is there.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.drawing.geometry import Point, checked_number
from engine.drawing.rules import MAX_ORDER
from engine.errors import InvalidArgumentError
from engine.graph.keys import check_kept_node, is_entity, is_identity, parse_key
from engine.graph.records import GraphEdge, GraphFocus, GraphNode, KeptNode, edge_id
from engine.graph.state import MAX_SELECTED
from engine.graph.words import (
    canonical_data,
    checked_content,
    checked_edge_label,
    checked_kind,
    checked_label,
    data_value,
)
from engine.records import Record
from engine.rules import Key, Rules


def check(record: Record) -> None:
    """See `Rules.check`."""
    match record:
        case GraphNode():
            _check_node(record)
            _check_order(record.order)
        case KeptNode():
            if not is_entity(record.id):
                raise InvalidArgumentError("only string entities and identities are kept off the map")
            _check_node(record)
        case GraphEdge():
            if record.id != edge_id(record.source, record.target):
                raise InvalidArgumentError(f"an edge from {record.source!r:.80} has an id of its own ends")
            checked_edge_label(record.label)
            _check_order(record.order)
        case GraphFocus():
            if len(record.selected) > MAX_SELECTED:
                raise InvalidArgumentError(f"at most {MAX_SELECTED} nodes are selected")
        case _:
            pass


def references(record: Record) -> Iterable[Key]:
    """See `Rules.references`. The focus and the identity of a node may name what is gone."""
    if isinstance(record, GraphEdge):
        return (GraphNode.collection, record.source), (GraphNode.collection, record.target)
    return ()


RULES = Rules(
    collections=frozenset({GraphNode.collection, KeptNode.collection, GraphEdge.collection, GraphFocus.collection}),
    check=check,
    references=references,
)
"""The rules of the graph."""


def _check_node(node: GraphNode | KeptNode) -> None:
    parse_key(node.id)
    checked_kind(node.kind)
    checked_label(node.label)
    checked_content(node.content)
    _check_data(node.data)
    Point(checked_number(node.position.x, "x"), checked_number(node.position.y, "y"))
    if node.identity is not None and not is_identity(parse_key(node.identity, "identity").text):
        raise InvalidArgumentError("what a node shares must be an identity")
    check_kept_node(node.id, node.identity, "node")


def _check_data(data: str) -> None:
    try:
        value = data_value(data)
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError("data must be JSON") from error
    if not isinstance(value, dict) or canonical_data(value) != data:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgumentError("data must be an object in canonical form")


def _check_order(order: int) -> None:
    if not -MAX_ORDER <= order <= MAX_ORDER:
        raise InvalidArgumentError("order is beyond every number that a graph counts to")
