"""A model's answer, put together from the events of its stream. Owns what is read out of an event and what is refused.

Providers differ in small ways, and what they send is not to be trusted: everything is checked, bounded and scrubbed.
Every event goes through `AnswerReader._object`, which takes the secrets out of all its texts before anything is read;
what is put together from several events (texts, the arguments of a call) is scrubbed once more as it is put together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from actors.chat import ChatAnswer, ReasoningPiece, TextPiece, ToolRequest, Usage
from actors.secret import HIDDEN, Flow, Scrubber

MOST_ANSWER_CHARACTERS = 1_000_000
"""Longest answer with its reasoning. No model writes more than some 500,000 characters in one go."""

MOST_TOOL_REQUESTS = 64
"""Tool calls in one answer: as many as a session of MCP may have in flight."""

MOST_ARGUMENT_CHARACTERS = 256 * 1024
"""Arguments of one call: a long fragment, several times over."""

MOST_WORD_CHARACTERS = 200
"""Of an id, the name of a tool, a finish reason. They are repeated in records and in the next request."""

SHOWN_CHARACTERS = 200
"""How much of what was wrong an error repeats."""

DONE = "[DONE]"

FINISH_REASONS = frozenset(
    {"stop", "length", "tool_calls", "function_call", "content_filter", "insufficient_system_resource", "model_length"}
)
"""The words for the end of an answer that providers have. Whatever else one says is `OTHER`."""

OTHER = "other"

MOST_TOKENS = 10**10
"""Of a count that is believed: a thousand times what any model takes."""

_CALLING = frozenset({"tool_calls", "function_call"})


class BadAnswerError(Exception):
    """Raised for an answer that cannot be used. The text says what the provider did, as in "sent no JSON"."""


class ProviderReportError(Exception):
    """Raised when the stream carries an error of the provider instead of an answer. The text is what it says."""


class AnswerReader:
    """Takes the events of one stream, in order, and gives the pieces of text in them."""

    def __init__(self, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self._text = _Channel(scrubber.flow())
        self._reasoning = _Channel(scrubber.flow())
        self._requests: list[_Request] = []
        self._said: list[str] = []
        self._characters = 0
        self._finish_reason: str | None = None
        self._usage: Usage | None = None
        self._unreadable = False
        self.done = False
        """Whether the provider has said that nothing more will come."""

    @property
    def begun(self) -> bool:
        """Whether anything of the answer has come: then the request cannot be made again."""
        return self._characters > 0 or bool(self._requests)

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._said)

    def take(self, data: str) -> Sequence[TextPiece | ReasoningPiece]:
        """Read one event. Raises `BadAnswerError` and `ProviderReportError`."""
        if self.done:
            return ()
        if data.strip() == DONE:
            self.done = True
            return ()
        chunk = self._object(data)
        choice = self._choice(chunk)
        return () if choice is None else self._message(_mapping(choice.get("delta")))

    def take_whole(self, data: str) -> Sequence[TextPiece | ReasoningPiece]:
        """Read a whole completion, which some providers send whatever they were asked for. Raises as `take`."""
        completion = self._object(data)
        choice = self._choice(completion)
        if choice is None:
            raise BadAnswerError(f"sent a completion without choices: {self._shown(data)}")
        self.done = True
        return self._message(_mapping(choice.get("message")))

    def end(self) -> Sequence[TextPiece | ReasoningPiece]:
        """What was held back of the texts. Call it once nothing more will come."""
        pieces: list[TextPiece | ReasoningPiece] = []
        reasoning, text = self._reasoning.end(), self._text.end()
        if reasoning:
            pieces.append(ReasoningPiece(reasoning))
        if text:
            self._said.append(text)
            pieces.append(TextPiece(text))
        return pieces

    def answer(self) -> ChatAnswer:
        """The whole answer, after `end`.

        Raises `BadAnswerError` where the stream has ended before it was complete, or held nothing that can be read.
        """
        if not self.done and self._finish_reason is None:
            raise BadAnswerError("ended the stream in the middle of the answer")
        requests = tuple(self._request(index, request) for index, request in enumerate(self._requests) if request.name)
        if self._characters == 0 and not requests and self._says_nothing():
            raise BadAnswerError("sent nothing that can be read: no text, and no tool call with a name")
        return ChatAnswer(
            text=self.text,
            tool_requests=requests,
            finish_reason=self._finish_reason or ("tool_calls" if requests else "stop"),
            usage=self._usage,
        )

    def _says_nothing(self) -> bool:
        """Whether an answer without words is a failed one. A model may well have nothing to say, and say just that."""
        return (
            self._finish_reason is None or self._finish_reason in _CALLING or self._unreadable or bool(self._requests)
        )

    def _object(self, data: str) -> Mapping[str, Any]:
        """The JSON of an event, without secrets."""
        try:
            value = self._scrubber.tree(json.loads(data))
        except (ValueError, RecursionError):
            raise BadAnswerError(f"sent what is no JSON: {self._shown(data)}") from None
        if not isinstance(value, dict):
            raise BadAnswerError(f"sent JSON that is no object: {self._shown(data)}")
        return cast("dict[str, Any]", value)

    def _word(self, text: str) -> str:
        """An id or a name. It is no prose, so shorter secrets are none of its letters either."""
        return whole_characters(self._scrubber.message(text)[:MOST_WORD_CHARACTERS])

    def _shown(self, text: str) -> str:
        return repr(whole_characters(self._scrubber.beginning(text, SHOWN_CHARACTERS)))

    def _choice(self, chunk: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The first choice of an event; usage and errors stand beside it."""
        if chunk.get("error") is not None:
            raise ProviderReportError(error_text(chunk))
        self._usage = _usage(chunk.get("usage")) or self._usage
        choices = chunk.get("choices")
        if choices is None:
            return None
        if not isinstance(choices, list):
            raise BadAnswerError("sent an event whose `choices` is no list")
        for choice in cast("list[object]", choices):
            if isinstance(choice, dict):
                found = cast("dict[str, Any]", choice)
                if found.get("index", 0) in (0, None):
                    reason = found.get("finish_reason")
                    if isinstance(reason, str) and reason:
                        self._finish_reason = reason if reason in FINISH_REASONS else OTHER
                    return found
        return None

    def _message(self, message: Mapping[str, Any]) -> Sequence[TextPiece | ReasoningPiece]:
        pieces: list[TextPiece | ReasoningPiece] = []
        thought = _texts(message.get("reasoning_content")) or _texts(message.get("reasoning"))
        if thought:
            self._grow(thought)
            shown = self._reasoning.feed(thought)
            if shown:
                pieces.append(ReasoningPiece(shown))
        said = _texts(message.get("content")) or _texts(message.get("refusal"))
        if said:
            self._grow(said)
            shown = self._text.feed(said)
            if shown:
                self._said.append(shown)
                pieces.append(TextPiece(shown))
        if not said and message.get("content") not in (None, "", []):
            self._unreadable = True
        requests = message.get("tool_calls")
        if isinstance(requests, list):
            for request in cast("list[object]", requests):
                self._take_request(_mapping(request))
        return pieces

    def _grow(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > MOST_ANSWER_CHARACTERS:
            raise BadAnswerError(f"sent an answer of more than {MOST_ANSWER_CHARACTERS} characters")

    def _take_request(self, delta: Mapping[str, Any]) -> None:
        function = _mapping(delta.get("function"))
        request = self._request_for(delta)
        name, arguments = function.get("name"), function.get("arguments")
        if isinstance(name, str) and not request.name:
            request.name = self._word(name)
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, str):
            request.arguments.append(arguments)
            request.characters += len(arguments)
            if request.characters > MOST_ARGUMENT_CHARACTERS:
                raise BadAnswerError(f"sent a tool call with more than {MOST_ARGUMENT_CHARACTERS} characters")

    def _request_for(self, delta: Mapping[str, Any]) -> _Request:
        """The request that this piece belongs to. Some providers give all of them one index, some give none."""
        given_id, index = delta.get("id"), delta.get("index")
        call_id = self._word(given_id) if isinstance(given_id, str) else ""
        position = index if isinstance(index, int) and not isinstance(index, bool) else None
        if position is None:
            same = self._requests[-1:]
        else:
            same = [request for request in self._requests if request.index == position][-1:]
        if same and (not call_id or same[0].id in ("", call_id)):
            same[0].id = same[0].id or call_id
            return same[0]
        if len(self._requests) >= MOST_TOOL_REQUESTS:
            raise BadAnswerError(f"asked for more than {MOST_TOOL_REQUESTS} tool calls at once")
        self._requests.append(_Request(position, call_id))
        return self._requests[-1]

    def _request(self, index: int, request: _Request) -> ToolRequest:
        taken = {other.id for other in self._requests[:index]}
        # An id that held a secret is replaced as a whole: providers are particular about theirs.
        usable = request.id and request.id not in taken and HIDDEN not in request.id
        call_id = request.id if usable else f"call-{index + 1}"
        arguments = whole_characters("".join(request.arguments))
        return ToolRequest(call_id, request.name, self._scrubber.prose(arguments))


@dataclass(slots=True)
class _Request:
    """A tool call while it comes."""

    index: int | None
    id: str
    name: str = ""
    characters: int = 0
    arguments: list[str] = field(default_factory=list[str])


class _Channel:
    """A text in pieces, between which a character may be cut, or a secret."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._half = ""

    def feed(self, piece: str) -> str:
        text = self._half + piece
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return self._flow.feed(whole_characters(text[: len(text) - len(self._half)]))

    def end(self) -> str:
        half, self._half = self._half, ""
        return self._flow.feed(whole_characters(half)) + self._flow.end()


def whole_characters(text: str) -> str:
    """The text with halves of characters joined, and a replacement for each half that is alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def error_text(body: object) -> str:
    """What a provider's error says, as far as it can be found; empty where it says nothing."""
    for _ in range(4):
        if isinstance(body, str):
            return whole_characters(body)
        if isinstance(body, list):
            body = cast("list[object]", body)[0] if body else None
        elif isinstance(body, dict):
            members = cast("dict[str, object]", body)
            body = next((members[key] for key in ("error", "message", "detail", "code") if members.get(key)), None)
    return ""


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _texts(content: object) -> str:
    """A text, or the texts among the parts of a content."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (_mapping(part).get("text") for part in cast("list[object]", content))
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _usage(value: object) -> Usage | None:
    counted = _mapping(value)
    if not counted:
        return None
    return Usage(_count(counted.get("prompt_tokens")), _count(counted.get("completion_tokens")))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_TOKENS else 0
