"""Where changed bodies, terrains and lights are seen in a picture of the scene. Owns that alone; pure.

Through the camera as it is now, of the frame around each thing, as it is drawn around what is selected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from engine.marks import Mark, PixelSize, Sight, mark_at, standing
from engine.records import Change
from engine.scene.lens import Lens
from engine.scene.outline import Frame, frame_around, line_on_picture
from engine.scene.reading import Reader, camera_of
from engine.scene.records import Body, Light, Terrain
from engine.view import DEFAULT_VIEW_HEIGHT, DEFAULT_VIEW_WIDTH

_Place = tuple[float, float]


def marks(reader: Reader, changes: Iterable[Change], size: PixelSize | None) -> Iterator[Mark]:
    """A mark around each body, terrain and placed light that the changes left in the picture of that size.

    None is the size of a picture that is asked for without one.
    """
    lens = Lens(camera_of(reader), *(size or (DEFAULT_VIEW_WIDTH, DEFAULT_VIEW_HEIGHT)))
    for record, change in standing(changes):
        if isinstance(record, Body | Terrain | Light):
            frame = frame_around(record)
            sight = None if frame is None else _sight(lens, frame)
            mark = None if sight is None else mark_at(sight, record.id, _label(record), change)
            if mark is not None:
                yield mark


def _label(record: Body | Terrain | Light) -> str:
    match record:
        case Body():
            return record.shape
        case Terrain():
            return "terrain"
        case Light():
            return f"{record.kind} light"


def _sight(lens: Lens, frame: Frame) -> Sight | None:
    """The box around what is in the picture of the frame, which is a convex figure there; None where nothing is."""
    ends = (line_on_picture(lens, *edge) for edge in frame.edges())
    figure = _hull([place for line in ends if line is not None for place in line])
    for axis, most in ((0, float(lens.width)), (1, float(lens.height))):
        figure = _cut(_cut(figure, axis, 1.0, 0.0), axis, -1.0, -most)
    if not figure:
        return None
    xs, ys = [x / lens.width for x, _ in figure], [y / lens.height for _, y in figure]
    return Sight(left=min(xs), top=min(ys), right=max(xs), bottom=max(ys))


def _hull(places: Sequence[_Place]) -> list[_Place]:
    """The corners of the smallest convex figure around the places, in order around it."""
    ordered = sorted(set(places))
    if len(ordered) < 3:
        return ordered
    hull: list[_Place] = []
    for way in (ordered, ordered[::-1]):
        side: list[_Place] = []
        for place in way:
            while len(side) > 1 and _turn(side[-2], side[-1], place) <= 0:
                side.pop()
            side.append(place)
        hull.extend(side[:-1])
    return hull


def _turn(a: _Place, b: _Place, c: _Place) -> float:
    """Above 0 where the way from `a` over `b` to `c` turns counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _cut(figure: list[_Place], axis: int, sign: float, least: float) -> list[_Place]:
    """What of a convex figure has `sign` times that coordinate at or above `least`."""
    kept: list[_Place] = []
    for number, place in enumerate(figure):
        before = figure[number - 1]
        depth, depth_before = sign * place[axis] - least, sign * before[axis] - least
        if (depth < 0) != (depth_before < 0):
            part = depth_before / (depth_before - depth)
            kept.append((before[0] + (place[0] - before[0]) * part, before[1] + (place[1] - before[1]) * part))
        if depth >= 0:
            kept.append(place)
    return kept
