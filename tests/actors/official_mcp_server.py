"""An MCP server made with the official Python server, over stdio or HTTP. Started by tests as a process of its own.

Usage: official_mcp_server.py stdio, or: official_mcp_server.py PORT TOKEN.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel


class Sum(BaseModel):
    sum: int


server = MCPServer("official", version="1")


@server.tool()
def add(a: int, b: int) -> Sum:
    """Add two numbers."""
    return Sum(sum=a + b)


@server.tool()
def token(ctx: Context[Any, Any]) -> str:
    """Says which token came along."""
    return (ctx.headers or {}).get("authorization", "none")


@server.tool()
async def grow(ctx: Context[Any, Any]) -> str:
    """Adds a tool."""

    def late() -> str:
        return "late"

    server.add_tool(late, name="late", description="Came later.")
    await ctx.session.send_tool_list_changed()
    return "grown"


@server.tool()
async def steps(ctx: Context[Any, Any]) -> str:
    """Reports progress."""
    for step in (1, 2, 3):
        await ctx.report_progress(step, 3, f"step {step}")
    return "done"


@server.tool()
async def wait() -> str:
    """Waits for ever."""
    try:
        await asyncio.sleep(600)
    except BaseException:
        sys.stderr.write("the wait was cancelled\n")
        sys.stderr.flush()
        raise
    return "waited"


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", port=int(sys.argv[1]))
