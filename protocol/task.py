"""A call that goes on after it was answered: its state, and how clients see it. Owns the values and their wire form.

Source: MCP extension `io.modelcontextprotocol/tasks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from pydantic_core import from_json

from protocol.input_request import InputRequest, wire_request
from protocol.versions import REVISIONS


class TaskStatus(StrEnum):
    """How far a task is."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    """It waits for answers of its client."""
    COMPLETED = "completed"
    """The tool has ended, well or with an error that it told."""
    FAILED = "failed"
    """The call came to no result at all."""
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether it stays so."""
        return self in {TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED}


@dataclass(frozen=True, slots=True)
class TaskError:
    """Why a task has failed, as a JSON-RPC error."""

    code: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task at one moment. Times are epoch seconds, durations whole milliseconds.

    It is kept for `ttl_ms` from its creation on. `requests` is what its client is asked and has not answered;
    `result` is the JSON of the result, there where it is completed. `version` is the revision of the call.
    """

    id: str
    principal: str
    version: str
    status: TaskStatus
    created_at: float
    updated_at: float
    ttl_ms: int
    poll_interval_ms: int
    status_message: str | None = None
    requests: Mapping[str, InputRequest] = field(default_factory=lambda: MappingProxyType({}))
    result: bytes | None = None
    error: TaskError | None = None


def created_members(task: Task) -> dict[str, Any]:
    """What the answer to the call that became a task holds, but for its `resultType`."""
    members: dict[str, Any] = {
        "taskId": task.id,
        "status": task.status.value,
        "createdAt": _timestamp(task.created_at),
        "lastUpdatedAt": _timestamp(task.updated_at),
        "ttlMs": task.ttl_ms,
        "pollIntervalMs": task.poll_interval_ms,
    }
    if task.status_message is not None:
        members["statusMessage"] = task.status_message
    return members


def task_members(task: Task) -> dict[str, Any]:
    """Everything that a client is told of a task that it asks after."""
    members = created_members(task)
    if task.status is TaskStatus.INPUT_REQUIRED:
        revision = REVISIONS[task.version]
        members["inputRequests"] = {key: wire_request(request, revision) for key, request in task.requests.items()}
    elif task.status is TaskStatus.COMPLETED and task.result is not None:
        members["result"] = {"resultType": "complete", **from_json(task.result)}
    elif task.status is TaskStatus.FAILED and task.error is not None:
        members["error"] = {"code": task.error.code, "message": task.error.message}
    return members


def _timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
