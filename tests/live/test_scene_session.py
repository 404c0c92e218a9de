"""opencode builds in the scene: terrain, ten boxes that are dropped on it, a look, and a report of where they lie.

Only the model is scripted, and what it says next is made of what it was told. Runs in both modes of the MCP endpoint.
"""

from __future__ import annotations

import io
import json
import re
from base64 import b64decode
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.live.conftest import Live, Session
from tests.live.scripted_model import Call, ModelRequest, Step, text_of

pytestmark = [pytest.mark.alone, pytest.mark.live, pytest.mark.slow]

BOXES = 10
DROP_HEIGHT = 2.0
"""Metres between the ground and the middle of a box before it falls."""
RED = "#FF0000"

PLACES = [(column * 2.5 - 5.0, row * 3.0 - 1.5) for row in range(2) for column in range(5)]
"""Where the boxes are dropped, far enough apart not to meet at once."""

GO = Step(calls=(Call("space_app_switch_surface", {"surface": "scene"}),))
BUILD = Step(
    calls=(Call("space_scene_add_terrain", {"kind": "perlin", "seed": 14, "height": 1.5, "size": 20, "octaves": 2}),)
)
MEASURE = Step(calls=tuple(Call("space_scene_raycast_terrain", {"x": x, "z": z}) for x, z in PLACES))
SIMULATE = Step(calls=(Call("space_scene_simulate", {"seconds": 20, "until_at_rest": True}),))
FRAME = Step(calls=(Call("space_scene_reset_camera", {"fit": True}),))
LOOK = Step(calls=(Call("space_app_capture_view", {"width": 320, "height": 240}),))
INSPECT = Step(calls=(Call("space_scene_inspect"),))


def drop(request: ModelRequest) -> Step:
    """A box above each place whose ground has just been measured."""
    points = [json.loads(result)["point"] for result in request.results]
    boxes = [{"x": point["x"], "y": point["y"] + DROP_HEIGHT, "z": point["z"], "color": RED} for point in points]
    return Step(calls=tuple(Call("space_scene_add_cuboid", box) for box in boxes))


def report(request: ModelRequest) -> Step:
    """What was inspected, in words."""
    (result,) = request.results
    places = [(body["id"], *body["position"].values()) for body in json.loads(result)["bodies"]]
    return Step(text="\n".join(f"{name} rests at ({x}, {y}, {z})." for name, x, y, z in places))


def pictures(request: ModelRequest) -> list[Image.Image]:
    """Every picture among the messages of a request."""
    parts = [
        part for message in request.messages if isinstance(message["content"], list) for part in message["content"]
    ]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [Image.open(io.BytesIO(b64decode(url.partition("base64,")[2]))) for url in urls]


def ask(live: Live, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result of a tool that is called with the `space` command."""
    return live.engine.ask("call", tool, json.dumps(arguments))["structured_content"]


@pytest.mark.parametrize(
    "live", ["direct", pytest.param("force-sse", marks=pytest.mark.nightly)], indirect=True, scope="module"
)
def test_ten_boxes_are_dropped_on_hills_and_the_model_reports_where_they_came_to_rest(
    live: Live, session: Session
) -> None:
    requests = session.turn(GO, BUILD, MEASURE, drop, SIMULATE, FRAME, LOOK, INSPECT, report)
    _, on_the_scene, _, _, dropped, simulated, _, looked, _ = requests
    assert "space_space_scene_add_terrain" in on_the_scene.tools
    assert len(dropped.results) == BOXES
    run = json.loads(simulated.results[0])
    assert (run["moving_count"], run["all_at_rest"], run["lost_count"]) == (BOXES, True, 0)

    (picture,) = pictures(looked)
    assert picture.size == (320, 240)
    pixels = np.asarray(picture.convert("RGB"), dtype=np.float64).reshape(-1, 3)
    red, green, blue = pixels.T
    assert (red > 2 * np.maximum(np.maximum(green, blue), 20)).any(), "the boxes"
    assert (green > 1.2 * np.maximum(np.maximum(red, blue), 20)).any(), "the ground"

    (next_request,) = session.turn(Step(text="Done."))
    said = [text_of(message) for message in next_request.messages if message["role"] == "assistant"][-1]
    number = r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)"
    reported = re.findall(rf"(body-\d+) rests at \({number}, {number}, {number}\)\.", said)
    bodies = {body["id"]: body["position"] for body in ask(live, "space_scene_inspect")["bodies"]}
    assert {name: tuple(map(float, at)) for name, *at in reported} == {
        name: (at["x"], at["y"], at["z"]) for name, at in bodies.items()
    }
    assert len(bodies) == BOXES
    for at in bodies.values():
        ground = ask(live, "space_scene_raycast_terrain", x=at["x"], z=at["z"])["y"]
        assert 0.3 < at["y"] - ground < 1.3
