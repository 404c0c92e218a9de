"""MuJoCo, loaded when it is first needed. Owns loading it, and the few names of it that have no types of their own.

MuJoCo looks for OpenGL while it is imported, and a half-installed OpenGL then raises whatever it likes. Nobody here
needs that: contexts are made by `engine.scene.gl_context`. So it is told not to look.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from threading import Lock
from typing import Any

_SWITCH = "MUJOCO_GL"
_loading = Lock()


@cache
def _loaded() -> Any:
    before = os.environ.get(_SWITCH)
    os.environ[_SWITCH] = "disable"
    try:
        return importlib.import_module("mujoco")
    finally:
        if before is None:
            del os.environ[_SWITCH]
        else:
            os.environ[_SWITCH] = before


def mujoco() -> Any:
    """The module. The first call takes a quarter of a second."""
    with _loading:
        return _loaded()


def geom_type(shape: str) -> Any:
    """MuJoCo's number for a shape of a body."""
    return getattr(mujoco().mjtGeom, f"mjGEOM_{shape.upper()}")
