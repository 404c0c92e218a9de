"""What the engine needs in a large world, with its store and without a server: writing, looking, taking back, opening.

A write is measured until it is in the store. The same is done, in turns, in a world of a tenth of the size: what it
costs must follow from what it touches, not from what else is there.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.large_world import BODY_SPACING, NODE_HEIGHT, NODE_WIDTH, NOW, OBJECT_SPACING, WorldSize, store_world
from benchmarks.quantiles import Spread
from benchmarks.table import Figure, Requirement, Row
from engine.codec import Codec
from engine.domains import RECORD_TYPES
from engine.drawing.geometry import Bounds
from engine.drawing.insert import InsertBox
from engine.drawing.inspect import Inspect as InspectDrawing
from engine.drawing.selection import Select
from engine.engine import Engine
from engine.graph.inspect import InspectEdges, InspectNodes
from engine.graph.nodes import AddNode
from engine.scene.bodies import AddBody
from engine.scene.inspect import Inspect as InspectScene
from engine.scene.selection import SelectObjects
from engine.scene.vector import Box, Vector
from engine.store import Store
from engine.world import Command

MOST_MILLISECONDS = 10.0
"""What each operation may take, median; promised in Space's design."""

MOST_OPENING_SECONDS = 3.0
"""From opening the store to a first look at every surface; promised in Space's design."""

MOST_RATIO = 1.5
"""What a write may cost with ten times the world around it; promised in Space's design."""

ACROSS = 10
"""How many things lie along each side of a box that is selected or inspected."""

PAGE = 50

WARM_UP_ROUNDS = 3
"""Rounds that are not counted: the first node of a world looks for its place where all others have theirs."""

GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it, modulo 1, spread evenly, and each lies far from the one before."""


@dataclass(frozen=True)
class Effort:
    """How thoroughly to measure."""

    size: WorldSize
    rounds: int
    openings: int


@dataclass(frozen=True)
class _Operation:
    """One thing to do in a world: a command made for its size and the number of the round, or None for undo."""

    name: str
    command: Callable[[WorldSize, int], Command[object]] | None
    writes: bool


@dataclass
class _Opened:
    """An engine at work on a store, and what its operations took, by name, in seconds."""

    size: WorldSize
    store: Store
    engine: Engine
    seconds_to_open: float
    times: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    @staticmethod
    def open(folder: Path, size: WorldSize, stack: ExitStack) -> _Opened:
        """Open it as a process that has just started: with a new codec, and a first look at every surface."""
        started = time.perf_counter()
        store = stack.enter_context(Store.open(folder, now=NOW, codec=Codec(RECORD_TYPES)))
        engine = Engine(store.load(), clock=lambda: NOW)
        drawing = engine.execute(InspectDrawing(limit=1)).result
        nodes = engine.execute(InspectNodes(limit=1)).result
        bodies = engine.execute(InspectScene(limit=1)).result
        seconds = time.perf_counter() - started
        found = WorldSize(drawing.total, nodes.total, bodies.total)
        if found != size:
            raise AssertionError(f"a world of {size} was stored, and one of {found} came back")
        return _Opened(size, store, engine, seconds)

    def do(self, operation: _Operation, turn: int) -> None:
        """Do it once, and note how long it took."""
        command = None if operation.command is None else operation.command(self.size, turn)
        started = time.perf_counter()
        executed = self.engine.undo() if command is None else self.engine.execute(command)
        self.store.write(executed.commit)
        seconds = time.perf_counter() - started
        if executed.changed != operation.writes:
            raise AssertionError(f"{operation.name} did not do what it is measured for")
        self.times.setdefault(operation.name, []).append(seconds)


def measure(folder: Path, effort: Effort) -> list[Row]:
    """The rows of the table. `folder` is for data. Raises `AssertionError` when an operation did not do its work."""
    size, openings = effort.size, [_opening(folder / "large", effort.size, effort.openings)]
    openings.append(_opening(folder / "with-history", size, 1, with_history=True))
    with ExitStack() as stack:
        store_world(folder / "small", size.tenth())
        worlds = [
            _Opened.open(folder / "large", size, stack),
            _Opened.open(folder / "small", size.tenth(), stack),
        ]
        for domain in _OPERATIONS:
            for turn in range(WARM_UP_ROUNDS + effort.rounds):
                for world in worlds if turn % 2 else reversed(worlds):
                    for operation in domain:
                        world.do(operation, turn)
        large, small = ({name: times[WARM_UP_ROUNDS:] for name, times in world.times.items()} for world in worlds)
    return [
        Figure(f"engine and store: {size}"),
        *_operations(large),
        Figure("  opening it, every step of a history of single steps", value=f"{openings[1]:>16.2f} s"),
        Requirement("opening it, to a first look at all of it, median", openings[0], MOST_OPENING_SECONDS, " s"),
        *_ratios(large, small),
    ]


def _opening(folder: Path, size: WorldSize, count: int, *, with_history: bool = False) -> float:
    store_world(folder, size, with_history=with_history)
    times: list[float] = []
    for _ in range(count):
        with ExitStack() as stack:
            times.append(_Opened.open(folder, size, stack).seconds_to_open)
    return statistics.median(times)


def _operations(large: dict[str, list[float]]) -> list[Row]:
    spreads = {name: Spread.of(times) for name, times in large.items()}
    slowest = max(spread.median for spread in spreads.values())
    return [
        *(Figure(f"  {name}", 1 / spread.median, spread) for name, spread in spreads.items()),
        Requirement("slowest of these, median", slowest * 1e3, MOST_MILLISECONDS, " ms"),
    ]


def _ratios(large: dict[str, list[float]], small: dict[str, list[float]]) -> list[Row]:
    rows: list[Row] = [Figure("the same writes in a tenth of the world")]
    worst = 0.0
    for operation in (operation for domain in _OPERATIONS for operation in domain if operation.writes):
        name = operation.name
        ratio = statistics.median(large[name]) / statistics.median(small[name])
        worst = max(worst, ratio)
        rows.append(Figure(f"  {name}", 1 / statistics.median(small[name]), Spread.of(small[name])))
    return [*rows, Requirement("a write with ten times the world as a multiple, worst", worst, MOST_RATIO)]


def _spread(turn: int, low: float, high: float) -> float:
    return low + turn * GOLDEN % 1 * (high - low)


def _number(turn: int, limit: int) -> int:
    return int(_spread(turn, 0, limit))


def _insert_object(size: WorldSize, turn: int) -> Command[object]:
    return InsertBox(kind="rectangle", x=_spread(turn, 100, 800), y=_spread(turn // 2, 100, 800), width=8, height=6)


def _objects_in_a_box(size: WorldSize, turn: int) -> Command[object]:
    left, bottom = _spread(turn, 0, 600), _spread(turn // 2, 0, 600)
    side = ACROSS * OBJECT_SPACING
    return Select(bounds=Bounds(left, bottom, left + side, bottom + side))


def _page_of_objects(size: WorldSize, turn: int) -> Command[object]:
    return InspectDrawing(offset=_number(turn, size.objects - PAGE), limit=PAGE)


def _insert_node(size: WorldSize, turn: int) -> Command[object]:
    return AddNode(title=f"Note {turn}", content="Something that was found out.")


def _nodes_in_a_box(size: WorldSize, turn: int) -> Command[object]:
    left, bottom = _spread(turn, -3000, 0), _spread(turn // 2, -3000, 0)
    box = Bounds(left, bottom, left + ACROSS * NODE_WIDTH, bottom + ACROSS * NODE_HEIGHT)
    return InspectNodes(bounds=box, limit=PAGE)


def _page_of_nodes(size: WorldSize, turn: int) -> Command[object]:
    return InspectNodes(offset=_number(turn, size.nodes - PAGE), limit=PAGE)


def _page_of_edges(size: WorldSize, turn: int) -> Command[object]:
    return InspectEdges(offset=_number(turn, size.nodes - PAGE), limit=PAGE)


def _insert_body(size: WorldSize, turn: int) -> Command[object]:
    return AddBody(shape="box", position=Vector(_spread(turn, 2, 10), 20.0, 5.0), size=Vector(1.0, 1.0, 1.0))


def _bodies_in_a_box(size: WorldSize, turn: int) -> Command[object]:
    left, back = _spread(turn, 1.5, 4.5), _spread(turn // 2, 1.5, 4.5)
    side = ACROSS / 2 * BODY_SPACING
    return SelectObjects(bounds=Box(Vector(left, 0.0, back), Vector(left + side, 10.0, back + side)))


def _page_of_bodies(size: WorldSize, turn: int) -> Command[object]:
    return InspectScene(offset=_number(turn, max(1, size.bodies - PAGE)), limit=PAGE)


_OPERATIONS = (
    (
        _Operation("drawing: insert", _insert_object, writes=True),
        _Operation("drawing: undo", None, writes=True),
        _Operation("drawing: select by box", _objects_in_a_box, writes=True),
        _Operation("drawing: inspect a page", _page_of_objects, writes=False),
    ),
    (
        _Operation("graph: insert", _insert_node, writes=True),
        _Operation("graph: undo", None, writes=True),
        _Operation("graph: inspect nodes in a box", _nodes_in_a_box, writes=False),
        _Operation("graph: inspect a page of nodes", _page_of_nodes, writes=False),
        _Operation("graph: inspect a page of edges", _page_of_edges, writes=False),
    ),
    (
        _Operation("scene: insert", _insert_body, writes=True),
        _Operation("scene: undo", None, writes=True),
        _Operation("scene: select by box", _bodies_in_a_box, writes=True),
        _Operation("scene: inspect a page", _page_of_bodies, writes=False),
    ),
)
