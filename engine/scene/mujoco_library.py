"""MuJoCo, loaded when it is first needed. Owns loading it, what it says, and the few names of it that have no types.

MuJoCo looks for OpenGL while it is imported, and a half-installed OpenGL then raises whatever it likes. Nobody here
needs that: contexts are made by `engine.scene.gl_context`. So it is told not to look.

Left alone, MuJoCo writes its warnings into MUJOCO_LOG.TXT of whatever folder the process happens to be in, and to the
console. Here they reach whoever calls it (`warnings_heard`), and nobody else.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from threading import Lock, local
from typing import Any

MOST_WARNINGS = 8
"""How many warnings one caller is told; a run that goes wrong repeats itself with every step."""

_SWITCH = "MUJOCO_GL"
_loading = Lock()


class _Listener(local):
    """Who listens to MuJoCo in this thread: it calls back in the thread that called it."""

    warnings: list[str] | None = None


# MuJoCo has one handler for the whole process, so the way from it to its callers leads through the module.
_listener = _Listener()


@contextmanager
def warnings_heard() -> Generator[list[str]]:
    """The warnings that MuJoCo gives in this thread meanwhile, each text once, the first `MOST_WARNINGS` of them."""
    before, heard = _listener.warnings, list[str]()
    _listener.warnings = heard
    try:
        yield heard
    finally:
        _listener.warnings = before


def _hear(message: str) -> None:
    """Called by MuJoCo from within C, where an exception would end the process: it must never raise."""
    heard = _listener.warnings
    if heard is not None and len(heard) < MOST_WARNINGS and message not in heard:
        heard.append(message)


@cache
def _loaded() -> Any:
    before = os.environ.get(_SWITCH)
    os.environ[_SWITCH] = "disable"
    try:
        library: Any = importlib.import_module("mujoco")
    finally:
        if before is None:
            del os.environ[_SWITCH]
        else:
            os.environ[_SWITCH] = before
    log = library.MjLogConfig.get()
    log.logto_file = log.logto_console = False
    log.set()
    library.set_mju_user_warning(_hear)
    return library


def mujoco() -> Any:
    """The module. The first call takes a quarter of a second."""
    with _loading:
        return _loaded()


def geom_type(shape: str) -> Any:
    """MuJoCo's number for a shape of a body."""
    return getattr(mujoco().mjtGeom, f"mjGEOM_{shape.upper()}")
