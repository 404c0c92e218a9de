"""The measure of what a web server costs: a bare quart-trio route that gives back the JSON it was sent."""

from __future__ import annotations

import socket
from typing import Any, cast

import trio
from hypercorn.config import Config, Sockets
from hypercorn.trio import serve
from quart import Response, jsonify, request
from quart_trio import QuartTrio

from benchmarks import leash

KEEP_ALIVE_REQUESTS = 2**31
"""Hypercorn ends a connection after 1000 requests, with an error that would count against the route."""


class _Config(Config):
    def __init__(self, listening: socket.socket) -> None:
        super().__init__()
        self._listening = listening
        self.accesslog = None
        self.errorlog = None
        self.keep_alive_max_requests = KEEP_ALIVE_REQUESTS

    def create_sockets(self) -> Sockets:
        return Sockets([], [self._listening], [])


def _app() -> QuartTrio:
    app = QuartTrio("echo")

    async def echo() -> Response:
        return jsonify(await request.get_json())

    app.post("/echo")(echo)
    return app


async def _serve() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    async with trio.open_nursery() as nursery:
        config = _Config(listening)

        async def run(*, task_status: trio.TaskStatus[Any]) -> None:
            await serve(cast("Any", _app()), config, task_status=task_status, mode="asgi")

        await nursery.start(run)
        print(f"listening on http://127.0.0.1:{listening.getsockname()[1]}/echo", flush=True)


if __name__ == "__main__":
    leash.hold()
    trio.run(_serve)
