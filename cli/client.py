"""The client of a running engine: one REST request, and one named failure for each way in which it can go wrong.

Owns the HTTP client. Never prints, never retries, and never goes through a proxy: the engine is on this machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Generic, Self, TypeVar, cast
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from cli.failure import ConnectionLostError, NoEngineError, NotAnEngineError, RefusedError, TokenError

CONNECT_SECONDS = 3.0
"""Opening a connection to this machine takes milliseconds; beyond this nothing answers there."""

ANSWER_SECONDS = 60.0
"""The engine answers in milliseconds; a large picture takes seconds."""

CALL_SECONDS = 660.0
"""A tool may run a shell command for ten minutes, and needs a little longer to say what came of it."""

PROBLEM_TYPE = "application/problem+json"
TOKEN_REQUIRED = "Token required"  # noqa: S105 - the title of a problem, not a secret
"""The title of the engine's refusal for want of the right token (`transport/guard.py`)."""

BODY_SHOWN = 80
"""Characters of a strange answer that a failure repeats."""

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Answer(Generic[M]):
    """An answer of the engine: as it came, for programs, and checked, for tables."""

    raw: Any
    value: M


class EngineClient:
    """Speaks to the engine at `url`, with `token` if one is given. A context manager that closes its connections."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url = url
        self._token = token
        headers = {} if token is None else {b"Authorization": b"Bearer " + token.encode()}
        timeout = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def ask(
        self,
        model: type[M],
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str | int] | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Answer[M]:
        """One request; the answer, whose JSON must fit `model`.

        Raises `NoEngineError`, `NotAnEngineError`, `TokenError`, `RefusedError` or `ConnectionLostError`.
        """
        return self._checked(model, path, self._send(method, path, body=body, query=query, seconds=seconds))

    def upload(
        self,
        model: type[M],
        path: str,
        file: IO[bytes],
        media_type: str,
        query: Mapping[str, str | int],
        *,
        seconds: float = ANSWER_SECONDS,
    ) -> Answer[M]:
        """Post a file as it is, piece by piece. The answer and the errors are as those of `ask`; `OSError` as well."""
        return self._checked(
            model, path, self._send("POST", path, file=file, media_type=media_type, query=query, seconds=seconds)
        )

    def fetch(
        self, path: str, media_type: str, query: Mapping[str, str | int], *, seconds: float = ANSWER_SECONDS
    ) -> bytes:
        """The bytes at a path that must be of this media type. Raises as `ask` does."""
        response = self._send("GET", path, query=query, seconds=seconds)
        if _media_type(response) != media_type:
            raise self._strange(path, response, f"it should be {media_type}")
        return response.content

    def _send(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        file: IO[bytes] | None = None,
        media_type: str | None = None,
        query: Mapping[str, str | int] | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> httpx.Response:
        timeout = httpx.Timeout(seconds, connect=CONNECT_SECONDS)
        headers = None if media_type is None else {"Content-Type": media_type}
        try:
            response = self._http.request(
                method, path, json=body, content=file, headers=headers, params=query or None, timeout=timeout
            )
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise NoEngineError(
                f"No engine answers at {self.url} ({_said(error)}).",
                "Start one with: space serve (or name another with --url or SPACE_URL)",
            ) from None
        except httpx.TimeoutException:
            raise ConnectionLostError(f"The engine at {self.url} did not answer {path} within {seconds:g} s.") from None
        except httpx.RemoteProtocolError as error:
            # An engine that was killed and a server of another kind look alike from here.
            raise ConnectionLostError(
                f"What answers at {self.url} broke off or does not speak HTTP ({_said(error)}).", _OTHER_URL
            ) from None
        except httpx.TransportError as error:
            raise ConnectionLostError(f"The connection to the engine at {self.url} broke ({_said(error)}).") from None
        if response.is_success:
            return response
        raise self._refusal(path, response)

    def _checked(self, model: type[M], path: str, response: httpx.Response) -> Answer[M]:
        try:
            raw = response.json()
            return Answer(raw, model.model_validate(raw))
        except (ValueError, ValidationError) as error:
            raise self._strange(path, response, _first_fault(error)) from None

    def _refusal(self, path: str, response: httpx.Response) -> Exception:
        problem = _problem(response)
        if problem is None:
            return self._strange(path, response, "it is no answer of an engine")
        title = str(problem.get("title") or "Refused")
        if response.status_code in (401, 403) and title == TOKEN_REQUIRED:
            return self._token_error(problem)
        return RefusedError(str(problem.get("detail") or title), members=problem)

    def _token_error(self, problem: Mapping[str, Any]) -> TokenError:
        if self._token is None:
            said = f"The engine at {self.url} demands a token."
        else:
            said = f"The token is not that of the engine at {self.url}."
        return TokenError(said, "Give the one it was started with: --token or SPACE_TOKEN", problem)

    def _strange(self, path: str, response: httpx.Response, why: str) -> NotAnEngineError:
        """The failure for an answer that no engine gives; it repeats the beginning of the body, if that is text."""
        kind = _media_type(response) or "no content type"
        text = "" if kind.startswith(("image/", "audio/", "video/")) else " ".join(response.text.split())
        shown = f": {text[:BODY_SHOWN]!r}" if text else ""
        return NotAnEngineError(
            f"What answers at {self.url} is not a Space engine, or one of another version: {path} gave "
            f"HTTP {response.status_code} with {kind}{shown} ({why}).",
            _OTHER_URL,
        )


_OTHER_URL = "Name the engine's URL with --url or SPACE_URL; `space serve` prints it"


def segment(name: str) -> str:
    """A name as one segment of a path, whatever it holds."""
    return quote(name, safe="")


def _media_type(response: httpx.Response) -> str:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


def _problem(response: httpx.Response) -> dict[str, Any] | None:
    if _media_type(response) != PROBLEM_TYPE:
        return None
    try:
        body = response.json()
    except ValueError:
        return None
    return cast("dict[str, Any]", body) if isinstance(body, dict) else None


def _first_fault(error: ValueError | ValidationError) -> str:
    if isinstance(error, ValidationError):
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in fault["loc"]) or "the answer"
        return f"{where}: {fault['msg']}"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg}"
    return "not JSON"


def _said(error: httpx.HTTPError) -> str:
    return str(error) or type(error).__name__
