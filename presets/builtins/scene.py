"""The scene group: its presets, and the adapters of their tools. Owns names, defaults, risks and prompt fragments.

Source: agent-presets, "Built-In Presets", table "Scene". `scene-object-tools` has two more tools than it has there:
`space_scene_inspect`, without which nobody knows what is there, and `space_scene_simulate`.
"""

from __future__ import annotations

from functools import partial

from presets.adapters import ToolAdapter
from presets.builtins.built_in_preset import built_in_preset
from presets.builtins.scene_tools import (
    camera_tools,
    inspect_tool,
    light_tools,
    object_tools,
    simulate_tool,
    sky_tools,
    state_tools,
    terrain_tools,
)
from presets.builtins.scene_tools.arguments import SPACE
from presets.definition import PresetDefinition, Risk

_preset = partial(built_in_preset, group="scene", contexts=({"surface": "scene"},))

_OBJECT_PROMPT = (
    "The user is working in a 3D scene with rigid-body physics. "
    + SPACE
    + " Positions are the middles of bodies. Look with space_scene_inspect before you change what is there. Nothing "
    "moves by itself: space_scene_simulate lets the scene run and says where everything comes to. Without terrain, "
    "bodies fall."
)
_TERRAIN_PROMPT = (
    "Put things on the ground with space_scene_raycast_terrain: the y that it gives, plus half the body's height."
)
_CAMERA_PROMPT = "The picture of the scene is what its camera sees; space_scene_reset_camera with fit shows everything."


def adapters() -> tuple[ToolAdapter, ...]:
    """The 17 tools of the scene."""
    return (
        *inspect_tool.adapters(),
        *object_tools.adapters(),
        *simulate_tool.adapters(),
        *terrain_tools.adapters(),
        *light_tools.adapters(),
        *sky_tools.adapters(),
        *camera_tools.adapters(),
        *state_tools.adapters(),
    )


def presets() -> tuple[PresetDefinition, ...]:
    """The seven presets of the scene, in the order of the document's table."""
    return (
        _preset(
            "scene-object-tools",
            ("inspect", "add-cuboid", "add-physics-body", "select-object", "simulate"),
            prompt=_OBJECT_PROMPT,
        ),
        _preset("scene-terrain-tools", ("add-terrain", "raycast-terrain"), prompt=_TERRAIN_PROMPT),
        _preset("scene-terrain-destructive-tools", ("remove-terrain",), risk=Risk.DESTRUCTIVE),
        _preset("scene-lighting-tools", ("add-light", "set-light-state")),
        _preset("scene-skybox-tools", ("set-skybox", "set-background")),
        _preset("scene-camera-tools", ("set-camera", "reset-camera", "screen-ray"), prompt=_CAMERA_PROMPT),
        _preset("scene-state-tools", ("get-state", "restore-state"), risk=Risk.DESTRUCTIVE),
    )
