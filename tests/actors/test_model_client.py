"""The client against a provider that is slow, broken, huge, hostile or gone: every end has words, and none has the key.

The provider is a real server in the same process, so the clock jumps only after a moment without any traffic.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import MockClock

from actors.chat import ChatAnswer, ChatMessage, ChatRequest, ChatTool, Piece, Retrying, TextPiece, ToolRequest, Usage
from actors.model_client import (
    ANSWER_SECONDS,
    FIRST_WORD_SECONDS,
    SILENCE_SECONDS,
    ModelClient,
    ModelEndpoint,
    ProviderError,
)
from actors.secret import HIDDEN, Secret
from tests.scripted_provider import (
    KEY,
    MODEL,
    ProviderRequest,
    ScriptedProvider,
    Wire,
    calls,
    refuses,
    says,
    scripted_provider,
    sends,
)

QUIET_SECONDS = 0.2
"""Real time without traffic after which the clock jumps: many times what loopback takes, on a busy machine too."""

REQUEST = ChatRequest(model=MODEL, messages=(ChatMessage("system", "Be brief."), ChatMessage("user", "Hi \ud800")))


@dataclass
class Rig:
    """A client and its provider, with the pieces that came."""

    provider: ScriptedProvider
    client: ModelClient
    base_url: str | None = None
    pieces: list[Piece] = field(default_factory=list[Piece])
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def endpoint(self) -> ModelEndpoint:
        headers = {name: Secret(value) for name, value in self.headers.items()}
        url = self.base_url or self.provider.url
        return ModelEndpoint(provider_id="main", base_url=url, key=Secret(KEY), headers=headers)

    async def ask(self, request: ChatRequest = REQUEST) -> ChatAnswer:
        async def take(piece: Piece) -> None:
            self.pieces.append(piece)

        return await self.client.complete(self.endpoint, request, take)

    async def fail(self) -> ProviderError:
        """The error that asking ends in, which holds no key."""
        with pytest.raises(ProviderError) as caught:
            await self.ask()
        assert KEY not in repr((caught.value, caught.value.text, caught.value.__cause__, self.pieces))
        assert len(str(caught.value)) < 1000
        return caught.value

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces if isinstance(piece, TextPiece))

    @property
    def retries(self) -> list[Retrying]:
        return [piece for piece in self.pieces if isinstance(piece, Retrying)]


@pytest.fixture
def quiet_clock() -> MockClock:
    """A clock that jumps when nothing has happened for a moment, sockets included."""
    return MockClock(autojump_threshold=QUIET_SECONDS)


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with scripted_provider() as provider, trio.open_nursery() as nursery:
        client = ModelClient()
        await nursery.start(client.run)
        yield Rig(provider, client)
        nursery.cancel_scope.cancel()


async def test_an_answer_comes_piece_by_piece_and_whole(rig: Rig) -> None:
    rig.provider.play(says("Once", " upon", " a time"))
    assert await rig.ask() == ChatAnswer(text="Once upon a time", finish_reason="stop", usage=Usage(10, 5))
    assert rig.pieces == [TextPiece("Once"), TextPiece(" upon"), TextPiece(" a time")]
    (request,) = rig.provider.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["accept-encoding"] == "identity"
    assert request.body == {
        "model": MODEL,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi ?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    await rig.provider.wait_closed()


async def test_tools_temperature_and_own_headers_go_along(rig: Rig) -> None:
    rig.headers = {"x-title": "Space", "authorization": "Basic abcdef"}
    rig.provider.play(calls(("look", {"id": 1})))
    tool = ChatTool("look", "looks", {"type": "object"})
    answer = await rig.ask(ChatRequest(model=MODEL, messages=REQUEST.messages, tools=(tool,), temperature=0))
    assert answer.tool_requests == (ToolRequest("id-0", "look", '{"id": 1}'),)
    (request,) = rig.provider.requests
    assert (request.tools, request.body["temperature"]) == (["look"], 0)
    assert (request.headers["x-title"], request.headers["authorization"]) == ("Space", "Basic abcdef")


async def test_models_are_listed_in_the_forms_that_providers_have(rig: Rig) -> None:
    assert await rig.client.models(rig.endpoint) == (MODEL,)
    rig.provider.play(refuses(200, {"models": ["a", {"name": "b"}, {"no": 1}, 7, {"id": KEY}]}))
    assert await rig.client.models(rig.endpoint) == ("a", "b", HIDDEN)
    for body, said in ((b"<html>", "listed no models but '<html>'"), ({"x": 1}, "no `data`")):
        rig.provider.play(refuses(200, body))
        with pytest.raises(ProviderError, match=said):
            await rig.client.models(rig.endpoint)


async def test_a_refused_key_is_said_without_the_key_and_is_not_tried_again(rig: Rig) -> None:
    rig.provider.play(refuses(401, {"error": {"message": f"Incorrect API key: {KEY}, sk-th*****6789"}}))
    error = await rig.fail()
    assert str(error) == f"provider 'main' did not take the key (401): Incorrect API key: {HIDDEN}, {HIDDEN}"
    assert (error.kind, error.status, len(rig.provider.requests)) == ("key", 401, 1)


@pytest.mark.slow
async def test_too_many_requests_are_tried_again_as_the_provider_asks_and_then_given_up(
    rig: Rig, quiet_clock: MockClock
) -> None:
    rig.provider.play(refuses(429, {"error": "slow down"}, "Retry-After: 7"), says("now"))
    started = trio.current_time()
    assert (await rig.ask()).text == "now"
    assert 7 <= trio.current_time() - started < 10
    assert ["slow down" in one.reason for one in rig.retries] == [True]
    rig.provider.play(*(refuses(429, {"error": "slow down"}) for _ in range(3)))
    error = await rig.fail()
    assert (error.kind, len(rig.provider.requests)) == ("rate-limit", 5)


async def test_a_provider_that_asks_to_wait_for_long_is_not_waited_for(rig: Rig) -> None:
    rig.provider.play(refuses(429, {"error": "tomorrow"}, "Retry-After: 3600"))
    assert "tomorrow" in str(await rig.fail())
    assert len(rig.provider.requests) == 1


@pytest.mark.slow
async def test_a_broken_server_is_tried_again_and_its_page_is_shortened(rig: Rig, quiet_clock: MockClock) -> None:
    rig.provider.play(*(refuses(502, b"<html>" + b"bad gateway " * 10_000) for _ in range(3)))
    error = await rig.fail()
    assert (error.kind, error.status, len(rig.provider.requests)) == ("server", 502, 3)
    assert "status 502: <html>bad gateway" in str(error)


async def test_nothing_is_tried_again_once_a_piece_has_come(rig: Rig) -> None:
    async def breaks_off(wire: Wire, request: ProviderRequest) -> None:
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n")
        await wire.delta(content="Once upo")

    rig.provider.play(breaks_off)
    error = await rig.fail()
    assert (rig.text, error.text, len(rig.provider.requests)) == ("Once upo", "Once upo", 1)
    assert "broke off in the middle of the answer" in str(error)


@pytest.mark.slow
async def test_a_connection_that_is_dropped_before_anything_came_is_tried_again(
    rig: Rig, quiet_clock: MockClock
) -> None:
    async def drops(wire: Wire, request: ProviderRequest) -> None:
        pass

    rig.provider.play(drops, says("here"))
    assert (await rig.ask()).text == "here"
    assert "cannot be reached" in rig.retries[0].reason


@pytest.mark.slow
async def test_nobody_at_the_address_is_said_after_three_attempts(rig: Rig, quiet_clock: MockClock) -> None:
    rig.base_url = "http://127.0.0.1:9/v1"
    error = await rig.fail()
    assert (error.kind, len(rig.retries)) == ("unreachable", 2)
    assert "'main' (http://127.0.0.1:9/v1) cannot be reached" in str(error)


async def test_what_runs_on_this_machine_is_not_asked_through_a_proxy(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    rig.provider.play(says("here"))
    assert (await rig.ask()).text == "here"


async def test_a_proxy_that_cannot_be_spoken_to_is_said(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    assert "the proxy that the environment names" in str(await rig.fail())


async def test_a_redirect_is_not_followed(rig: Rig) -> None:
    rig.provider.play(refuses(307, {}, f"Location: {rig.provider.url}/elsewhere"))
    assert "redirect (307), which is not followed; correct its base URL" in str(await rig.fail())
    assert len(rig.provider.requests) == 1


async def test_a_server_that_knows_no_usage_is_asked_without_it(rig: Rig) -> None:
    rig.provider.play(refuses(400, {"error": "Unknown field: stream_options"}), says("fine"))
    assert (await rig.ask()).text == "fine"
    assert ["stream_options" in request.body for request in rig.provider.requests] == [True, False]
    assert rig.retries == []


async def test_a_provider_that_streams_nothing_is_understood(rig: Rig) -> None:
    body = b'{"choices": [{"message": {"content": "Once"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 2}}'
    rig.provider.play(sends(body, "application/json"))
    assert await rig.ask() == ChatAnswer(text="Once", usage=Usage(2, 0))
    assert rig.text == "Once"


async def test_a_stream_that_stays_open_after_its_end_is_left(rig: Rig) -> None:
    async def goes_on(wire: Wire, request: ProviderRequest) -> None:
        await says("done")(wire, request)
        await trio.sleep_forever()

    rig.provider.play(goes_on)
    assert (await rig.ask()).text == "done"
    await rig.provider.wait_closed()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"data: {nope}\n\n", "sent what is no JSON: '{nope}'"),
        (b"data: " + b"x" * 1_100_000, "sent too much at once"),
        (b'data: {"error": {"message": "the model is on fire"}}\n\n', "reports an error: the model is on fire"),
        (b"<html>", "ended the stream in the middle"),
        (b"", "ended the stream in the middle"),
    ],
)
async def test_a_stream_that_is_no_answer_is_said_in_words(rig: Rig, data: bytes, said: str) -> None:
    rig.provider.play(sends(data))
    assert said in str(await rig.fail())
    assert len(rig.provider.requests) == 1
    await rig.provider.wait_closed()


async def test_a_page_instead_of_a_stream_is_said_to_be_one(rig: Rig) -> None:
    async def page(wire: Wire, request: ProviderRequest) -> None:
        await wire.head(200, "text/html; charset=utf-8")
        await wire.send(f"<html>log in, {KEY}</html>".encode())

    rig.provider.play(page)
    error = str(await rig.fail())
    assert "answered with content type 'text/html', which is no event stream; is its base URL right?" in error
    assert f"It begins: '<html>log in, {HIDDEN}" in error
    assert len(rig.provider.requests) == 1


@pytest.mark.parametrize("head", [[f"X-{number}: {'v' * 1000}" for number in range(300)], [f"no header {KEY}"]])
async def test_a_head_that_cannot_be_read_is_not_asked_for_again(rig: Rig, head: list[str]) -> None:
    async def reply(wire: Wire, request: ProviderRequest) -> None:
        await wire.head(200, "text/event-stream", *head)

    rig.provider.play(reply)
    assert "answered with what is no HTTP, or with headers of more than 100 KiB" in str(await rig.fail())
    assert (len(rig.provider.requests), rig.retries) == (1, [])


async def test_what_is_compressed_is_refused_so_that_nothing_can_unfold(rig: Rig) -> None:
    async def compressed(wire: Wire, request: ProviderRequest) -> None:
        await wire.head(200, "text/event-stream", "Content-Encoding: gzip")

    rig.provider.play(compressed)
    assert "compressed form" in str(await rig.fail())


@pytest.mark.slow
async def test_a_provider_that_never_answers_is_given_up(rig: Rig, quiet_clock: MockClock) -> None:
    async def never(wire: Wire, request: ProviderRequest) -> None:
        await trio.sleep_forever()

    rig.provider.play(never)
    started = trio.current_time()
    error = await rig.fail()
    assert (error.kind, len(rig.provider.requests)) == ("timeout", 1)
    assert FIRST_WORD_SECONDS <= trio.current_time() - started < FIRST_WORD_SECONDS + 30
    await rig.provider.wait_closed()


@pytest.mark.slow
async def test_a_provider_that_falls_silent_is_given_up_with_what_it_said(rig: Rig, quiet_clock: MockClock) -> None:
    async def falls_silent(wire: Wire, request: ProviderRequest) -> None:
        await wire.head()
        await wire.delta(content="Once upo")
        await trio.sleep_forever()

    rig.provider.play(falls_silent)
    error = await rig.fail()
    assert f"fell silent in the middle of the answer, for {SILENCE_SECONDS:g} s" in str(error)
    assert error.text == "Once upo"
    await rig.provider.wait_closed()


@pytest.mark.slow
async def test_a_stream_of_comments_without_end_is_ended(rig: Rig, quiet_clock: MockClock) -> None:
    async def alive(wire: Wire, request: ProviderRequest) -> None:
        await wire.head()
        while True:
            await wire.send(b": still alive\n\n")
            await trio.sleep(SILENCE_SECONDS - 1)

    rig.provider.play(alive)
    started = trio.current_time()
    assert f"did not come to an end within {ANSWER_SECONDS:g} s" in str(await rig.fail())
    assert trio.current_time() - started < ANSWER_SECONDS + 1
    await rig.provider.wait_closed()


async def test_an_endless_text_is_ended(rig: Rig) -> None:
    async def endless(wire: Wire, request: ProviderRequest) -> None:
        await wire.head()
        while True:
            await wire.delta(content="x" * 100_000)

    rig.provider.play(endless)
    assert "more than 1000000 characters" in str(await rig.fail())
    await rig.provider.wait_closed()


@pytest.mark.slow
async def test_cancelling_closes_the_connection_at_once(rig: Rig, quiet_clock: MockClock) -> None:
    async def goes_on(wire: Wire, request: ProviderRequest) -> None:
        await wire.head()
        await wire.delta(content="Once")
        await trio.sleep_forever()

    async def never(wire: Wire, request: ProviderRequest) -> None:
        await trio.sleep_forever()

    rig.provider.play(goes_on, never)
    for seconds in (1, 2):
        with trio.move_on_after(seconds) as scope:
            await rig.ask()
        assert scope.cancelled_caught
        await rig.provider.wait_closed()
    assert rig.text == "Once"


@pytest.mark.slow
async def test_many_answers_at_a_time_do_not_mix(rig: Rig, quiet_clock: MockClock) -> None:
    async def echo(wire: Wire, request: ProviderRequest) -> None:
        await wire.head()
        for _ in range(5):
            await wire.delta(content=request.messages[-1]["content"])
            await trio.sleep(0.1)
        await wire.finish()

    rig.provider.play(*(echo for _ in range(30)))
    answers: dict[str, str] = {}

    async def ask(word: str) -> None:
        answers[word] = (await rig.ask(ChatRequest(model=MODEL, messages=(ChatMessage("user", word),)))).text

    async with trio.open_nursery() as nursery:
        for number in range(30):
            nursery.start_soon(ask, f"[{number}]")
    assert answers == {word: word * 5 for word in answers}
    assert len(answers) == 30


@pytest.mark.parametrize("headers", [{"x": "a\r\nevil: 1"}, {"bad name": "x"}, {"x": "é\u2028"}])
async def test_what_no_request_can_hold_is_refused_without_being_repeated(rig: Rig, headers: dict[str, str]) -> None:
    rig.headers = headers
    error = await rig.fail()
    assert "cannot be asked: its base URL, key or headers" in str(error)
    assert rig.provider.requests == []
