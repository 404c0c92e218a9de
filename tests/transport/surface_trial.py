"""A surface on trial: its tools called through the MCP endpoint, and what they did seen in the state and the picture.

Owns the calls and the looking. What a tool should do is for the tests to say.
"""

from __future__ import annotations

import io
import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tests.transport.mcp_client import JSON_BODY, McpClient
from tests.transport.running_engine import RunningEngine

Pixels = NDArray[np.int16]
"""Rows, columns, and red, green and blue from 0 to 255; signed, so that two pictures can be subtracted."""


@dataclass(frozen=True, slots=True)
class Change:
    """What one call did: its result, and the state and the picture on both sides of it."""

    result: dict[str, Any]
    before: dict[str, Any]
    after: dict[str, Any]
    picture_before: Pixels
    picture_after: Pixels

    @property
    def changed_pixels(self) -> NDArray[np.bool_]:
        """Which pixels are not what they were."""
        return np.any(self.picture_before != self.picture_after, axis=2)


class SurfaceTrial:
    """One surface of a running engine, met by a client in direct mode. `view` is what every picture is asked with."""

    def __init__(self, engine: RunningEngine, client: McpClient, domain: str, view: Mapping[str, Any]) -> None:
        self.engine = engine
        self.domain = domain
        self._client = client
        self._view = dict(view)

    @classmethod
    async def entered(
        cls, engine: RunningEngine, domain: str, context: Mapping[str, Any], view: Mapping[str, Any], *presets: str
    ) -> SurfaceTrial:
        """With the user on that surface, and these presets turned on besides."""
        trial = cls(engine, await engine.client(), domain, view)
        await trial.rest("PUT", "/api/context", context)
        for preset in presets:
            await trial.override(preset, "on")
        return trial

    async def rest(self, method: str, target: str, body: Any = None) -> Any:
        """The JSON that a REST route answers with, which must be a success."""
        data = None if body is None else json.dumps(body).encode()
        response = await self.engine.request(method, target, JSON_BODY, data)
        assert response.status == 200, response
        return response.json

    async def override(self, preset: str, state: str) -> None:
        """Turn a preset on, off, or leave it to the context."""
        await self.rest("PUT", f"/api/presets/{preset}/override", {"state": state})

    async def context(self) -> dict[str, Any]:
        """The context as REST gives it."""
        return await self.rest("GET", "/api/context")

    async def tool_names(self) -> set[str]:
        """The tools of this surface on offer, without what all their names begin with."""
        prefix = f"space_{self.domain}_"
        names = await self._client.tool_names()
        return {name.removeprefix(prefix) for name in names if name.startswith(prefix)}

    async def app(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured result of a tool of the app, which must be a success."""
        return await self._called(f"space_app_{tool}", arguments)

    async def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured result of a tool of this surface, which must be a success."""
        return await self._called(f"space_{self.domain}_{tool}", arguments)

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """The reason for which a tool of this surface refuses; it must leave the world as it is."""
        before = await self.revision()
        result = await self._client.call(f"space_{self.domain}_{tool}", arguments)
        assert result["isError"] is True, result
        assert await self.revision() == before
        return result["content"][0]["text"]

    async def revision(self) -> int:
        """The revision of the world."""
        return (await self("inspect"))["revision"]

    async def state(self) -> dict[str, Any]:
        """Everything on the surface, as its get_state gives it."""
        return (await self("get_state"))["state"]

    async def picture(self) -> Pixels:
        """What space_app_capture_view shows."""
        result = await self._client.call("space_app_capture_view", self._view)
        assert not result.get("isError"), result
        (image,) = (part for part in result["content"] if part["type"] == "image")
        assert image["mimeType"] == "image/png"
        shown = Image.open(io.BytesIO(b64decode(image["data"])))
        assert shown.size == (self._view["width"], self._view["height"])
        return np.asarray(shown.convert("RGB"), dtype=np.int16)

    async def change(self, tool: str, /, **arguments: Any) -> Change:
        """Call a tool that is one step of the history; undo must take it back exactly, and redo bring it back."""
        before, picture_before = await self.state(), await self.picture()
        result = await self(tool, **arguments)
        after, picture_after = await self.state(), await self.picture()
        assert after != before, "it changed nothing"
        assert await self.revision() == result["revision"]
        await self.app("undo")
        assert await self.state() == before
        assert np.array_equal(await self.picture(), picture_before)
        await self.app("redo")
        assert await self.state() == after
        return Change(result, before, after, picture_before, picture_after)

    async def _called(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        result = await self._client.call(name, dict(arguments))
        assert not result.get("isError"), result
        structured = result["structuredContent"]
        assert json.loads(result["content"][0]["text"]) == structured
        return structured
