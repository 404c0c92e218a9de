"""Which renderer this machine can use, found out once and safely. Owns that choice; never paints.

Trying OpenGL may crash a process, so it is tried in another one. `MUJOCO_GL`, MuJoCo's own switch, is obeyed: `egl` and
`osmesa` allow only that one, `disable` (also `off`, `false`, `0`) none.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from threading import Lock
from typing import Literal

from engine.scene.gl_context import GL_WORKS, PLATFORMS, GlPlatform

RendererName = Literal["mujoco-egl", "mujoco-osmesa", "software"]

UNKNOWN_RENDERER = "not known yet"
"""What `renderer_name` says before anybody has found out."""

PROBE_SECONDS = 30.0
"""Longest time that a try may take; a loaded machine needs a few seconds for it."""

_NAMES: dict[GlPlatform, RendererName] = {"egl": "mujoco-egl", "osmesa": "mujoco-osmesa"}
_SWITCH = "MUJOCO_GL"
_OFF = frozenset({"disable", "disabled", "off", "false", "0"})
_finding_out = Lock()


def detect_renderer() -> RendererName:
    """The renderer that pictures of scenes are made with on this machine. The first call takes a second or more."""
    with _finding_out:
        return _detected()


def renderer_name() -> str:
    """The same without waiting: `UNKNOWN_RENDERER` as long as `detect_renderer` has not come to an end."""
    return _detected() if _detected.cache_info().currsize else UNKNOWN_RENDERER


def platform_of(name: RendererName) -> GlPlatform | None:
    """The OpenGL platform of a renderer; None for the one without OpenGL."""
    return next((platform for platform, of_platform in _NAMES.items() if of_platform == name), None)


@cache
def _detected() -> RendererName:
    wanted = os.environ.get(_SWITCH, "").strip().lower()
    if wanted in _OFF:
        return "software"
    for platform in PLATFORMS:
        if (wanted not in PLATFORMS or platform == wanted) and probe(platform):
            return _NAMES[platform]
    return "software"


def probe(platform: GlPlatform) -> bool:
    """Whether a process of its own can make a picture with that platform."""
    # -P: the current folder is the user's, and may hold a package of the same name.
    command = [sys.executable, "-P", "-m", "engine.scene.gl_probe", platform]
    try:
        done = subprocess.run(  # noqa: S603 - our own program, by our own interpreter
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_SECONDS, check=False, text=True
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.strip() == GL_WORKS
