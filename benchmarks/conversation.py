"""A talk between a model and the engine, played from a script: every call is really made, every token counted.

Owns how requests, tokens and what a cache keeps are counted. What the model says comes from whoever plays it.
"""

from __future__ import annotations

import json
from binascii import a2b_base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.http_connection import HttpConnection
from benchmarks.mcp_client import McpAnswerError, begin_session, call_request, list_request, result_of, session_headers
from benchmarks.prompts import tool_text
from benchmarks.tokens import count_tokens

CACHED_PRICE = 0.1
"""What a token that was read in the request before costs, as a part of a fresh one; the usual price of providers."""

PIXELS_PER_TOKEN = 750
"""Of a picture: about what models count that take pictures."""

Call = tuple[str, Mapping[str, Any]]
"""A tool and its arguments."""


@dataclass(frozen=True)
class Usage:
    """What a talk has used. `input` adds up what every request sent, so a long result counts in each that follows."""

    requests: int
    input: int
    cached: int
    """Of the input, what the request before had sent already."""
    output: int
    results: int
    """Tokens of the results of tools, each counted once."""

    @property
    def charged(self) -> int:
        """The input with what was cached at its lower price, in fresh tokens."""
        return round(self.input - self.cached * (1 - CACHED_PRICE))


class Partner(Protocol):
    """Whoever has tools and answers calls. `Agent` does."""

    @property
    def prompt(self) -> str:
        """What the model reads before anything is said."""
        ...

    def call(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The result of a tool, also where it says that it failed."""
        ...


class Agent:
    """One agent as a client meets it: a session, its instructions and its tools as a model reads them."""

    def __init__(self, connection: HttpConnection, path: str) -> None:
        self._connection = connection
        self._path = path
        session, opened = begin_session(connection, path)
        self._headers = session_headers(session)
        self._number = 0
        self.instructions: str = opened.get("instructions", "")
        listed = result_of(connection.ask(list_request(path, self._headers)).json())["tools"]
        self.tools = {
            tool["name"]: tool_text(tool["name"], tool["description"], tool["inputSchema"]) for tool in listed
        }

    @property
    def prompt(self) -> str:
        """What the model reads before anything is said."""
        return "\n".join((self.instructions, *self.tools.values()))

    def call(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The result of a tool, also where it says that it failed. Raises `McpAnswerError` where there is none."""
        self._number += 1
        answer = self._connection.ask(call_request(self._path, self._headers, name, arguments, self._number)).json()
        if "result" not in answer:
            raise McpAnswerError(f"{name} was answered {answer}")
        return answer["result"]


class Conversation:
    """One task from the user's question to the model's answer."""

    def __init__(self, agent: Partner, question: str, prompt: str | None = None) -> None:
        """`prompt` stands in the place of the agent's own where another form of the same tools is to be counted."""
        self._agent = agent
        self._context = count_tokens(agent.prompt if prompt is None else prompt) + count_tokens(question)
        self._before = 0
        self._requests = self._input = self._cached = self._output = self._results = 0

    def call(self, *calls: Call) -> list[Mapping[str, Any]]:
        """One request of the model, in which it makes these calls at once. Raises `McpAnswerError` where one fails."""
        results = self.attempt(*calls)
        for (name, _), result in zip(calls, results, strict=True):
            if result.get("isError"):
                raise McpAnswerError(f"{name} failed: {result}")
        return results

    def attempt(self, *calls: Call) -> list[Mapping[str, Any]]:
        """As `call`, but a failure is a result like others."""
        self._request("".join(_written({"name": name, "arguments": arguments}) for name, arguments in calls))
        results = [self._agent.call(name, arguments) for name, arguments in calls]
        read = sum(_tokens_of(result["content"]) for result in results)
        self._results += read
        self._context += read
        return results

    def answer(self, value: object) -> Usage:
        """The last request, in which the model says what it found, and what all of them used."""
        self._request(_written(value))
        return Usage(self._requests, self._input, self._cached, self._output, self._results)

    def _request(self, said: str) -> None:
        self._requests += 1
        self._input += self._context
        self._cached += self._before
        self._before = self._context
        written = count_tokens(said)
        self._output += written
        self._context += written


def data_of(result: Mapping[str, Any]) -> Any:
    """The structured result of a tool, which its text says too."""
    return result["structuredContent"]


def text_of(result: Mapping[str, Any]) -> str:
    """The text of a result."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def picture_of(result: Mapping[str, Any]) -> str:
    """The first picture of a result, as it was sent."""
    return next(block["data"] for block in result["content"] if block["type"] == "image")


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _tokens_of(content: Sequence[Mapping[str, Any]]) -> int:
    return sum(
        count_tokens(block["text"]) if block["type"] == "text" else _picture_tokens(block["data"]) for block in content
    )


def _picture_tokens(data: str) -> int:
    """Of a PNG, whose header begins with its width and height in pixels."""
    header = a2b_base64(data[:44])
    width, height = (int.from_bytes(header[place : place + 4], "big") for place in (16, 20))
    return -(-width * height // PIXELS_PER_TOKEN)
