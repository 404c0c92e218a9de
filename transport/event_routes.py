"""The REST route of changes: an event stream that says which part of the engine has changed how often.

Owns the path. What the topics are and when a frame is due is with `actors.versions`. Holds no state.
"""

from __future__ import annotations

from quart import Blueprint, Response

from actors.space import Space
from transport.event_stream import event_stream


def event_routes(space: Space) -> Blueprint:
    """The one route."""
    routes = Blueprint("events", __name__)

    @routes.get("/api/events")
    async def get_events() -> Response:
        reader = space.versions.read()
        return event_stream(reader.next, reader.close)

    return routes
