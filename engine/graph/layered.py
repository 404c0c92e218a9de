"""Layers from top to bottom: edges lead downwards, as far as cycles let them. Owns that arrangement of one component.

The method of Sugiyama: edges that close a cycle are turned round, nodes get layers by their longest way from the top,
layers are put in an order with few crossings, and every node goes as near to its neighbours as its layer has room.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from engine.drawing.geometry import Point

COLUMN = 240.0
"""From node to node within a row, in graph units: the widest node, and a gap."""
ROW = 140.0
"""From layer to layer, in graph units: the highest node, and room for arrows with labels."""
WRAPPED_ROW = 90.0
"""From row to row of one layer that is too wide for one."""
LANE = 60.0
"""Room that an edge takes within a layer that it passes, in graph units."""
MAX_PASSES = 20_000
"""Layers that edges pass, in all; beyond it long edges go straight through: the picture is past reading anyway."""
_SWEEPS = 8
"""Times that the order and the places are improved; more change little."""

Edges = Sequence[tuple[int, int]]


def layered(size: int, edges: Edges) -> list[Point]:
    """Where the nodes `0` to `size - 1` go: +y is up, so edges lead to lower y. Edges to oneself are left out."""
    forward = _acyclic(size, [edge for edge in dict.fromkeys(edges) if edge[0] != edge[1]])
    layer = _layers(size, forward)
    links = _with_passes(size, layer, forward)
    order = _ordered(layer, links)
    rows = list(_rows(order, size))
    x = _across(rows, links, size)
    points = [Point(0.0, 0.0)] * size
    for row, y in zip(rows, _heights(rows), strict=True):
        for node in row.nodes:
            if node < size:
                points[node] = Point(x[node], y)
    return points


def widest_layer(size: int, edges: Edges) -> int:
    """How many nodes the fullest layer of a graph without cycles has."""
    return max(Counter(_layers(size, [edge for edge in dict.fromkeys(edges) if edge[0] != edge[1]])).values())


def row_limit(size: int) -> int:
    """How many nodes a row may have; a layer of more is wrapped, so that the picture keeps a shape that can be seen."""
    return 6 + round(1.2 * math.sqrt(size))


def _acyclic(size: int, edges: Edges) -> list[tuple[int, int]]:
    """The edges, those turned round that lead back to where a walk from the first node came from."""
    following: list[list[int]] = [[] for _ in range(size)]
    entered = [0] * size
    for source, target in edges:
        following[source].append(target)
        entered[target] += 1
    state = bytearray(size)
    turned: set[tuple[int, int]] = set()
    for start in sorted(range(size), key=lambda node: (entered[node] > 0, node)):
        if state[start]:
            continue
        state[start] = 1
        stack = [(start, iter(following[start]))]
        while stack:
            node, rest = stack[-1]
            for target in rest:
                if state[target] == 1:
                    turned.add((node, target))
                elif not state[target]:
                    state[target] = 1
                    stack.append((target, iter(following[target])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return list(dict.fromkeys((b, a) if (a, b) in turned else (a, b) for a, b in edges))


def _layers(size: int, edges: Edges) -> list[int]:
    """The layer of each node: its longest way from the top, then down to just above its children where it has room."""
    following: list[list[int]] = [[] for _ in range(size)]
    waiting = [0] * size
    for source, target in edges:
        following[source].append(target)
        waiting[target] += 1
    layer = [0] * size
    sources = [node for node in range(size) if not waiting[node]]
    order = list(sources)
    for node in order:
        for target in following[node]:
            layer[target] = max(layer[target], layer[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                order.append(target)
    for node in sources:
        if following[node]:
            layer[node] = min(layer[target] for target in following[node]) - 1
    return layer


class _Links:
    """Edges from one layer to the next; numbers from the count of nodes on stand for an edge that passes a layer."""

    def __init__(self, count: int) -> None:
        self.above: list[list[int]] = [[] for _ in range(count)]
        self.below: list[list[int]] = [[] for _ in range(count)]
        self.passes: list[int] = []

    def add(self, upper: int, lower: int) -> None:
        self.below[upper].append(lower)
        self.above[lower].append(upper)

    def add_pass(self, layer: int) -> int:
        self.above.append([])
        self.below.append([])
        self.passes.append(layer)
        return len(self.above) - 1


def _with_passes(size: int, layer: list[int], edges: Edges) -> _Links:
    links = _Links(size)
    needed = sum(layer[target] - layer[source] - 1 for source, target in edges)
    for source, target in edges:
        upper = source
        if needed <= MAX_PASSES:
            for between in range(layer[source] + 1, layer[target]):
                lower = links.add_pass(between)
                links.add(upper, lower)
                upper = lower
        links.add(upper, target)
    return links


def _ordered(layer: list[int], links: _Links) -> list[list[int]]:
    """The layers from the top, each in an order that crosses few edges: nodes go to the middle of their neighbours."""
    where = [*layer, *links.passes]
    layers: list[list[int]] = [[] for _ in range(max(where) + 1)]
    seen = bytearray(len(where))
    for start in sorted(range(len(where)), key=where.__getitem__):
        stack = [start]
        while stack:
            node = stack.pop()
            if not seen[node]:
                seen[node] = 1
                layers[where[node]].append(node)
                stack.extend(reversed(links.below[node]))
    place = [0.0] * len(where)
    for members in layers:
        _number(members, place)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        near = links.above if down else links.below
        for members in layers if down else reversed(layers):
            wanted = {node: _mean(near[node], place, place[node]) for node in members}
            members.sort(key=wanted.__getitem__)
            _number(members, place)
    return layers


def _number(members: list[int], place: list[float]) -> None:
    """Places from 0 to 1, so that layers of different widths can be compared."""
    for at, node in enumerate(members):
        place[node] = (at + 0.5) / len(members)


class _Row:
    """Some nodes side by side; `first` where the row begins its layer."""

    def __init__(self, nodes: list[int], *, first: bool, size: int) -> None:
        self.nodes = nodes
        self.first = first
        self.offsets = [0.0]
        for left, right in pairwise(nodes):
            room = (_width(left, size) + _width(right, size)) / 2
            self.offsets.append(self.offsets[-1] + room)


def _width(node: int, size: int) -> float:
    return COLUMN if node < size else LANE


def _rows(layers: list[list[int]], size: int) -> Iterator[_Row]:
    """The layers as rows; one that is far wider than the others is wrapped, so that the picture can be seen."""
    widest = row_limit(size)
    for members in layers:
        if len(members) <= widest:
            yield _Row(members, first=True, size=size)
            continue
        real = [node for node in members if node < size]
        row_count = max(1, math.ceil(len(real) / widest))
        for number in range(row_count):
            yield _Row(real[number::row_count], first=number == 0, size=size)


def _heights(rows: list[_Row]) -> Iterator[float]:
    y = 0.0
    for number, row in enumerate(rows):
        if number:
            y -= ROW if row.first else WRAPPED_ROW
        yield y


def _across(rows: list[_Row], links: _Links, size: int) -> list[float]:
    """The x of every node: as near to its neighbours as the row lets it, in that order."""
    x = [0.0] * len(links.above)
    for row in rows:
        half = row.offsets[-1] / 2 if row.nodes else 0.0
        for node, offset in zip(row.nodes, row.offsets, strict=False):
            x[node] = offset - half
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        near = links.above if down else links.below
        for row in rows if down else reversed(rows):
            wanted = [_mean(near[node], x, x[node]) for node in row.nodes]
            weights = [1.0 + len(near[node]) * (2.0 if node >= size else 1.0) for node in row.nodes]
            for node, at in zip(row.nodes, _spread(wanted, weights, row.offsets), strict=True):
                x[node] = at
    return x


def _spread(wanted: list[float], weights: list[float], offsets: list[float]) -> list[float]:
    """The places nearest to the wanted ones that keep the distances of `offsets`; what collides moves as one."""
    blocks: list[tuple[float, float, int]] = []
    for want, weight, offset in zip(wanted, weights, offsets, strict=False):
        place, total, count = want - offset, weight, 1
        while blocks and blocks[-1][0] > place:
            before, its_total, its_count = blocks.pop()
            place = (place * total + before * its_total) / (total + its_total)
            total, count = total + its_total, count + its_count
        blocks.append((place, total, count))
    places = [place for place, _, count in blocks for _ in range(count)]
    return [place + offset for place, offset in zip(places, offsets, strict=False)]


def _mean(nodes: list[int], places: list[float], otherwise: float) -> float:
    return sum(places[node] for node in nodes) / len(nodes) if nodes else otherwise
