"""The thread that paints scenes with OpenGL: one in a process, since its libraries are made for one picture at a time.

Owns the thread and the painter in it, which keeps its context from picture to picture. A thread that has nothing to do
for a while gives all of it back and ends.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

import numpy as np
from numpy.typing import NDArray

from engine.scene.gl_context import GlPlatform
from engine.scene.mujoco_picture import MujocoPainter
from engine.scene.snapshot import SceneSnapshot

IDLE_SECONDS = 15.0
"""How long the context is kept for a picture that may come. It holds some hundred megabytes of shadows and pixels."""


@dataclass(frozen=True, slots=True)
class _Order:
    scene: SceneSnapshot
    width: int
    height: int
    theme_color: str
    platform: GlPlatform
    pixels: Future[NDArray[np.uint8]] = field(default_factory=Future[NDArray[np.uint8]])


class PaintingThread:
    """Takes orders for pictures from any thread, and carries them out one after another."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._orders: SimpleQueue[_Order] = SimpleQueue()
        self._lock = threading.Lock()
        self._runs = False

    @property
    def runs(self) -> bool:
        """Whether there is a thread at the moment."""
        return self._runs

    def paint(
        self, scene: SceneSnapshot, width: int, height: int, theme_color: str, platform: GlPlatform
    ) -> NDArray[np.uint8]:
        """See `MujocoPainter.paint`. Blocks until the picture is there, behind those that were ordered before."""
        order = _Order(scene, width, height, theme_color, platform)
        with self._lock:
            self._orders.put(order)
            if not self._runs:
                # A daemon: an engine that ends waits for no picture, and the system takes the context.
                threading.Thread(target=self._work, name="scene-painter", daemon=True).start()
                self._runs = True
        return order.pixels.result()

    def _work(self) -> None:
        painter: MujocoPainter | None = None
        platform: GlPlatform | None = None
        while True:
            try:
                order = self._orders.get(timeout=self._idle_seconds)
            except Empty:
                # Before another thread can begin: two contexts at a time are one too many.
                if painter is not None:
                    painter.close()
                with self._lock:
                    if self._orders.empty():
                        self._runs = False
                        return
                continue
            if painter is None or platform != order.platform:
                if painter is not None:
                    painter.close()
                painter, platform = MujocoPainter(order.platform), order.platform
            try:
                pixels = painter.paint(order.scene, order.width, order.height, order.theme_color)
            except BaseException as error:  # noqa: BLE001 - the boundary of the thread: whoever ordered is told
                order.pixels.set_exception(error)
            else:
                order.pixels.set_result(pixels)
