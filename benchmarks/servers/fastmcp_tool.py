"""What others do: FastMCP with one trivial tool, stateless, with JSON answers, on uvicorn. Its fastest settings."""

from __future__ import annotations

import asyncio
import socket

import uvicorn
from fastmcp import FastMCP

from benchmarks import leash


async def _serve() -> None:
    server = FastMCP("trivial")

    async def benchmark_echo(text: str) -> dict[str, str]:
        """Give the text back."""
        return {"text": text}

    server.tool(benchmark_echo)
    # asyncio turns Nagle's algorithm off only on sockets that name their protocol; with it each answer takes 40 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    app = server.http_app(path="/mcp", stateless_http=True, json_response=True)
    config = uvicorn.Config(app, log_level="error", access_log=False, lifespan="on")
    print(f"listening on http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    leash.hold()
    asyncio.run(_serve())
