"""Talks to OpenAI-compatible providers: streams an answer, lists models. Owns the HTTP, its time limits and retries.

A key goes into one header of one request and into nothing else. Nothing is followed anywhere: a redirect is an error.
Cancelling closes the connection at once. Source: the API reference of OpenAI, chat completions and models.
"""

from __future__ import annotations

import email.utils
import json
import math
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal, cast
from urllib.parse import urlsplit

import httpx
import structlog
import trio

from actors.chat import ChatAnswer, ChatRequest, Piece, Retrying
from actors.chat_stream import AnswerReader, BadAnswerError, ProviderReportError, error_text, whole_characters
from actors.secret import Scrubber, Secret
from blocks.providers import Provider
from engine.errors import EngineError
from protocol.sse_reader import EventTooLongError, SseReader

CONNECT_SECONDS = 10.0
"""For a connection with its encryption. A provider that is there takes a tenth of it."""

FIRST_WORD_SECONDS = 300.0
"""From the request to the head of the answer. A local server may have to load a model, and then reads a long prompt."""

SILENCE_SECONDS = 120.0
"""Between two pieces of a stream. Models that think without saying so are the slowest."""

ANSWER_SECONDS = 1800.0
"""For one whole answer, however lively it is."""

MOST_ANSWER_BYTES = 64 * 1024 * 1024
"""Of one stream. Each token costs some 300 bytes with what stands around it."""

MOST_BODY_BYTES = 16 * 1024 * 1024
"""Of an answer that comes in one piece. The longest list of models has a few MiB."""

MOST_ERROR_BYTES = 64 * 1024
"""How much is read of what a provider says about a refusal."""

SHOWN_CHARACTERS = 500
"""How much of that is passed on."""

MOST_MODELS = 5000
"""Models that are listed. Brokers offer several hundred."""

RETRY_SECONDS = (1.0, 4.0)
"""How long to wait before the second attempt and before the third. After that the error stands."""

MOST_RETRY_SECONDS = 20.0
"""The longest that a provider may ask to wait; asked for more, there is no further attempt."""

CLOSE_SECONDS = 1.0
"""For closing what is open when the engine ends."""

_HEADERS = {
    "Accept": "text/event-stream, application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "space",
}

_READ = frozenset(
    {"text/event-stream", "application/json", "", "text/plain", "application/octet-stream", "application/x-ndjson"}
)
"""Content types that an answer may have: the two that are right, and what servers say that do not care."""

_NO_WORD = "disconnected"
"""In what httpx says about a server that has closed the connection without an answer, which may pass by itself."""

_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})

ProviderFault = Literal["unreachable", "timeout", "key", "rate-limit", "refused", "server", "answer"]
"""What went wrong: no connection; too slow; the key is not taken; too many requests; the request is not taken; an error
of the provider's own; an answer that cannot be used."""

_log = structlog.stdlib.get_logger("models")


class ProviderError(EngineError):
    """Raised when a provider does not answer as it should. The text names it and says what it said, without the key.

    `text` is what had come of an answer before.
    """

    def __init__(self, provider: str, what: str, kind: ProviderFault, *, status: int | None = None) -> None:
        super().__init__(f"provider {provider!r} {what}")
        self.kind: ProviderFault = kind
        self.status = status
        self.text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEndpoint:
    """Where a provider is reached, and with what."""

    provider_id: str
    base_url: str
    key: Secret = field(repr=False)
    headers: Mapping[str, Secret] = field(default_factory=dict[str, Secret], repr=False)

    @staticmethod
    def of(provider: Provider) -> ModelEndpoint:
        """The endpoint of a configured provider."""
        return ModelEndpoint(
            provider_id=provider.id,
            base_url=provider.base_url.rstrip("/"),
            key=Secret(provider.api_key),
            headers={name: Secret(value) for name, value in provider.custom_headers.items()},
        )

    @property
    def scrubber(self) -> Scrubber:
        """Takes the key and the values of the headers out of texts."""
        return Scrubber((self.key, *self.headers.values()))

    def request_headers(self) -> httpx.Headers:
        """All headers, with those that say who asks; the provider's own win. To be given to nobody but the provider."""
        headers = httpx.Headers({**_HEADERS, "Authorization": f"Bearer {self.key.reveal()}"})
        headers.update({name: value.reveal() for name, value in self.headers.items()})
        return headers


class _AttemptError(Exception):
    """One attempt failed before anything of an answer had come. `wait` is what the provider asks for, in seconds."""

    def __init__(self, error: ProviderError, *, again: bool, wait: float | None = None) -> None:
        super().__init__()
        self.error = error
        self.again = again
        self.wait = wait


class _Answer:
    """An answer whose body is still to come. Close it, however far it was read."""

    def __init__(self, endpoint: ModelEndpoint, response: httpx.Response) -> None:
        self.response = response
        self._provider = endpoint.provider_id
        self._scrubber = endpoint.scrubber
        self._chunks: AsyncIterator[bytes] | None = None

    @property
    def media_type(self) -> str:
        """What the body is said to be, in lower case."""
        return self.response.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    async def next(self) -> bytes | None:
        """The next bytes of the body, or None at its end. Raises `ProviderError`."""
        if self._chunks is None:
            self._chunks = self.response.aiter_raw()
        try:
            with trio.fail_after(SILENCE_SECONDS):
                return await anext(self._chunks, None)
        except trio.TooSlowError:
            what = f"fell silent in the middle of the answer, for {SILENCE_SECONDS:g} s"
            raise ProviderError(self._provider, what, "timeout") from None
        except httpx.HTTPError as error:
            said = self._scrubber.message(str(error))[:SHOWN_CHARACTERS] or type(error).__name__
            what = f"broke off in the middle of the answer: {said}"
            raise ProviderError(self._provider, what, "unreachable") from None

    async def text(self) -> str:
        """The whole body. Raises `ProviderError`, also where it is longer than `MOST_BODY_BYTES`."""
        body = bytearray()
        while (chunk := await self.next()) is not None:
            body += chunk
            if len(body) > MOST_BODY_BYTES:
                raise ProviderError(self._provider, f"sent an answer of more than {MOST_BODY_BYTES} bytes", "answer")
        return body.decode(errors="replace")

    async def close(self) -> None:
        """Close the connection, unless the answer was read to its end: who goes on writing for nobody costs money."""
        with trio.CancelScope(shield=True, deadline=trio.current_time() + CLOSE_SECONDS):
            if self._chunks is not None:
                await _abandon(self._chunks)
            await self.response.aclose()


async def _abandon(chunks: AsyncIterator[bytes]) -> None:
    """End an iterator before its end. httpx nests several, of which only a cancellation reaches the innermost."""
    with trio.CancelScope() as scope, suppress(httpx.HTTPError):
        scope.cancel()
        while await anext(chunks, None) is not None:
            pass


class ModelClient:
    """The client of a running engine. `run` owns the connections. Any number of requests may be under way.

    `transport` stands for the network, for tests; None is the real one.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._transport = transport
        self._client: httpx.AsyncClient | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Hold the connections until cancelled, then close them."""
        task_status.started()
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLOSE_SECONDS):
                if self._client is not None:
                    await self._client.aclose()

    async def complete(
        self, endpoint: ModelEndpoint, request: ChatRequest, on_piece: Callable[[Piece], Awaitable[object]]
    ) -> ChatAnswer:
        """Ask for an answer and hand its pieces on as they come; gives the whole of it.

        A request is made again, at most `len(RETRY_SECONDS)` times, while nothing of an answer has come and the fault
        may pass by itself; never afterwards. Raises `ProviderError`.
        """
        body = {**request.to_json(), "stream": True, "stream_options": {"include_usage": True}}
        waits = list(RETRY_SECONDS)
        while True:
            try:
                return await self._attempt(endpoint, body, on_piece)
            except _AttemptError as failed:
                if failed.error.status in (400, 422) and "stream_options" in body and _names_option(failed.error):
                    # Some servers know no usage in a stream and refuse what they do not know.
                    del body["stream_options"]
                    continue
                wait = None if not failed.again or not waits else _wait(waits.pop(0), failed.wait)
                if wait is None:
                    raise failed.error from None
                reason = str(failed.error)
            _log.info("model_retry", provider=endpoint.provider_id, reason=reason, seconds=round(wait, 1))
            await on_piece(Retrying(reason, wait))
            await trio.sleep(wait)

    async def models(self, endpoint: ModelEndpoint) -> tuple[str, ...]:
        """The ids of the models that the provider lists, in its order. Raises `ProviderError`."""
        try:
            async with self._answer(endpoint, "GET", "/models", None) as answer:
                text = await answer.text()
        except _AttemptError as failed:
            raise failed.error from None
        try:
            listed: object = json.loads(text)
        except (ValueError, RecursionError):
            what = f"listed no models but {endpoint.scrubber.beginning(text, SHOWN_CHARACTERS)!r}"
            raise ProviderError(endpoint.provider_id, what, "answer") from None
        if isinstance(listed, dict):
            listed = cast("dict[str, object]", listed).get("data", cast("dict[str, object]", listed).get("models"))
        if not isinstance(listed, list):
            raise ProviderError(endpoint.provider_id, "listed no models: its answer has no `data`", "answer")
        ids: list[str] = []
        for one in cast("list[object]", listed)[:MOST_MODELS]:
            members = cast("dict[str, object]", one) if isinstance(one, dict) else {}
            found = one if isinstance(one, str) else members.get("id", members.get("name"))
            if isinstance(found, str) and found:
                ids.append(whole_characters(endpoint.scrubber.beginning(found, SHOWN_CHARACTERS)))
        return tuple(ids)

    async def _attempt(
        self, endpoint: ModelEndpoint, body: Mapping[str, object], on_piece: Callable[[Piece], Awaitable[object]]
    ) -> ChatAnswer:
        reader = AnswerReader(endpoint.scrubber)
        try:
            with trio.CancelScope(deadline=trio.current_time() + ANSWER_SECONDS) as scope:
                await self._read_answer(endpoint, body, reader, on_piece)
                return reader.answer()
        except BadAnswerError as error:
            fault = ProviderError(endpoint.provider_id, endpoint.scrubber.message(str(error)), "answer")
        except ProviderReportError as error:
            said = endpoint.scrubber.message(str(error))[:SHOWN_CHARACTERS] or "without saying what it is"
            fault = ProviderError(endpoint.provider_id, f"reports an error: {said}", "server")
        except EventTooLongError as error:
            fault = ProviderError(endpoint.provider_id, f"sent too much at once: {error}", "answer")
        except ProviderError as error:
            fault = error
        else:
            assert scope.cancelled_caught  # noqa: S101 - nothing else leaves the block without an answer
            what = f"did not come to an end within {ANSWER_SECONDS:g} s"
            fault = ProviderError(endpoint.provider_id, what, "timeout")
        for piece in reader.end():
            await on_piece(piece)
        fault.text = reader.text
        if reader.begun:
            raise fault
        raise _AttemptError(fault, again=fault.kind == "unreachable")

    async def _read_answer(
        self,
        endpoint: ModelEndpoint,
        body: Mapping[str, object],
        reader: AnswerReader,
        on_piece: Callable[[Piece], Awaitable[object]],
    ) -> None:
        async with self._answer(endpoint, "POST", "/chat/completions", body) as answer:
            if answer.media_type not in _READ:
                begins = endpoint.scrubber.beginning(await _said(endpoint, answer), SHOWN_CHARACTERS)
                kind = endpoint.scrubber.beginning(answer.media_type, SHOWN_CHARACTERS)
                raise BadAnswerError(
                    f"({_shown_url(endpoint)}) answered with content type {kind!r}, which is no event stream; is its "
                    f"base URL right? It begins: {begins!r}"
                )
            if answer.media_type == "application/json":
                pieces = reader.take_whole(await answer.text())
                for piece in (*pieces, *reader.end()):
                    await on_piece(piece)
                return
            events, size = SseReader(), 0
            while not reader.done and (chunk := await answer.next()) is not None:
                size += len(chunk)
                if size > MOST_ANSWER_BYTES:
                    raise BadAnswerError(f"sent an answer of more than {MOST_ANSWER_BYTES} bytes")
                for event in events.feed(chunk):
                    for piece in reader.take(event):
                        await on_piece(piece)
            for piece in reader.end():
                await on_piece(piece)

    @asynccontextmanager
    async def _answer(
        self, endpoint: ModelEndpoint, method: str, path: str, body: Mapping[str, object] | None
    ) -> AsyncGenerator[_Answer]:
        """An answer that is none of an error, its body still to come. Raises `_AttemptError`."""
        try:
            client = await self._opened()
            request = client.build_request(
                method,
                endpoint.base_url + path,
                headers=endpoint.request_headers(),
                content=None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"),
            )
        except ImportError:
            what = "cannot be asked: the proxy that the environment names is of a kind that is not spoken here"
            raise _AttemptError(ProviderError(endpoint.provider_id, what, "refused"), again=False) from None
        except (httpx.InvalidURL, ValueError):
            raise _AttemptError(ProviderError(endpoint.provider_id, _UNSENDABLE, "refused"), again=False) from None
        answer = _Answer(endpoint, await _sent(client, request, endpoint))
        try:
            if answer.response.status_code != 200:
                raise await _refusal(endpoint, answer)
            if answer.response.headers.get("Content-Encoding", "identity").lower() not in ("", "identity"):
                what = "answered in a compressed form, which was not asked for"
                raise _AttemptError(ProviderError(endpoint.provider_id, what, "answer"), again=False)
            yield answer
        finally:
            await answer.close()

    async def _opened(self) -> httpx.AsyncClient:
        """The client, which is made when somebody needs it: reading the certificates takes a while."""
        if self._client is None:
            made = await trio.to_thread.run_sync(self._made)
            self._client = self._client or made
        return self._client

    def _made(self) -> httpx.AsyncClient:
        # What runs on this machine is never reached through a proxy.
        local = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}
        return httpx.AsyncClient(
            transport=self._transport,
            mounts=local if self._transport is None else None,
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            follow_redirects=False,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=4, keepalive_expiry=30.0),
        )


_UNSENDABLE = "cannot be asked: its base URL, key or headers hold characters that no request can"


async def _sent(client: httpx.AsyncClient, request: httpx.Request, endpoint: ModelEndpoint) -> httpx.Response:
    """Send the request and wait for the head of the answer. Raises `_AttemptError`."""
    name, where = endpoint.provider_id, _shown_url(endpoint)
    try:
        with trio.fail_after(CONNECT_SECONDS + FIRST_WORD_SECONDS):
            return await client.send(request, stream=True)
    except (trio.TooSlowError, httpx.ReadTimeout, httpx.WriteTimeout):
        fault = ProviderError(name, f"({where}) gave no answer within {FIRST_WORD_SECONDS:g} s", "timeout")
        raise _AttemptError(fault, again=False) from None
    except httpx.ConnectTimeout:
        fault = ProviderError(name, f"({where}) took no connection within {CONNECT_SECONDS:g} s", "unreachable")
        raise _AttemptError(fault, again=True) from None
    except httpx.LocalProtocolError:
        # Not as the library says it: it repeats what it could not send.
        raise _AttemptError(ProviderError(name, _UNSENDABLE, "refused"), again=False) from None
    except httpx.HTTPError as error:
        if isinstance(error, httpx.RemoteProtocolError) and _NO_WORD not in str(error):
            said = endpoint.scrubber.beginning(str(error), SHOWN_CHARACTERS)
            what = f"({where}) answered with what is no HTTP, or with headers of more than 100 KiB: {said}"
            raise _AttemptError(ProviderError(name, what, "answer"), again=False) from None
        said = endpoint.scrubber.message(str(error))[:SHOWN_CHARACTERS] or type(error).__name__
        fault = ProviderError(name, f"({where}) cannot be reached: {said}", "unreachable")
        raise _AttemptError(fault, again=not isinstance(error, httpx.UnsupportedProtocol)) from None


async def _refusal(endpoint: ModelEndpoint, answer: _Answer) -> _AttemptError:
    """What an answer of another status than 200 comes to."""
    status, name = answer.response.status_code, endpoint.provider_id
    if 300 <= status < 400:
        what = (
            f"({_shown_url(endpoint)}) answers with a redirect ({status}), which is not followed; correct its base URL"
        )
        return _AttemptError(ProviderError(name, what, "refused", status=status), again=False)
    said = await _said(endpoint, answer)
    again = status in _RETRIED
    kind: ProviderFault = "server" if status >= 500 else "refused"
    if status in (401, 403):
        what, kind = f"did not take the key ({status})", "key"
    elif status == 404:
        what = f"({_shown_url(endpoint)}) knows no such path or model (404)"
    elif status == 429:
        what, kind = "refused for now, too many requests or no credit left (429)", "rate-limit"
    else:
        what = f"answered with status {status}"
    fault = ProviderError(name, f"{what}: {said}" if said else what, kind, status=status)
    return _AttemptError(fault, again=again, wait=_retry_after(answer.response))


async def _said(endpoint: ModelEndpoint, answer: _Answer) -> str:
    """What the provider says about a refusal: its error, or the beginning of whatever it sent."""
    body = bytearray()
    try:
        while len(body) < MOST_ERROR_BYTES and (chunk := await answer.next()) is not None:
            body += chunk
    except ProviderError:
        pass  # what has come is said; that it broke off adds nothing
    text = bytes(body[:MOST_ERROR_BYTES]).decode(errors="replace").strip()
    try:
        found = error_text(json.loads(text))
    except (ValueError, RecursionError):
        found = ""
    shown = " ".join(endpoint.scrubber.message(found or text).split())
    return shown if len(shown) <= SHOWN_CHARACTERS else f"{shown[:SHOWN_CHARACTERS]}…"


def _retry_after(response: httpx.Response) -> float | None:
    given = response.headers.get("Retry-After")
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(given).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _wait(usual: float, asked: float | None) -> float | None:
    """How long to wait for the next attempt; None where the provider asks for more than anybody would wait."""
    if asked is not None and asked > MOST_RETRY_SECONDS:
        return None
    # A little apart, so that requests which were refused together do not come back together.
    return max(usual, asked or 0.0) * random.uniform(1.0, 1.25)  # noqa: S311 - nothing secret depends on it


def _names_option(error: ProviderError) -> bool:
    return "stream_options" in str(error) or "include_usage" in str(error)


def _shown_url(endpoint: ModelEndpoint) -> str:
    """The address without what may be secret in it."""
    parts = urlsplit(endpoint.base_url)
    return f"{parts.scheme}://{parts.hostname}{'' if parts.port is None else f':{parts.port}'}{parts.path}"
