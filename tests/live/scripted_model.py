"""A stand-in for a model: an OpenAI-compatible server on loopback that records each request and answers from a script.

Owns the script and the record. Knows nothing of opencode but the shape of its requests.
"""

from __future__ import annotations

import json
import queue
import re
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

PROVIDER = "scripted"
MODEL = "scripted-model"

EXHAUSTED = "(script exhausted)"
"""What the model says when it is asked more often than the script foresaw."""

FAILED = "(the script failed)"
"""What the model says when its next step could not be made."""

POLL_SECONDS = 0.05
"""How soon the server notices that it is to stop."""

CHUNK_CHARACTERS = 200
"""How much of a text goes into one event of the stream."""

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@dataclass(frozen=True)
class Call:
    """A tool call of the model. `tool` is the engine's name for it, or the one that the model sees."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """The answer to one model request; without calls it ends the turn. `before` runs before the answer goes out."""

    calls: tuple[Call, ...] = ()
    text: str | None = None
    before: Callable[[], object] | None = None


@dataclass(frozen=True)
class ModelRequest:
    """One request as it reached the model: the tools offered, the tool results since its last one, and all messages."""

    tools: tuple[str, ...]
    results: tuple[str, ...]
    images: int
    messages: tuple[dict[str, Any], ...]

    @property
    def system_prompt(self) -> str:
        return text_of(self.messages[0])


Reply = Step | Callable[[ModelRequest], Step]
"""A step, or what makes one of the request that it answers."""


class ScriptedModel:
    """A context manager; opencode reaches it at `url`. `requests` grows by one with each request of a turn."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self.failures: list[BaseException] = []
        self._steps: queue.SimpleQueue[Reply] = queue.SimpleQueue()
        self._known: dict[str, int] = {}
        self._lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that it overrides
                pass

            def do_GET(self) -> None:
                self.json({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
                with suppress(BrokenPipeError, ConnectionResetError):
                    message, finish = model.answer(body, self.headers.get("X-Session-Id") or "")
                    if body.get("stream"):
                        self.stream(_chunks(message, finish))
                    else:
                        choice = {"index": 0, "message": message, "finish_reason": finish}
                        self.json({**_envelope("chat.completion"), "usage": USAGE, "choices": [choice]})

            def json(self, value: Any) -> None:
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def stream(self, chunks: list[dict[str, Any]]) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for chunk in chunks:
                    self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
                self.wfile.write(b"data: [DONE]\n\n")
                self.close_connection = True

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # A connection that opencode keeps open must not hold the end of the tests.
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,))
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def play(self, *steps: Reply) -> None:
        """Queue the answers to the next requests."""
        for step in steps:
            self._steps.put(step)

    def unplayed(self) -> int:
        """Drop the steps that no request asked for, and say how many there were."""
        count = 0
        with suppress(queue.Empty):
            while True:
                self._steps.get_nowait()
                count += 1
        return count

    def answer(self, body: dict[str, Any], session: str) -> tuple[dict[str, Any], str]:
        """The message and the finish reason for one request, from the next step of the script."""
        messages: list[dict[str, Any]] = body["messages"]
        if text_of(messages[0]).startswith("You are a title generator"):
            return {"role": "assistant", "content": "Scripted session"}, "stop"
        tools = tuple(tool["function"]["name"] for tool in body.get("tools") or ())
        with self._lock:
            known = self._known.get(session, 0)
            fresh = messages[known if known <= len(messages) else 0 :]
            self._known[session] = len(messages)
            request = _recorded(tools, fresh, messages)
            self.requests.append(request)
        try:
            reply = self._steps.get_nowait()
        except queue.Empty:
            reply = Step(text=EXHAUSTED)
        try:
            step = reply if isinstance(reply, Step) else reply(request)
            if step.before is not None:
                step.before()
        except Exception as error:  # noqa: BLE001 - the boundary of a foreign thread; the turn raises it again
            self.failures.append(error)
            step = Step(text=FAILED)
        return _message(step, tools), "tool_calls" if step.calls else "stop"


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a chat message, whose content is a string or a list of parts."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def offered_name(tool: str, offered: tuple[str, ...]) -> str:
    """The name that the model sees for an engine's tool: the same, or the only one that ends with it."""
    if tool in offered:
        return tool
    ending = "_" + re.sub(r"[^a-zA-Z0-9_-]", "_", tool)
    matches = [name for name in offered if name.endswith(ending)]
    return matches[0] if len(matches) == 1 else tool


def _recorded(tools: tuple[str, ...], fresh: list[dict[str, Any]], messages: list[dict[str, Any]]) -> ModelRequest:
    parts = [part for message in fresh if isinstance(message.get("content"), list) for part in message["content"]]
    return ModelRequest(
        tools=tools,
        results=tuple(text_of(message) for message in fresh if message.get("role") == "tool"),
        images=sum(part.get("type") == "image_url" for part in parts),
        messages=tuple(messages),
    )


def _message(step: Step, offered: tuple[str, ...]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text}
    if step.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{secrets.token_hex(6)}",
                "type": "function",
                "function": {
                    "name": offered_name(call.tool, offered),
                    "arguments": json.dumps(call.arguments),
                },
            }
            for call in step.calls
        ]
    return message


def _envelope(kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{secrets.token_hex(6)}", "object": kind, "created": 0, "model": MODEL}


def _chunks(message: dict[str, Any], finish: str) -> list[dict[str, Any]]:
    base = _envelope("chat.completion.chunk")

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    text = message.get("content") or ""
    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [
        chunk({"content": text[start : start + CHUNK_CHARACTERS]}) for start in range(0, len(text), CHUNK_CHARACTERS)
    ]
    for index, call in enumerate(message.get("tool_calls", [])):
        name = {**call["function"], "arguments": ""}
        arguments = {"arguments": call["function"]["arguments"]}
        chunks.append(chunk({"tool_calls": [{**call, "index": index, "function": name}]}))
        chunks.append(chunk({"tool_calls": [{"index": index, "function": arguments}]}))
    return [*chunks, chunk({}, finish), {**base, "choices": [], "usage": USAGE}]
