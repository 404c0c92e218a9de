"""A conversation with a model, as values: messages, tools, what comes back. Owns their form on the wire.

Source: the chat completions of the OpenAI API, as far as compatible providers agree on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

ChatRole = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool call that the model asks for. `arguments` is the text that it wrote, which need not be JSON."""

    id: str
    name: str
    arguments: str

    def to_json(self) -> dict[str, Any]:
        """As a message of an assistant holds it."""
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message. An assistant's may hold tool calls; one of role `tool` says whose answer it is."""

    role: ChatRole
    content: str
    tool_requests: tuple[ToolRequest, ...] = ()
    tool_call_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As it goes over the wire."""
        message: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_requests:
            message["tool_calls"] = [request.to_json() for request in self.tool_requests]
        if self.tool_call_id is not None:
            message["tool_call_id"] = self.tool_call_id
        return message


@dataclass(frozen=True, slots=True)
class ChatTool:
    """A tool that the model may ask for. `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """As it goes over the wire."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What is asked of a model. `temperature` is None where the provider's own shall hold."""

    model: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ChatTool, ...] = ()
    temperature: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The body of the request, less how the answer is to come."""
        body: dict[str, Any] = {"model": self.model, "messages": [message.to_json() for message in self.messages]}
        if self.tools:
            body["tools"] = [tool.to_json() for tool in self.tools]
        if self.temperature is not None:
            body["temperature"] = self.temperature
        return body


@dataclass(frozen=True, slots=True)
class Usage:
    """What a provider counted, in tokens of the model."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens)

    def to_json(self) -> dict[str, int]:
        """As the API of Space shows it."""
        return {"promptTokens": self.prompt_tokens, "completionTokens": self.completion_tokens}


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next characters of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """The next characters of what the model thinks before it answers, where the provider shows that."""

    text: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """Nothing has come yet, and the request is made again after `seconds`."""

    reason: str
    seconds: float


Piece = TextPiece | ReasoningPiece | Retrying


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """The whole of an answer. `finish_reason` is the provider's word: `stop`, `length`, `tool_calls`, `content_filter`.

    `usage` is None where the provider counts nothing.
    """

    text: str
    tool_requests: tuple[ToolRequest, ...] = ()
    finish_reason: str = "stop"
    usage: Usage | None = None
