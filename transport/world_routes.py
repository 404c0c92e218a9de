"""The REST routes of whole worlds: list, make, go to, delete, recover, export and import.

Owns paths, bodies and codes; errors are `application/problem+json` (see `transport.problem`). Holds no state. The file
of a world comes in as a stream into a temporary file, so that its size is known before anything reads it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping
from typing import IO, Any

from quart import Blueprint, Response, request

from actors.space import Space
from engine.commands import CreateWorld, DeleteWorld, ListWorlds, SwitchWorld
from engine.errors import InvalidArgumentError
from engine.stored import DeletedWorld
from engine.world_file import FILE_SUFFIX
from protocol.limits import MEBIBYTE, Limits
from transport.json_body import json_object, json_response
from transport.problem import RequestProblemError
from transport.status import world_row

IMPORT_PATH = "/api/worlds/import"
"""Where a world file is sent to."""

WORLD_FILE_TYPE = "application/octet-stream"
"""The media type of world files. Pages elsewhere cannot send it without being asked first."""

IN_MEMORY_BYTES = 4 * MEBIBYTE
"""World files up to here, which most are, never touch the disk on their way in."""


def larger_bodies(limits: Limits) -> Mapping[str, int]:
    """The paths whose body may be longer than that of others, with the most bytes of it."""
    return {IMPORT_PATH: max(limits.world_file_bytes, limits.body_bytes)}


def world_routes(space: Space) -> Blueprint:
    """Every route of whole worlds."""
    routes = Blueprint("worlds", __name__)
    limits = space.options.limits

    @routes.get("/api/worlds")
    async def get_worlds() -> Response:
        done = await space.app.execute(ListWorlds())
        return json_response({"worlds": [world_row(world) for world in done.result]})

    @routes.get("/api/worlds/deleted")
    async def get_deleted() -> Response:
        deleted = await space.library.deleted_worlds()
        return json_response({"worlds": [_deleted_row(world) for world in deleted]})

    @routes.post("/api/worlds")
    async def post_world() -> Response:
        body = _known(await json_object(limits), required={"name"}, optional={"activate"})
        activate = body.get("activate", False)
        if not isinstance(activate, bool):
            raise InvalidArgumentError("activate must be true or false")
        done = await space.app.execute(CreateWorld(_text(body, "name"), activate))
        return json_response(world_row(done.result), 201)

    @routes.get("/api/worlds/<world_id>/export")
    async def get_export(world_id: str) -> Response:
        exported = await space.library.export_world(world_id)
        response = Response(exported.data, content_type=WORLD_FILE_TYPE)
        response.headers.set("Content-Disposition", "attachment", filename=file_name(exported.info.name))
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    @routes.post(IMPORT_PATH)
    async def post_import() -> Response:
        if request.mimetype != WORLD_FILE_TYPE:
            raise RequestProblemError(415, "Unsupported media type", f"send the file itself as {WORLD_FILE_TYPE}")
        unknown = set(request.args) - {"name"}
        if unknown:
            raise InvalidArgumentError(f"there is no parameter {min(unknown)!r:.40}; there is name")
        with tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES) as file:
            await _receive(file, limits.world_file_bytes)
            world = await space.library.import_world(file, request.args.get("name"))
        return json_response(world_row(world), 201)

    @routes.post("/api/worlds/<world_id>/recover")
    async def post_recover(world_id: str) -> Response:
        body = _known(await json_object(limits) if await request.get_data() else {}, optional={"name"})
        name = _text(body, "name") if body.get("name") is not None else None
        return json_response(world_row(await space.library.recover_world(world_id, name)))

    @routes.post("/api/worlds/<world_id>/activate")
    async def post_activate(world_id: str) -> Response:
        done = await space.app.execute(SwitchWorld(world_id))
        return json_response(world_row(done.result))

    @routes.delete("/api/worlds/<world_id>")
    async def delete_world(world_id: str) -> Response:
        body = _known(await json_object(limits), required={"confirm_name"})
        done = await space.app.execute(DeleteWorld(world_id, _text(body, "confirm_name")))
        return json_response(world_row(done.result))

    return routes


def file_name(world_name: str) -> str:
    """The name of a world's file: that of the world, without what file systems or shells take amiss."""
    plain = re.sub(r"[^\w .()-]", "_", world_name).strip(". ")
    return f"{plain or 'world'}{FILE_SUFFIX}"


async def _receive(file: IO[bytes], limit: int) -> None:
    """Put the body of the request into the file and go back to its beginning. Stops as soon as there is too much."""
    size = 0
    async for data in request.body:
        size += len(data)
        if size > limit:
            raise RequestProblemError(
                413, "Body too large", f"A world file may have {limit} bytes; `--limit world_file_bytes=` changes that."
            )
        file.write(data)
    file.seek(0)


def _known(body: dict[str, Any], *, required: Iterable[str] = (), optional: Iterable[str] = ()) -> Mapping[str, Any]:
    """The body, when its members are those. Raises `InvalidArgumentError`."""
    needed, allowed = set(required), {*required, *optional}
    for name in sorted(needed - body.keys()):
        raise InvalidArgumentError(f"the body lacks {name!r}")
    for name in sorted(body.keys() - allowed):
        raise InvalidArgumentError(f"the body has a member {name!r:.40}; there are {', '.join(sorted(allowed))}")
    return body


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body[name]
    if not isinstance(value, str):
        raise InvalidArgumentError(f"{name} must be a text")
    return value


def _deleted_row(world: DeletedWorld) -> dict[str, Any]:
    return {
        "id": world.id,
        "name": world.name,
        "deleted_at": world.deleted_at.isoformat(),
        "recoverable_until": world.recoverable_until.isoformat(),
    }
