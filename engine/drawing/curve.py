"""The smooth curve of a freehand stroke. Owns how it runs through its points; pure arithmetic.

It is a Catmull-Rom spline as cubic Bézier segments: it passes through every point, which matters when the points are
few. Control points stay inside the box around the points, so the curve does, and bounds need not know the curve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.drawing.geometry import Bounds, Point, bounds_of_points

_TENSION = 1 / 6
"""Length of a control arm as a part of the way between a point's neighbours: that of the Catmull-Rom spline."""


def smooth_segments(points: Sequence[Point]) -> Iterator[tuple[Point, Point, Point]]:
    """For each stretch between two points: its two control points and its end.

    A stroke that ends where it began, after at least three other points, is smooth there too.
    """
    around = bounds_of_points(points)
    last = len(points) - 1
    closed = last >= 4 and points[0] == points[last]
    for index in range(last):
        start, end = points[index], points[index + 1]
        before = points[index - 1] if index else (points[last - 1] if closed else start)
        after = points[index + 2] if index + 1 < last else (points[1] if closed else end)
        yield _arm(start, before, end, around), _arm(end, after, start, around), end


def _arm(at: Point, away: Point, towards: Point, around: Bounds) -> Point:
    x = at.x + (towards.x - away.x) * _TENSION
    y = at.y + (towards.y - away.y) * _TENSION
    return Point(min(max(x, around.left), around.right), min(max(y, around.bottom), around.top))
