"""The smooth curve of a freehand stroke. Owns how it runs through its points; pure arithmetic.

It is a Catmull-Rom spline as cubic Bézier segments: it passes through every point, which matters when the points are
few, and may swing out a little beyond the box around them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.drawing.geometry import Point, bounds_of_points

_ARM = 1 / 6
"""Length of a control arm as a part of the way between a point's neighbours: that of the Catmull-Rom spline."""


def smooth_segments(points: Sequence[Point]) -> Iterator[tuple[Point, Point, Point]]:
    """For each stretch between two points: its two control points and its end.

    A stroke that ends where it began, after at least three other points, is smooth there too.
    """
    last = len(points) - 1
    closed = last >= 4 and points[0] == points[last]
    for index in range(last):
        start, end = points[index], points[index + 1]
        before = points[index - 1] if index else (points[last - 1] if closed else start)
        after = points[index + 2] if index + 1 < last else (points[1] if closed else end)
        yield _arm(start, before, end), _arm(end, after, start), end


def overshoot(points: Sequence[Point]) -> float:
    """How far the curve goes beyond the box around its points, at most: a curve stays within its control points."""
    if len(points) == 2:
        return 0.0
    left, bottom, right, top = bounds_of_points(points)
    beyond = 0.0
    for first, second, _ in smooth_segments(points):
        for x, y in (first, second):
            beyond = max(beyond, left - x, x - right, bottom - y, y - top)
    return beyond


def _arm(at: Point, away: Point, towards: Point) -> Point:
    return Point(at.x + (towards.x - away.x) * _ARM, at.y + (towards.y - away.y) * _ARM)
