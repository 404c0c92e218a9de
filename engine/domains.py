"""Which domains a world holds, and on which surface each is seen. The one place to add another.

Engine, store and actors know the domains through this module alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from engine import drawing, graph, scene
from engine.codec import Codec
from engine.drawing.marks import marks as drawing_marks
from engine.drawing.picture import DrawingPicture
from engine.drawing.rules import RULES as DRAWING_RULES
from engine.errors import ConflictError
from engine.graph.marks import marks as graph_marks
from engine.graph.rules import RULES as GRAPH_RULES
from engine.marks import Mark, PixelSize
from engine.records import Change, Counter, Record, RecordTable
from engine.rules import Rules
from engine.scene.marks import marks as scene_marks
from engine.scene.rules import RULES as SCENE_RULES
from engine.settings import Settings
from engine.units import state as unit_state
from engine.view import Picture


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain: its records, what it says of the selection, and how it is seen.

    `activity` is the one in which a surface with several domains shows this one; None shows it in all others. `marks`
    tells where in the picture changes are seen: in a PNG picture of that size, or without one in the picture that is
    shown without being asked for a size. `rules` are what a world file is held to.
    """

    name: str
    surface: str
    activity: str | None
    record_types: tuple[type[Record], ...]
    selection_kind: Callable[[RecordTable], str | None]
    picture: Callable[[RecordTable], Picture]
    marks: Callable[[RecordTable, Iterable[Change], PixelSize | None], Iterator[Mark]]
    rules: Rules | None = None


DOMAINS = (
    Domain(
        name="drawing",
        surface="canvas",
        activity=None,
        record_types=drawing.RECORD_TYPES,
        selection_kind=drawing.selection_kind,
        picture=lambda table: DrawingPicture(drawing.snapshot(table)),
        marks=drawing_marks,
        rules=DRAWING_RULES,
    ),
    Domain(
        name="graph",
        surface="canvas",
        activity="graph",
        record_types=graph.RECORD_TYPES,
        selection_kind=graph.selection_kind,
        picture=graph.picture,
        marks=graph_marks,
        rules=GRAPH_RULES,
    ),
    Domain(
        name="scene",
        surface="scene",
        activity=None,
        record_types=scene.RECORD_TYPES,
        selection_kind=scene.selection_kind,
        picture=scene.picture,
        marks=scene_marks,
        rules=SCENE_RULES,
    ),
)
"""Every domain."""

RECORD_TYPES: tuple[type[Record], ...] = (
    Counter,
    # What units keep is seen on no surface.
    *unit_state.RECORD_TYPES,
    *(record_type for domain in DOMAINS for record_type in domain.record_types),
)
"""Every class of record that a world may hold."""

RULES: tuple[Rules, ...] = (
    unit_state.RULES,
    *(domain.rules for domain in DOMAINS if domain.rules is not None),
)
"""What units and the domains promise of their records."""


@cache
def world_codec() -> Codec:
    """The codec of every record that a world may hold. It never changes, and may be used from any thread."""
    return Codec(RECORD_TYPES)


def domain_on(surface: str, activity: str | None) -> Domain:
    """The domain that is seen there. Raises `ConflictError`, naming the surfaces that show something."""
    there = [domain for domain in DOMAINS if domain.surface == surface]
    for domain in there:
        if domain.activity is not None and domain.activity == activity:
            return domain
    for domain in there:
        if domain.activity is None:
            return domain
    shown = " and ".join(sorted({repr(domain.surface) for domain in DOMAINS}))
    raise ConflictError(f"surface {surface!r} has nothing to show; there is something on surface {shown}")


def selection_kind(table: RecordTable, settings: Settings) -> str | None:
    """What kind of thing is selected where the user is, such as `drawing-object`; None when nothing is."""
    try:
        return domain_on(settings.surface, settings.activity).selection_kind(table)
    except ConflictError:
        return None
