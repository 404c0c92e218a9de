"""The tool that lets a model see: the current surface as a picture."""

from __future__ import annotations

from base64 import b64encode
from typing import Annotated

from mcp_types import ImageContent
from pydantic import Field

from engine.errors import InvalidArgumentError
from engine.view import DEFAULT_VIEW_HEIGHT, DEFAULT_VIEW_WIDTH, MAX_VIEW_SIDE, MIN_VIEW_SIDE, ViewBox, ViewRequest
from presets.adapters import ToolAdapter, WithImages, typed_adapter
from presets.app import App
from presets.schema import ToolArguments, ToolResult
from protocol.tool import ToolCall

MAX_IMAGE_CHARACTERS = 5_000_000
"""Of base64. Clients refuse or shrink larger images."""

Side = Annotated[int, Field(ge=MIN_VIEW_SIDE, le=MAX_VIEW_SIDE)]
Extent = Annotated[float, Field(gt=0)]


class BoxArgument(ToolArguments):
    """A part of the canvas in its own units: its lower left corner, and how far it reaches right and up."""

    x: float
    y: float
    width: Extent
    height: Extent


class CaptureViewArguments(ToolArguments):
    """How large the picture shall be, and what it shall show."""

    width: Side = Field(DEFAULT_VIEW_WIDTH, description="Pixels.")
    height: Side = Field(DEFAULT_VIEW_HEIGHT, description="Pixels.")
    box: BoxArgument | None = Field(
        None,
        description=(
            "The part of the canvas to show, in canvas units (+y up), with x and y its lower left corner; it grows to "
            "the picture's shape. Left out: all that is drawn."
        ),
    )


class BoxResult(ToolResult):
    """A part of the canvas in its own units: its lower left corner, and how far it reaches right and up."""

    x: float
    y: float
    width: float
    height: float


class CaptureViewResult(ToolResult):
    """What the picture shows: the surface of that world at that revision, and its size in pixels."""

    surface: str
    world_id: str
    revision: int
    width: int
    height: int
    box: BoxResult | None = Field(None, description="The part of the canvas that the picture really shows.")


async def capture_view(app: App, arguments: CaptureViewArguments, call: ToolCall) -> WithImages:
    """Body of `space_app_capture_view`."""
    wanted = arguments.box
    box = None if wanted is None else ViewBox(wanted.x, wanted.y, wanted.width, wanted.height)
    view = await app.capture_view(ViewRequest(width=arguments.width, height=arguments.height, box=box))
    data = b64encode(view.png).decode("ascii")
    if len(data) > MAX_IMAGE_CHARACTERS:
        raise InvalidArgumentError(
            f"The picture of {view.width} by {view.height} pixels takes {len(data)} characters, and clients take "
            f"{MAX_IMAGE_CHARACTERS}; ask for a smaller width and height."
        )
    shown = view.box
    result = CaptureViewResult(
        surface=view.surface,
        world_id=view.world_id,
        revision=view.revision,
        width=view.width,
        height=view.height,
        box=None if shown is None else BoxResult(x=shown.x, y=shown.y, width=shown.width, height=shown.height),
    )
    return WithImages(result, (ImageContent(type="image", data=data, mime_type="image/png"),))


def adapters() -> tuple[ToolAdapter, ...]:
    """Every adapter of this topic."""
    return (
        typed_adapter(
            id="app.capture-view",
            mcp_name="space_app_capture_view",
            title="Look at the surface",
            description="Get the current surface as a PNG picture, to see what it looks like to the user.",
            arguments=CaptureViewArguments,
            result=CaptureViewResult,
            run=capture_view,
            read_only=True,
        ),
    )
