"""Finding out this machine's renderer from a task. Owns that the try is over, process and all, when the task is."""

from __future__ import annotations

from functools import partial

import trio

from engine.scene import detect_renderer
from engine.scene.renderer import RendererName


async def find_renderer() -> RendererName:
    """What scenes are rendered with here. Cancelled, it waits until the process that tries OpenGL is gone: a moment."""
    return await trio.to_thread.run_sync(partial(detect_renderer, trio.from_thread.check_cancelled))
