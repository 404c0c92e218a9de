"""The scene: bodies, terrain, lights and a camera in three dimensions, on the records of a world.

Everything here is synchronous and pure, but for finding out which renderer this machine has. See docs/scene.md.
"""

from __future__ import annotations

from engine.scene.gltf import to_glb
from engine.scene.picture import ScenePicture, picture
from engine.scene.reading import selection_kind
from engine.scene.records import RECORD_TYPES
from engine.scene.renderer import detect_renderer, renderer_name
from engine.scene.snapshot import SceneSnapshot, snapshot

__all__ = [
    "RECORD_TYPES",
    "ScenePicture",
    "SceneSnapshot",
    "detect_renderer",
    "picture",
    "renderer_name",
    "selection_kind",
    "snapshot",
    "to_glb",
]
