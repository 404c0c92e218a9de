"""Where the engine listens and how long it takes to end, unless told otherwise. Owns these figures.

Apart from what serves, since every command reads them and should not wait for a web server to be imported.
"""

from __future__ import annotations

from protocol.session import SESSION_TTL_SECONDS as SESSION_TTL_SECONDS

DEFAULT_HOST = "127.0.0.1"

DEFAULT_PORT = 7787
"""Below the ephemeral range (32768 on Linux), so that a restart never finds it taken by an outgoing connection."""

MCP_PATH = "/mcp"
"""Where clients find the endpoint, in every mode."""

DEFAULT_AGENT = "standard"
"""The agent of a client that names none; as the roster has it, which takes too long to import for every command."""

GRACE_SECONDS = 10.0
"""How long calls in flight and open connections may take to end."""

PEER_TIMEOUT_SECONDS = 6.0
"""How long a client may leave sent data unread before the kernel drops it. Accepted sockets inherit it.

Hypercorn sends in a shielded scope, so a client that stops reading would otherwise hold the shutdown without limit.
Shorter than the grace of a shutdown, long enough for a client that is busy. Linux only.
"""
