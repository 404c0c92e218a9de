"""How surface, canvas and activity belong together. Owns that rule, for whoever changes the context as a user would."""

from __future__ import annotations

from collections.abc import Mapping

from presets.context import FactValue

CANVAS = "canvas"
"""The surface on which the activities take place."""

SCENE = "scene"
"""The surface of the 3D scene, which the canvas covers while it is visible."""


def coherent(changes: Mapping[str, FactValue | None]) -> dict[str, FactValue | None]:
    """The changes together with what follows from them for `surface` and `canvas_visible`.

    The canvas surface shows the canvas, the scene surface hides it; showing the canvas moves to it, hiding it moves to
    the scene; an activity is done on the canvas. What is given stands, whatever else would follow, and `surface` speaks
    before `canvas_visible`, that before `activity`. The activity outlives a visit to the scene. Surfaces of other names
    are left alone.
    """
    surface, visible = changes.get("surface"), changes.get("canvas_visible")
    if surface is None and isinstance(visible, bool):
        surface = CANVAS if visible else SCENE
    if surface is None and changes.get("activity") is not None:
        surface = CANVAS
    follows: dict[str, FactValue | None] = {}
    if surface is not None:
        follows["surface"] = surface
    if surface in (CANVAS, SCENE):
        follows["canvas_visible"] = surface == CANVAS
    return {**follows, **changes}
