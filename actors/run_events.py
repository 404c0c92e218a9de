"""What a run tells whoever follows it, in order: a start, pieces and tool calls, exactly one end. Owns the values.

Each has a JSON form with a `type`; who reads a stream skips types that he does not know.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from actors.chat import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A prompt is made and its model is asked; a planner comes before the writer.

    `passed_over` names choices of models that could not be used, and `script_errors` blocks whose script failed.
    """

    run_id: str
    agent: str
    provider_id: str
    model_id: str
    tools: tuple[str, ...]
    tokens: int
    """Of the prompt, estimated."""
    passed_over: tuple[str, ...] = ()
    script_errors: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As it goes out."""
        return {
            "type": "start",
            "runId": self.run_id,
            "agent": self.agent,
            "providerId": self.provider_id,
            "modelId": self.model_id,
            "tools": list(self.tools),
            "promptTokens": self.tokens,
            "passedOver": list(self.passed_over),
            "scriptErrors": list(self.script_errors),
        }


@dataclass(frozen=True, slots=True)
class Said:
    """The next characters of the answer."""

    text: str

    def to_json(self) -> dict[str, Any]:
        """As it goes out."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, slots=True)
class Thought:
    """The next characters of the model's reasoning."""

    text: str

    def to_json(self) -> dict[str, Any]:
        """As it goes out."""
        return {"type": "reasoning", "text": self.text}


@dataclass(frozen=True, slots=True)
class Planned:
    """The next characters of the brief that a planner leaves to the writer."""

    text: str

    def to_json(self) -> dict[str, Any]:
        """As it goes out."""
        return {"type": "brief", "text": self.text}


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """The provider gave no answer yet, and is asked again after that time."""

    reason: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """As it goes out."""
        return {"type": "retry", "reason": self.reason, "seconds": round(self.seconds, 1)}


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model asks for a tool. `arguments` is what it wrote."""

    id: str
    name: str
    arguments: str

    def to_json(self) -> dict[str, Any]:
        """As it goes out: the arguments as JSON, or as text where they are none."""
        try:
            arguments: object = json.loads(self.arguments) if self.arguments.strip() else {}
        except (ValueError, RecursionError):
            arguments = self.arguments
        return {"type": "tool-call", "id": self.id, "toolName": self.name, "args": arguments}


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """What the tool said."""

    id: str
    name: str
    result: str
    is_error: bool

    def to_json(self) -> dict[str, Any]:
        """As it goes out."""
        return {
            "type": "tool-result",
            "id": self.id,
            "toolName": self.name,
            "result": self.result,
            "isError": self.is_error,
        }


@dataclass(frozen=True, slots=True)
class Saved:
    """The result is kept in that fragment."""

    fragment_id: str

    def to_json(self) -> dict[str, Any]:
        """As it goes out."""
        return {"type": "saved", "fragmentId": self.fragment_id}


@dataclass(frozen=True, slots=True)
class NotSaved:
    """The result is not kept in the story, since what it was to replace is another now. The record has the text."""

    fragment_id: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        """As it goes out."""
        return {"type": "not-saved", "fragmentId": self.fragment_id, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Failed:
    """The run cannot go on. An end follows."""

    error: str

    def to_json(self) -> dict[str, Any]:
        """As it goes out."""
        return {"type": "error", "error": self.error}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The end. The reason is the provider's word (`stop`, `length`), or `steps`, `cancelled` or `error`.

    `recorded` is whether the record of the run is kept.
    """

    run_id: str
    reason: str
    steps: int
    usage: Usage | None
    recorded: bool

    def to_json(self) -> dict[str, Any]:
        """As it goes out."""
        return {
            "type": "finish",
            "runId": self.run_id,
            "finishReason": self.reason,
            "stepCount": self.steps,
            "usage": None if self.usage is None else self.usage.to_json(),
            "recorded": self.recorded,
        }


RunEvent = (
    Started | Said | Thought | Planned | AskedAgain | ToolCalled | ToolAnswered | Saved | NotSaved | Failed | Finished
)

STEPS, CANCELLED, ERROR = "steps", "cancelled", "error"
"""Reasons of an end that are ours."""
