"""An engine with a story and a scripted provider, and a client that follows runs line by line. Owns nothing else."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.scripted_provider import KEY, MODEL, ScriptedProvider, scripted_provider
from tests.transport.mcp_client import JSON_BODY
from tests.transport.raw_http import RawConnection, Response, request_bytes
from tests.transport.running_engine import RunningEngine, running_engine

STORY = "/api/stories/tale"
GENERATE = f"{STORY}/generate"

FRAGMENTS: tuple[dict[str, Any], ...] = (
    {"id": "pr-first", "type": "prose", "name": "First", "content": "It rained.", "order": 1},
    {"id": "pr-second", "type": "prose", "name": "Second", "content": "It still rained.", "order": 2},
    {
        "id": "ch-mara",
        "type": "character",
        "name": "Mara",
        "description": "a keeper",
        "content": "Mara keeps the light.",
    },
    {"id": "gl-tense", "type": "guideline", "name": "Tense", "content": "Past tense.", "sticky": True},
)


@dataclass
class Rig:
    """The parts, and short ways to ask."""

    engine: RunningEngine
    provider: ScriptedProvider
    folder: Path

    async def send(self, method: str, path: str, body: Any = None) -> Response:
        data = None if body is None else json.dumps(body).encode()
        return await self.engine.request(method, path, JSON_BODY if data is not None else (), data)

    async def get(self, path: str) -> Any:
        response = await self.send("GET", path)
        assert response.status == 200, response
        return response.json

    async def put_provider(self, provider_id: str = "main", **members: Any) -> Response:
        body = {"baseURL": self.provider.url, "apiKey": KEY, "defaultModel": MODEL, **members}
        return await self.send("PUT", f"/api/providers/{provider_id}", body)

    async def events(self, path: str = GENERATE, body: Any = None) -> list[dict[str, Any]]:
        """Everything that a run tells."""
        response = await self.send("POST", path, {"input": "Go on."} if body is None else body)
        assert response.status == 200, response
        assert response.header("content-type") == "application/x-ndjson"
        return [json.loads(line) for line in response.body.splitlines()]

    async def follow(self, path: str = GENERATE, body: Any = None) -> Following:
        """Start a run and follow it."""
        connection = await self.engine.connect()
        data = json.dumps({"input": "Go on."} if body is None else body).encode()
        await connection.send(request_bytes("POST", path, JSON_BODY, data))
        head = await connection.read_head()
        assert head.status == 200, head
        return Following(connection, head.header("x-run-id") or "")

    async def runs(self) -> list[dict[str, Any]]:
        return (await self.get(f"{STORY}/runs"))["runs"]

    async def record(self, run_id: str) -> Any:
        return await self.get(f"{STORY}/runs/{run_id}")

    async def prose(self) -> list[Any]:
        rows = (await self.get(f"{STORY}/fragments?type=prose"))["fragments"]
        return [(row["name"], row["content"]) for row in rows]


@dataclass
class Following:
    """A run whose events come one by one."""

    connection: RawConnection
    run_id: str

    async def next(self) -> dict[str, Any] | None:
        """The next event, or None at the clean end."""
        line = await self.connection.read_chunk()
        return None if line is None else json.loads(line)

    async def until(self, kind: str) -> dict[str, Any]:
        """The next event of that type."""
        while True:
            event = await self.next()
            assert event is not None, f"the stream ended before {kind}"
            if event["type"] == kind:
                return event


@asynccontextmanager
async def generation_rig(folder: Path, **settings: Any) -> AsyncGenerator[Rig]:
    """An engine with a story, and a provider that is the default one."""
    async with scripted_provider() as provider, running_engine(folder, **settings) as engine:
        rig = Rig(engine, provider, folder)
        assert (await rig.send("POST", "/api/stories", {"id": "tale", "name": "A Tale"})).status == 201
        for fragment in FRAGMENTS:
            assert (await rig.send("POST", f"{STORY}/fragments", fragment)).status == 201
        assert (await rig.put_provider()).status == 201
        yield rig


def kinds(events: list[dict[str, Any]]) -> list[str]:
    """Their types."""
    return [event["type"] for event in events]


def text_of(events: list[dict[str, Any]], kind: str = "text") -> str:
    """The text in them."""
    return "".join(event["text"] for event in events if event["type"] == kind)
