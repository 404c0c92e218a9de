"""Errors of the REST routes as `application/problem+json`. Owns which error of the floors below gets which status.

Source: RFC 9457.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from quart import Response
from werkzeug.exceptions import HTTPException

from actors.errors import ActorError, ActorStoppedError, InternalError, MailboxFullError
from actors.versions import TooManyReadersError
from engine.errors import ConflictError, EngineError, ForbiddenError, InvalidArgumentError, NotFoundError
from protocol.tool_registry import OwnershipError, ToolRegistryError

PROBLEM_TYPE = "application/problem+json"

_STATUS: tuple[tuple[type[Exception], int, str], ...] = (
    (InvalidArgumentError, 422, "Invalid value"),
    (NotFoundError, 404, "Not found"),
    (ConflictError, 409, "Not possible now"),
    (ForbiddenError, 403, "Not allowed"),
    (EngineError, 422, "Refused"),
    (OwnershipError, 409, "Name belongs to another owner"),
    (ToolRegistryError, 422, "Invalid tool"),
    (MailboxFullError, 503, "Overloaded"),
    (ActorStoppedError, 503, "Shutting down"),
    (TooManyReadersError, 503, "Too many readers"),
    (InternalError, 500, "Internal error"),
    (ActorError, 500, "Internal error"),
)


class RequestProblemError(Exception):
    """Raised by a route for a request that it cannot serve. `members` are further members of the body."""

    def __init__(self, status: int, title: str, detail: str, **members: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.title = title
        self.detail = detail
        self.members = members


def problem(status: int, title: str, detail: str, members: Mapping[str, Any] | None = None) -> Response:
    """A problem response. `detail` says what was wrong and what would be right."""
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **(members or {})}
    return Response(json.dumps(body), status, content_type=PROBLEM_TYPE)


def problem_of(error: Exception) -> Response:
    """The response for an error that a route lets through; anything unknown is an internal error."""
    if isinstance(error, RequestProblemError):
        return problem(error.status, error.title, error.detail, error.members)
    if isinstance(error, HTTPException):
        response = problem(error.code or 500, error.name, error.description or error.name)
        methods = getattr(error, "valid_methods", None)
        if methods:
            response.headers["Allow"] = ", ".join(sorted(methods))
        return response
    for kind, status, title in _STATUS:
        if isinstance(error, kind):
            return problem(status, title, str(error))
    return problem(500, "Internal error", "The engine failed to answer; its log has the details.")
