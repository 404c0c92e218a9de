"""An MCP server over stdio, written by hand, that behaves as its arguments say. Started by tests as a process.

Usage: raw_mcp_server.py [MODE ...]. What it lists stands in `tools.json` of its folder, where that is there; what it
has seen, it adds to `seen.txt`. Nothing but the standard library, so that it starts at once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MODES = frozenset(sys.argv[1:])
ANY: dict[str, Any] = {"type": "object"}
TOOLS: list[dict[str, Any]] = [
    {"name": "read_note", "description": "Read.", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {
        "name": "add",
        "title": "Add up",
        "description": "Add two numbers.",
        "inputSchema": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
        "outputSchema": {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]},
    },
    *({"name": name, "description": f"Does {name}.", "inputSchema": ANY} for name in ("fail", "wait", "steps", "rich")),
    *({"name": name, "description": f"Does {name}.", "inputSchema": ANY} for name in ("env", "die", "spawn", "wrong")),
]
NEWER: dict[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
"""What results have in the revision without sessions."""

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
RICH: list[dict[str, Any]] = [
    {"type": "text", "text": "look"},
    {"type": "image", "data": PIXEL, "mimeType": "image/png"},
    {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///a.txt", "name": "a"},
    {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "b", "mimeType": "text/plain"}},
]


def send(message: dict[str, Any]) -> None:
    # No signal in the middle of a message: its handler sends one as well.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})


def seen(what: str) -> None:
    with Path("seen.txt").open("a", encoding="utf-8") as file:
        file.write(what + "\n")


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], **more}


def tools(params: dict[str, Any]) -> dict[str, Any]:
    path = Path("tools.json")
    listed = json.loads(path.read_text(encoding="utf-8")) if path.exists() else TOOLS
    if "deep" in MODES:
        listed = [{"name": "deep", "inputSchema": ANY}, {"name": "too_deep", "inputSchema": nested(300)}, *listed]
    if "silent-list" in MODES:
        time.sleep(1000)
    if "circle" in MODES:
        return {"tools": listed[:1], "nextCursor": "again"}
    if "endless" in MODES:
        page = int(params.get("cursor", "0"))
        return {"tools": [{**listed[0], "name": f"tool_{page}"}], "nextCursor": str(page + 1)}
    if "pages" in MODES:
        at = int(params.get("cursor", "0"))
        following = {"nextCursor": str(at + 2)} if at + 2 < len(listed) else {}
        return {"tools": listed[at : at + 2], **following}
    return {"tools": listed}


def nested(levels: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for _ in range(levels):
        made = {"inner": made}
    return made


def call(number: Any, params: dict[str, Any]) -> dict[str, Any] | None:
    name, arguments = params["name"], params.get("arguments") or {}
    seen(f"call {name}")
    match name:
        case "add":
            total = arguments["a"] + arguments["b"]
            return text(str(total), structuredContent={"sum": total})
        case "wrong":
            return {"content": "nonsense"}
        case "fail":
            return text("the disk is full", isError=True)
        case "wait":
            return None
        case "steps":
            token = params.get("_meta", {}).get("progressToken")
            for done in (1, 2, 2, 1, 3):
                progress = {"progressToken": token, "progress": done, "total": 3, "message": f"step {done}"}
                send({"method": "notifications/progress", "params": progress})
                time.sleep(0.02)
            return text("done")
        case "deep":
            return text("x", structuredContent=nested(300))
        case "rich":
            return {"content": RICH}
        case "env":
            return text(json.dumps(dict(os.environ)))
        case "die":
            sys.stderr.write("out of memory, token s3cr3t-token-of-tests\n")
            sys.stderr.flush()
            os._exit(3)
        case "spawn":
            away = bool(arguments.get("away"))
            return text(str(subprocess.Popen(["sleep", "1000"], start_new_session=away).pid))
        case _:
            return text(f"{name} {json.dumps(arguments)}")


def answer(message: dict[str, Any]) -> None:
    method, number = message.get("method"), message.get("id")
    params: dict[str, Any] = message.get("params") or {}
    if method == "initialize":
        if "newer" in MODES:
            send({"id": number, "error": {"code": -32601, "message": "initialize is not known"}})
            return
        result: Any = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "raw", "version": "1"},
        }
    elif method == "server/discover" and "newer" in MODES:
        result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    elif method == "tools/list":
        seen("list")
        result = tools(params)
    elif method == "tools/call":
        result = call(number, params)
    elif method == "ping":
        result = {}
    elif method == "notifications/cancelled":
        seen(f"cancelled {params.get('requestId')}")
        return
    elif number is None:
        return
    else:
        send({"id": number, "error": {"code": -32601, "message": "not known"}})
        return
    if result is not None:
        send({"id": number, "result": {**NEWER, **result} if "newer" in MODES else result})


def main() -> None:
    seen(f"started {os.getpid()}")
    if "crash" in MODES:
        sys.stderr.write("no license found\n")
        sys.exit(7)
    if "later" in MODES:
        time.sleep(1.0)
    if "silent" in MODES:
        time.sleep(600)
    if "stubborn" in MODES:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "junk" in MODES:
        sys.stdout.write("Server running!\n{not json\n[]\n\n42\n" + "x" * 300_000 + "\n\x00\n")
        sys.stdout.flush()
    if "noisy" in MODES:
        sys.stderr.write("debug: nothing to see here\n" * 40_000)
        sys.stderr.flush()
    for line in iter(sys.stdin.readline, ""):
        answer(json.loads(line))
    if "stubborn" in MODES:
        time.sleep(600)


def announce(*given: object) -> None:
    """On SIGUSR1: say that the tools have changed, as often as asked."""
    for _ in range(50 if "chatty" in MODES else 1):
        send({"method": "notifications/tools/list_changed"})


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, announce)
    main()
