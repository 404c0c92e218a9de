"""The REST routes of what is seen: pictures of a surface, and where in them something was changed.

Owns paths, codes and headers of these; errors are `application/problem+json` (see `transport.problem`). Holds no state
but the name of this process in the tags of pictures.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from secrets import token_hex
from typing import Any, TypeVar

from quart import Blueprint, Response, request

from actors.app import PictureFile
from actors.space import Space
from actors.world import PictureKey
from engine.view import DEFAULT_VIEW_HEIGHT, DEFAULT_VIEW_WIDTH, View, ViewRequest
from transport.json_body import json_response
from transport.query import whole_number

FileT = TypeVar("FileT")

REVISION_HEADER = "X-Space-Revision"
"""The revision of the world that a picture shows."""
WORLD_HEADER = "X-Space-World"
"""The world that a picture shows."""

# What a model drew is shown, never run. Kept by one client at most, which asks before each use whether it still holds.
_VIEW_HEADERS = {
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; font-src data:; sandbox",
    "X-Content-Type-Options": "nosniff",
}


def view_routes(space: Space) -> Blueprint:
    """The routes of pictures and marks."""
    routes = Blueprint("views", __name__)
    # Worlds of another data folder have the same ids and revisions.
    process = token_hex(8)

    async def answer(
        kind: str, content_type: str, take: Callable[[], Awaitable[PictureFile[FileT]]], data: Callable[[FileT], Any]
    ) -> Response:
        """The picture, or 304 where the client has it: before anything is rendered, by what was published last."""
        known = space.app.picture_key(request.args.get("surface"))
        if request.if_none_match.contains_weak(_tag(process, known, kind)):
            return _with_headers(_not_modified(), known, _tag(process, known, kind))
        taken = await take()
        response = Response(data(taken.file), content_type=content_type)
        return _with_headers(response, taken.key, _tag(process, taken.key, kind))

    @routes.get("/api/view.svg")
    async def get_view_svg() -> Response:
        surface = request.args.get("surface")
        return await answer(
            "svg", "image/svg+xml; charset=utf-8", lambda: space.app.capture_svg(surface), lambda svg: svg
        )

    @routes.get("/api/view.glb")
    async def get_view_glb() -> Response:
        surface = request.args.get("surface")
        return await answer("glb", "model/gltf-binary", lambda: space.app.capture_glb(surface), lambda glb: glb)

    @routes.get("/api/view.png")
    async def get_view_png() -> Response:
        wanted = _wanted()
        kind = f"{wanted.width}x{wanted.height}.png"
        return await answer(kind, "image/png", lambda: space.app.capture_png(wanted), _png_of)

    @routes.get("/api/view/marks")
    async def get_view_marks() -> Response:
        since = whole_number("since", None)
        has_size = "width" in request.args or "height" in request.args
        wanted = _wanted()
        size = (wanted.width, wanted.height) if has_size else None
        taken = await space.app.take_marks(since, wanted.surface, size)
        return json_response(
            {
                "world_id": taken.world.id,
                "surface": taken.surface,
                "revision": taken.world.revision,
                "complete": taken.complete,
                "marks": [asdict(mark) for mark in taken.marks],
            }
        )

    return routes


def _png_of(view: View) -> bytes:
    return view.png


def _wanted() -> ViewRequest:
    return ViewRequest(
        surface=request.args.get("surface"),
        width=whole_number("width", DEFAULT_VIEW_WIDTH, "pixels"),
        height=whole_number("height", DEFAULT_VIEW_HEIGHT, "pixels"),
    )


def _tag(process: str, key: PictureKey, kind: str) -> str:
    return f"{process}.{key.world_id}.{key.revision}.{key.domain}.{key.theme}.{kind}"


def _not_modified() -> Response:
    # A body that is empty, not none: Quart would look for the event loop of asyncio to make one.
    response = Response(b"", 304)
    for header in ("Content-Type", "Content-Length"):
        response.headers.pop(header, None)
    return response


def _with_headers(response: Response, key: PictureKey, tag: str) -> Response:
    response.headers.update(_VIEW_HEADERS)
    response.headers[REVISION_HEADER] = str(key.revision)
    response.headers[WORLD_HEADER] = key.world_id
    # Weak: another renderer of the same scene gives other bytes.
    response.set_etag(tag, weak=True)
    return response
