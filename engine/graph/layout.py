"""A readable arrangement of a whole map. Owns which method suits which part of it, and how the parts stand together.

Pure and deterministic: the same map is arranged in the same way. Works on a snapshot, part by part, so that whoever
runs it can tell how far it is and stop in between.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import rustworkx as rx

from engine.drawing.geometry import Point, bounds_of_points
from engine.graph.layered import COLUMN, layered, row_limit, widest_layer
from engine.graph.records import GraphEdge, GraphNode

Method = Literal["auto", "layered", "force", "grid"]
"""auto: what suits each part. layered: edges lead downwards. force: neighbours are near. grid: rows in their order."""

STRESS_NODES = 120
"""Nodes up to which the method of Kamada and Kawai is used: the best picture, at a cubic cost."""
FORCE_NODES = 1_000
"""Nodes up to which forces are simulated, at the cost of the square of their number; larger parts are layered."""
EDGE_LENGTH = 260.0
"""Length of an ordinary edge in an arrangement by forces, in graph units."""
GAP = 120.0
"""Between parts, in graph units."""
GRID_ROW = 100.0
"""From row to row of nodes without edges, in graph units."""
_SEED = 1
_ROUNDS = 60
"""Times that nodes which overlap are pushed apart."""
_SHAPE = 1.5
"""Width over height that the whole aims at."""


@dataclass(frozen=True, slots=True)
class Part:
    """Nodes that hang together, by their place in the snapshot, and their edges by places in `nodes`.

    Nodes without edges form one part.
    """

    nodes: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class MapSnapshot:
    """What is arranged: the nodes and the edges of the map, each in its order. Ties to identities count as edges."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    world_id: str = ""


def parts_of(snapshot: MapSnapshot) -> list[Part]:
    """The parts, the largest first; the nodes without edges last."""
    number = {node.id: at for at, node in enumerate(snapshot.nodes)}
    pairs = [(number[edge.source], number[edge.target]) for edge in snapshot.edges]
    for at, node in enumerate(snapshot.nodes):
        if node.identity is not None and node.identity in number:
            pairs.append((at, number[node.identity]))
    graph: rx.PyDiGraph[None, None] = rx.PyDiGraph(multigraph=False)
    graph.add_nodes_from([None] * len(snapshot.nodes))
    graph.add_edges_from([(source, target, None) for source, target in pairs if source != target])
    found = sorted((sorted(component) for component in rx.weakly_connected_components(graph)), key=_size_then_first)
    alone = tuple(sorted(members[0] for members in found if len(members) == 1))
    parts: list[Part] = []
    at_home: dict[int, tuple[int, int]] = {}
    inner: list[list[tuple[int, int]]] = []
    for part, members in enumerate(members for members in found if len(members) > 1):
        inner.append([])
        for place, node in enumerate(members):
            at_home[node] = (part, place)
    for source, target in pairs:
        if source != target:
            part, place = at_home[source]
            inner[part].append((place, at_home[target][1]))
    for members, edges in zip((members for members in found if len(members) > 1), inner, strict=True):
        parts.append(Part(tuple(members), tuple(edges)))
    return [*parts, Part(alone, ())] if alone else parts


def arranged(part: Part, method: Method = "auto") -> list[Point]:
    """Where the nodes of a part go, about any origin. Costs at most some seconds for the largest part."""
    size = len(part.nodes)
    if not part.edges or method == "grid":
        return _grid(size)
    if method == "layered" or size > FORCE_NODES:
        return layered(size, part.edges)
    if method == "auto" and _is_acyclic(part) and widest_layer(size, part.edges) <= row_limit(size):
        return layered(size, part.edges)
    return _by_force(part)


def together(parts: Sequence[Sequence[Point]]) -> list[list[Point]]:
    """The parts side by side in rows, from the top left, the whole about the origin; none overlaps another."""
    boxes = [bounds_of_points(points) for points in parts]
    extents = [(box.width + COLUMN + GAP, box.height + GRID_ROW + GAP) for box in boxes]
    area = sum(width * height for width, height in extents)
    row_width = max([math.sqrt(area * _SHAPE), *(width for width, _ in extents)], default=0.0)
    corners: list[tuple[float, float]] = []
    x = y = row_height = 0.0
    for width, height in extents:
        if x and x + width > row_width:
            x, y, row_height = 0.0, y - row_height, 0.0
        corners.append((x, y))
        x, row_height = x + width, max(row_height, height)
    moved = [
        [Point(left + point.x - box.left, top + point.y - box.top) for point in points]
        for points, box, (left, top) in zip(parts, boxes, corners, strict=True)
    ]
    if not moved:
        return []
    middle = bounds_of_points([point for points in moved for point in points]).center
    return [[Point(round(x - middle.x, 2), round(y - middle.y, 2)) for x, y in points] for points in moved]


def _size_then_first(members: list[int]) -> tuple[int, int]:
    return -len(members), members[0]


def _is_acyclic(part: Part) -> bool:
    return rx.is_directed_acyclic_graph(_graph_of(part))


def _graph_of(part: Part) -> rx.PyDiGraph[None, None]:
    graph: rx.PyDiGraph[None, None] = rx.PyDiGraph(multigraph=False)
    graph.add_nodes_from([None] * len(part.nodes))
    graph.add_edges_from([(source, target, None) for source, target in part.edges])
    return graph


def _grid(size: int) -> list[Point]:
    columns = max(1, round(math.sqrt(size * _SHAPE * GRID_ROW / COLUMN)))
    return [Point(at % columns * COLUMN, -(at // columns) * GRID_ROW) for at in range(size)]


def _by_force(part: Part) -> list[Point]:
    graph = _graph_of(part).to_undirected(multigraph=False)
    size = len(part.nodes)
    if size <= STRESS_NODES:
        mapping = rx.kamada_kawai_layout(graph, scale=1.0)
    else:
        # A ring is a start without chance in it; the seed is for what the method itself draws.
        start = {at: (math.cos(math.tau * at / size), math.sin(math.tau * at / size)) for at in range(size)}
        mapping = rx.spring_layout(graph, pos=start, num_iter=120, seed=_SEED)
    points = [(float(mapping[at][0]), float(mapping[at][1])) for at in range(size)]
    lengths = sorted(math.dist(points[source], points[target]) for source, target in part.edges)
    scale = EDGE_LENGTH / max(lengths[len(lengths) // 2], 1e-9)
    return _apart([[x * scale, y * scale] for x, y in points])


def _apart(points: list[list[float]]) -> list[Point]:
    """Nodes that overlap are pushed apart, along the shorter way."""
    for _ in range(_ROUNDS):
        moved = False
        for one, other in list(_near(points)):
            (ax, ay), (bx, by) = points[one], points[other]
            across, up = COLUMN - abs(bx - ax), GRID_ROW - abs(by - ay)
            if across <= 0 or up <= 0:
                continue
            moved = True
            axis, push = (0, across) if across / COLUMN < up / GRID_ROW else (1, up)
            forward = points[other][axis] >= points[one][axis]
            step = (push / 2 + 1) * (1 if forward else -1)
            points[one][axis] -= step
            points[other][axis] += step
        if not moved:
            break
    return [Point(x, y) for x, y in points]


def _near(points: list[list[float]]) -> Iterator[tuple[int, int]]:
    """Every pair of nodes in the same or a neighbouring cell, once."""
    cells: dict[tuple[int, int], list[int]] = {}
    for at, (x, y) in enumerate(points):
        cells.setdefault((math.floor(x / COLUMN), math.floor(y / GRID_ROW)), []).append(at)
    for (column, row), members in cells.items():
        for at, one in enumerate(members):
            for other in members[at + 1 :]:
                yield one, other
            for side in ((1, -1), (1, 0), (1, 1), (0, 1)):
                for other in cells.get((column + side[0], row + side[1]), ()):
                    yield one, other
