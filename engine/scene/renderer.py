"""Which renderer this machine can use, found out once and safely. Owns that choice; never paints.

Trying OpenGL may crash a process, so it is tried in another one. `MUJOCO_GL`, MuJoCo's own switch, is obeyed: `egl` and
`osmesa` allow only that one, `disable` (also `off`, `false`, `0`) none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from threading import Lock
from typing import Literal

from engine.scene.gl_context import GL_WORKS, PLATFORMS, GlPlatform

RendererName = Literal["mujoco-egl", "mujoco-osmesa", "software"]

UNKNOWN_RENDERER = "not known yet"
"""What `renderer_name` says before anybody has found out."""

PROBE_SECONDS = 30.0
"""Longest time that a try may take; a loaded machine needs a few seconds for it."""

LOOK_SECONDS = 0.05
"""How often whoever waits for a try is asked whether it still wants it: the longest that the end of an engine waits."""

Checkpoint = Callable[[], object]
"""Called again and again while something is waited for. What it raises ends the waiting, and goes on."""

_NAMES: dict[GlPlatform, RendererName] = {"egl": "mujoco-egl", "osmesa": "mujoco-osmesa"}
_SWITCH = "MUJOCO_GL"
_OFF = frozenset({"disable", "disabled", "off", "false", "0"})


class _Found:
    """What was found out: once for the whole process, since its machine stays the same."""

    def __init__(self) -> None:
        self.finding_out = Lock()
        self.name: RendererName | None = None


_found = _Found()


def _go_on() -> None:
    """The checkpoint of those who wait to the end."""


def detect_renderer(checkpoint: Checkpoint = _go_on) -> RendererName:
    """The renderer that pictures of scenes are made with on this machine. The first call takes a second or more.

    Raises what `checkpoint` raises; the process of the try is gone then, nothing is settled, and the next call tries
    again.
    """
    found = _found
    while not found.finding_out.acquire(timeout=LOOK_SECONDS):
        checkpoint()
    try:
        if found.name is None:
            found.name = _detected(checkpoint)
        return found.name
    finally:
        found.finding_out.release()


def renderer_name() -> str:
    """The same without waiting: `UNKNOWN_RENDERER` as long as `detect_renderer` has not come to an end."""
    return _found.name or UNKNOWN_RENDERER


def platform_of(name: RendererName) -> GlPlatform | None:
    """The OpenGL platform of a renderer; None for the one without OpenGL."""
    return next((platform for platform, of_platform in _NAMES.items() if of_platform == name), None)


def _detected(checkpoint: Checkpoint) -> RendererName:
    wanted = os.environ.get(_SWITCH, "").strip().lower()
    if wanted in _OFF:
        return "software"
    for platform in PLATFORMS:
        if (wanted not in PLATFORMS or platform == wanted) and probe(platform, checkpoint):
            return _NAMES[platform]
    return "software"


def probe(platform: GlPlatform, checkpoint: Checkpoint = _go_on) -> bool:
    """Whether a process of its own can make a picture with that platform. That process is gone when this is left.

    Raises what `checkpoint` raises.
    """
    # -P: the current folder is the user's, and may hold a package of the same name.
    command = [sys.executable, "-P", "-m", "engine.scene.gl_probe", platform]
    try:
        process = subprocess.Popen(  # noqa: S603 - our own program, by our own interpreter
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
    except OSError:
        return False
    with process:
        try:
            said = _said(process, checkpoint)
        finally:
            process.kill()
    return process.returncode == 0 and said.strip() == GL_WORKS


def _said(process: subprocess.Popen[str], checkpoint: Checkpoint) -> str:
    """All that the process prints until it ends; nothing where it takes longer than `PROBE_SECONDS`."""
    deadline = time.monotonic() + PROBE_SECONDS
    while time.monotonic() < deadline:
        try:
            return process.communicate(timeout=LOOK_SECONDS)[0]
        except subprocess.TimeoutExpired:
            checkpoint()
    return ""
