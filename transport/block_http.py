"""What the routes of stories and blocks share: revisions as `ETag` and `If-Match`, branches, and how errors look.

A refusal is a problem document that also says its reason as `error`, and as `details` what was wrong where.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from quart import Blueprint, Response, request

from blocks.issue import InvalidBlockDataError
from blocks.store.documents import SetAside
from blocks.store.files import DataFileError
from blocks.store.revision import ANY_REVISION, BaseRevisions, StaleRevisionError
from blocks.store.story_files import StoryPlace
from engine.errors import EngineError, InvalidArgumentError
from transport.json_body import json_response
from transport.problem import PROBLEM_TYPE, RequestProblemError, problem, problem_of

_ETAG = r'(W/)?"([^"]*)"'
_ETAGS = re.compile(rf"\s*{_ETAG}\s*(,\s*{_ETAG}\s*)*")

_log = structlog.stdlib.get_logger("http")


def block_blueprint(name: str) -> Blueprint:
    """A blueprint whose errors look like those of these routes."""
    routes = Blueprint(name, __name__)
    routes.register_error_handler(EngineError, _answer_error)
    routes.register_error_handler(RequestProblemError, _answer_error)
    return routes


def base_revisions() -> BaseRevisions:
    """The revisions that the request bases its change on, by `If-Match`; None where it says nothing.

    Raises `RequestProblemError` for a header that is none. A weak tag matches nothing, since none of ours is weak.
    """
    lines = request.headers.getlist("If-Match")
    if not lines:
        return None
    header = ",".join(lines)
    if header.strip() == ANY_REVISION:
        return frozenset((ANY_REVISION,))
    if _ETAGS.fullmatch(header) is None:
        raise RequestProblemError(
            400, "Bad If-Match", "If-Match must be the ETag of what you have read, in its quotes as it came, or *"
        )
    return frozenset(tag for weak, tag in re.findall(_ETAG, header) if not weak and tag != ANY_REVISION)


def demand_no_base(what: str) -> None:
    """Raise `RequestProblemError` where the request names a revision, of something that has none of its own."""
    base = base_revisions()
    if base is not None and ANY_REVISION not in base:
        raise RequestProblemError(
            400, "Bad If-Match", f"{what} has no revision of its own; leave If-Match out, or change one thing at a time"
        )


def block_response(
    body: Mapping[str, Any], *, revision: str | None = None, set_aside: Sequence[SetAside] = (), status: int = 200
) -> Response:
    """The body, with its revision as `ETag`, and with `setAside` where broken files were met on the way."""
    more = {"setAside": [one.to_json() for one in set_aside]} if set_aside else {}
    response = json_response({**body, **more}, status)
    response.headers["Cache-Control"] = "no-store"
    if revision is not None:
        response.headers["ETag"] = _quoted(revision)
    return response


def place_of(story: str) -> StoryPlace:
    """The branch of the story that the request is about: the active one, unless `?branch=` names another."""
    return StoryPlace(story, request.args.get("branch"))


def check_query(*allowed: str) -> None:
    """Raise `InvalidArgumentError` for a parameter that the route does not have."""
    unknown = set(request.args) - set(allowed)
    if unknown:
        known = ", ".join(allowed) or "none"
        raise InvalidArgumentError(f"there is no parameter {min(unknown)[:40]!r}; there are: {known}")


def flag_of(name: str) -> bool | None:
    """A parameter that is `true` or `false`; None where it is not there. Raises `InvalidArgumentError`."""
    text = request.args.get(name)
    if text not in (None, "true", "false"):
        raise InvalidArgumentError(f"{name} must be true or false, not {text[:40]!r}")
    return None if text is None else text == "true"


async def _answer_error(error: Exception) -> Response:
    if isinstance(error, DataFileError):
        _log.warning("data_folder_refused", path=request.path, reason=str(error))
        response = problem(503, "Storage failed", str(error))
    else:
        response = problem_of(error)
    body = json.loads(await response.get_data())
    body["error"] = body["detail"]
    if isinstance(error, InvalidBlockDataError):
        body["details"] = [issue.to_json() for issue in error.issues]
    headers: dict[str, str] = {}
    if isinstance(error, StaleRevisionError):
        body["revision"] = error.revision
        headers["ETag"] = _quoted(error.revision)
    return Response(json.dumps(body), response.status_code, headers, content_type=PROBLEM_TYPE)


def _quoted(revision: str) -> str:
    return f'"{revision}"'
