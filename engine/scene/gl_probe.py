"""A program of its own that tries to make one small picture with OpenGL, so that a driver that crashes takes only it.

`python -m engine.scene.gl_probe egl` ends with 0 and says `GL_WORKS` where that works, and otherwise in any other way.
"""

from __future__ import annotations

import sys

from engine.scene.gl_context import GL_WORKS, PLATFORMS
from engine.scene.measures import MIN_EXTENT
from engine.scene.mujoco_picture import MujocoPainter
from engine.scene.records import Body, Camera
from engine.scene.snapshot import SceneSnapshot
from engine.scene.vector import ORIGIN, Vector

_SIDE = 32
"""Pixels."""


def main(arguments: list[str]) -> int:
    """Try the platform that is named. The code with which the program ends."""
    (platform,) = arguments
    if platform not in PLATFORMS:
        raise ValueError(f"{platform!r} is none of {', '.join(PLATFORMS)}")
    size = Vector(1.0, 1.0, 1.0)
    body = Body(id="body-1", shape="box", position=ORIGIN, size=size, color="#FF0000", mass=1.0, friction=MIN_EXTENT)
    camera = Camera(position=Vector(0.0, 0.0, 3.0), yaw=0.0, pitch=0.0)
    scene = SceneSnapshot(bodies=(body,), camera=camera)
    with MujocoPainter(platform) as painter:
        picture = painter.paint(scene, _SIDE, _SIDE, "#000000")
    middle, corner = picture[_SIDE // 2, _SIDE // 2].tolist(), picture[0, 0].tolist()
    if not (middle[0] > middle[1] == middle[2] and corner == [0, 0, 0]):
        print(f"the picture is wrong: {middle} in the middle, {corner} in the corner", file=sys.stderr)  # noqa: T201
        return 1
    print(GL_WORKS)  # noqa: T201 - it is what whoever started this program reads
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
