"""What a graph is asked all the time, kept ready: order, kinds, ends of edges, positions, free places, identities.

Owns derived data only; follows the table change by change, so that no command looks at every node. Taking a change back
leaves the index as it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import ClassVar

from engine.drawing.geometry import Bounds, Point
from engine.graph.extremes import Extremes
from engine.graph.keys import is_identity
from engine.graph.ordered_ids import OrderedIds
from engine.graph.places import Places
from engine.graph.records import GraphEdge, GraphNode, KeptNode
from engine.graph.words import name_key
from engine.records import Record

BUCKET_SIDE = 1024.0
"""Side of the squares that positions are sorted into, in graph units: some dozen nodes each."""
SORT_LIMIT = 4_000
"""Keys that are put in order by sorting; of more, going through all nodes in order finds a page sooner."""

_EMPTY = OrderedIds()
_Bucket = tuple[int, int]


class GraphIndex:
    """The map in order and in space. Read it within the owner's step and never change what it gives."""

    collections: ClassVar[frozenset[str]] = frozenset({GraphNode.collection, KeptNode.collection, GraphEdge.collection})

    def __init__(self) -> None:
        self.places = Places()
        """Where the next node can go."""
        self._nodes = OrderedIds()
        self._orders: dict[str, int] = {}
        self._edges = OrderedIds()
        self._kinds: dict[str, OrderedIds] = {}
        self._sharing: dict[str, OrderedIds] = {}
        self._outgoing: dict[str, OrderedIds] = {}
        self._incoming: dict[str, OrderedIds] = {}
        self._named: dict[str, set[str]] = {}
        self._positions: dict[str, Point] = {}
        self._buckets: dict[_Bucket, set[str]] = {}
        self._xs = Extremes()
        self._ys = Extremes()

    @property
    def nodes(self) -> OrderedIds:
        """The nodes of the map."""
        return self._nodes

    @property
    def edges(self) -> OrderedIds:
        """The edges of the map, by their ids."""
        return self._edges

    def shows(self, key: str) -> bool:
        """Whether the node is on the map."""
        return key in self._orders

    def order_of(self, key: str) -> int:
        """The order number of a node of the map."""
        return self._orders[key]

    def kinds(self) -> dict[str, int]:
        """How many nodes of the map there are of each kind that occurs, by name of the kind."""
        return {kind: len(self._kinds[kind]) for kind in sorted(self._kinds)}

    def of_kind(self, kind: str) -> OrderedIds:
        """The nodes of the map of that kind."""
        return self._kinds.get(kind, _EMPTY)

    def sharing(self, identity: str) -> OrderedIds:
        """The nodes of the map that share that identity."""
        return self._sharing.get(identity, _EMPTY)

    def outgoing(self, key: str) -> OrderedIds:
        """The edges that begin at the node."""
        return self._outgoing.get(key, _EMPTY)

    def incoming(self, key: str) -> OrderedIds:
        """The edges that end at the node."""
        return self._incoming.get(key, _EMPTY)

    def identities_named(self, name: str) -> list[str]:
        """The identities of that name (see `name_key`), on the map or not. Between commands there is at most one."""
        return sorted(self._named.get(name_key(name), ()))

    @property
    def around(self) -> Bounds | None:
        """The box around the positions of all nodes of the map; None where there is none."""
        if not self._positions:
            return None
        return Bounds(self._xs.least, self._ys.least, self._xs.most, self._ys.most)

    def page_within(self, box: Bounds, offset: int, limit: int) -> tuple[list[str], int]:
        """A page of the nodes whose position is in the box, and how many there are in all."""
        found = self._found_within(box)
        return self.first_of(frozenset(found), offset, limit), len(found)

    def first_of(self, keys: AbstractSet[str], offset: int, limit: int) -> list[str]:
        """A page of those nodes of the map in its order, `offset` of them left out."""
        if len(keys) <= SORT_LIMIT:
            return sorted(keys, key=self._orders.__getitem__)[offset : offset + limit]
        return list(islice((key for key in self._nodes if key in keys), offset, offset + limit))

    def within(self, box: Bounds) -> list[str]:
        """The nodes whose position is in the box."""
        return sorted(self._found_within(box), key=self._orders.__getitem__)

    def apply(self, before: Record | None, after: Record | None) -> None:
        """See `engine.records.Index`."""
        self._follow_name(before, after)
        old = before if isinstance(before, GraphNode) else None
        new = after if isinstance(after, GraphNode) else None
        if old is not None or new is not None:
            self._follow_node(old, new)
        if isinstance(before, GraphEdge):
            self._edges.discard(before.order, before.id)
            _drop(self._outgoing, before.source, before.order, before.id)
            _drop(self._incoming, before.target, before.order, before.id)
        if isinstance(after, GraphEdge):
            self._edges.add(after.order, after.id)
            _keep(self._outgoing, after.source, after.order, after.id)
            _keep(self._incoming, after.target, after.order, after.id)

    def _follow_name(self, before: Record | None, after: Record | None) -> None:
        if isinstance(before, GraphNode | KeptNode) and is_identity(before.id):
            names = self._named[name_key(before.label)]
            names.discard(before.id)
            if not names:
                del self._named[name_key(before.label)]
        if isinstance(after, GraphNode | KeptNode) and is_identity(after.id):
            self._named.setdefault(name_key(after.label), set()).add(after.id)

    def _follow_node(self, old: GraphNode | None, new: GraphNode | None) -> None:
        if old is not None and new is not None and old.position == new.position:
            if (old.order, old.kind, old.identity) != (new.order, new.kind, new.identity):
                self._delist(old)
                self._enlist(new)
            return
        if old is not None:
            self._delist(old)
            self._unplace(old)
        if new is not None:
            self._enlist(new)
            self._place(new)

    def _enlist(self, node: GraphNode) -> None:
        self._nodes.add(node.order, node.id)
        self._orders[node.id] = node.order
        _keep(self._kinds, node.kind, node.order, node.id)
        if node.identity is not None:
            _keep(self._sharing, node.identity, node.order, node.id)

    def _delist(self, node: GraphNode) -> None:
        self._nodes.discard(node.order, node.id)
        del self._orders[node.id]
        _drop(self._kinds, node.kind, node.order, node.id)
        if node.identity is not None:
            _drop(self._sharing, node.identity, node.order, node.id)

    def _place(self, node: GraphNode) -> None:
        self._positions[node.id] = node.position
        self._buckets.setdefault(_bucket_of(node.position), set()).add(node.id)
        self._xs.add(node.position.x)
        self._ys.add(node.position.y)
        self.places.take(node.position)

    def _unplace(self, node: GraphNode) -> None:
        del self._positions[node.id]
        bucket = self._buckets[_bucket_of(node.position)]
        bucket.discard(node.id)
        if not bucket:
            del self._buckets[_bucket_of(node.position)]
        self._xs.discard(node.position.x)
        self._ys.discard(node.position.y)
        self.places.free(node.position)

    def _found_within(self, box: Bounds) -> list[str]:
        positions = self._positions
        around = self.around
        if around is None or not around.overlaps(box):
            return []
        if around.union(box) == box:
            return list(positions)
        found: list[str] = []
        for (column, row), members in self._buckets_touching(box):
            left, bottom = column * BUCKET_SIDE, row * BUCKET_SIDE
            if (
                box.left <= left
                and box.bottom <= bottom
                and left + BUCKET_SIDE <= box.right
                and bottom + BUCKET_SIDE <= box.top
            ):
                found.extend(members)
                continue
            for key in members:
                x, y = positions[key]
                if box.left <= x <= box.right and box.bottom <= y <= box.top:
                    found.append(key)
        return found

    def _buckets_touching(self, box: Bounds) -> Iterator[tuple[_Bucket, set[str]]]:
        left, bottom = _bucket_of(Point(box.left, box.bottom))
        right, top = _bucket_of(Point(box.right, box.top))
        if (right - left + 1) * (top - bottom + 1) > len(self._buckets):
            for bucket, members in self._buckets.items():
                if left <= bucket[0] <= right and bottom <= bucket[1] <= top:
                    yield bucket, members
            return
        for column in range(left, right + 1):
            for row in range(bottom, top + 1):
                members = self._buckets.get((column, row))
                if members is not None:
                    yield (column, row), members


def _bucket_of(position: Point) -> _Bucket:
    return math.floor(position.x / BUCKET_SIDE), math.floor(position.y / BUCKET_SIDE)


def _keep(lists: dict[str, OrderedIds], name: str, order: int, member: str) -> None:
    # Not setdefault: it would make a list for each member, to throw it away.
    members = lists.get(name)
    if members is None:
        members = lists[name] = OrderedIds()
    members.add(order, member)


def _drop(lists: dict[str, OrderedIds], name: str, order: int, member: str) -> None:
    members = lists[name]
    members.discard(order, member)
    if not len(members):
        del lists[name]
