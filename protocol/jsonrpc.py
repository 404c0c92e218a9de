"""JSON-RPC 2.0 messages: bytes to frozen values and back. Owns the envelope, and knows no method of MCP.

A body that is no message becomes a `ParseFault`, which is a value: what a client gets wrong never raises here.
Decisions where the standards are silent or lenient:

* an id is a string or a whole number of 64 bits; null, fractions and booleans are refused, not taken for a missing id;
* of a member that appears twice the last one counts, as in every parser of our clients;
* text must be UTF-8 without lone surrogates, and numbers must be finite as IEEE doubles;
* an error whose request id could not be read has no `id` member: no revision of MCP allows null there.

Source: JSON-RPC 2.0; MCP specification, base protocol ("Messages"); RFC 8259.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from math import isinf
from types import MappingProxyType
from typing import Any, TypeGuard, cast

from pydantic_core import from_json, to_json

from protocol.limits import DEFAULT_LIMITS, Limits
from protocol.tool import JsonObject

RequestId = int | str
"""1 and "1" are two ids. Python keeps them apart by itself, since booleans and fractions never get this far."""

REQUEST_ID_BITS = 64
"""Width of a numeric id with its sign. Beyond it a number is no counter, and other languages would not echo it."""


class ErrorCode(IntEnum):
    """The codes of errors that leave this server."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    REQUEST_CANCELLED = -32800
    """The client took its request back; the official Python SDK uses the same code."""
    SESSION_ERROR = -32001
    """No session was named, or the named one does not exist."""
    RESOURCE_NOT_FOUND = -32002
    """No resource has the uri; in sessions only, the stateless generation calls that invalid params."""
    HEADER_MISMATCH = -32020
    """A header that repeats a part of the body is missing, comes twice, or says something else."""
    MISSING_CAPABILITY = -32021
    """The client cannot do what its request needs; `data` holds `requiredCapabilities`."""
    URL_ELICITATION_REQUIRED = -32042
    """The user has to visit pages first; `data` holds `elicitations`. One revision knows it."""
    UNSUPPORTED_VERSION = -32022
    """The revision that a request names is not served; `data` holds `supported` and `requested`."""


@dataclass(frozen=True, slots=True)
class Request:
    """A message that wants an answer. `params` is empty where the message has none."""

    id: RequestId
    method: str
    params: JsonObject


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that wants no answer. `params` is empty where the message has none."""

    method: str
    params: JsonObject


@dataclass(frozen=True, slots=True)
class Response:
    """An answer to a request of ours: exactly one of `result` and `error` is set. An error may lack its id."""

    id: RequestId | None
    result: Any = None
    error: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ParseFault:
    """Why a body is no message. `id` is that of the faulty message where it could be read."""

    code: ErrorCode
    reason: str
    id: RequestId | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """An array of messages; a faulty one does not spoil the others. Whether a batch is legal is not decided here."""

    items: tuple[Request | Notification | Response | ParseFault, ...]


Message = Request | Notification | Response | Batch

_NO_PARAMS: JsonObject = MappingProxyType({})
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_AS_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_PARSER_DEPTH_TEXT = "recursion limit exceeded"
# An exponent of three digits, or three hundred digits in a row: the cheap sign that a number may exceed a double. The
# look-behind keeps the search linear, since a long run of digits is tried from its start only.
_MAYBE_TOO_LARGE = re.compile(rb"[0-9](?:[eE]\+?0*[1-9][0-9]{2}|(?<![0-9][0-9])[0-9]{300})")


def parse(body: bytes, limits: Limits = DEFAULT_LIMITS) -> Message | ParseFault:
    """Read one body. Never raises for what is in it."""
    value = parse_json(body, limits)
    if isinstance(value, ParseFault):
        return value
    if isinstance(value, list):
        return _parse_batch(cast("list[object]", value), limits)
    return _parse_message(value, limits)


def parse_json(body: bytes, limits: Limits = DEFAULT_LIMITS) -> object | ParseFault:
    """Read one body as JSON that the rest of the engine can rely on: UTF-8, finite numbers, not nested too deep."""
    try:
        # Its own limit of about 200 levels ends the parser long before the stack does.
        value: object = from_json(body, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        if _PARSER_DEPTH_TEXT in str(error):
            return _too_deep(limits)
        return ParseFault(ErrorCode.PARSE_ERROR, f"the body is not JSON in UTF-8: {error}")
    if body.count(b"[") + body.count(b"{") > limits.nesting and _deeper_than(body, limits.nesting):
        return _too_deep(limits)
    if _MAYBE_TOO_LARGE.search(body) is not None and _has_too_large_number(value):
        return ParseFault(
            ErrorCode.PARSE_ERROR, "the body holds a number beyond the range of a double; numbers end at about 1.8e308"
        )
    return value


def _too_deep(limits: Limits) -> ParseFault:
    return ParseFault(ErrorCode.INVALID_REQUEST, f"the body is nested deeper than {limits.nesting} levels")


def _parse_batch(items: list[object], limits: Limits) -> Batch | ParseFault:
    if len(items) > limits.batch_length:
        return ParseFault(
            ErrorCode.INVALID_REQUEST, f"the batch has {len(items)} messages; the most is {limits.batch_length}"
        )
    return Batch(tuple(_parse_message(item, limits) for item in items))


def _parse_message(value: object, limits: Limits) -> Request | Notification | Response | ParseFault:
    if not isinstance(value, dict):
        return ParseFault(ErrorCode.INVALID_REQUEST, f"a message is a JSON object, not {json_type(value)}")
    message = cast("dict[str, object]", value)
    raw_id = message.get("id")
    # Looked at key by key: a union of models would take a request with a bad id for a notification.
    request_id = raw_id if is_request_id(raw_id, limits) else None
    if message.get("jsonrpc") != "2.0":
        return ParseFault(ErrorCode.INVALID_REQUEST, 'the message lacks "jsonrpc": "2.0"', request_id)
    if "id" in message and request_id is None and not ("error" in message and raw_id is None):
        reason = f"{bad_id(raw_id, limits)}{'' if type(raw_id) in (str, int) else '; a notification has no id at all'}"
        return ParseFault(ErrorCode.INVALID_REQUEST, reason)
    if "method" in message:
        return _parse_call(message, request_id)
    return _parse_response(message, request_id)


def _parse_call(message: dict[str, object], request_id: RequestId | None) -> Request | Notification | ParseFault:
    method = message["method"]
    if not isinstance(method, str):
        return ParseFault(ErrorCode.INVALID_REQUEST, f"method must be a string, not {json_type(method)}", request_id)
    if "result" in message or "error" in message:
        return ParseFault(
            ErrorCode.INVALID_REQUEST, "a message has a method, a result or an error, not several of them", request_id
        )
    params = message.get("params", _NO_PARAMS)
    if params is not _NO_PARAMS and not isinstance(params, dict):
        return ParseFault(
            ErrorCode.INVALID_REQUEST, f"params must be an object or absent, not {json_type(params)}", request_id
        )
    named = cast("JsonObject", params)
    if request_id is None:
        return Notification(method, named)
    return Request(request_id, method, named)


def _parse_response(message: dict[str, object], request_id: RequestId | None) -> Response | ParseFault:
    if ("result" in message) == ("error" in message):
        reason = "a message needs exactly one of method, result and error"
        return ParseFault(ErrorCode.INVALID_REQUEST, reason, request_id)
    if "error" in message:
        error = message["error"]
        if not isinstance(error, dict):
            return ParseFault(ErrorCode.INVALID_REQUEST, f"error must be an object, not {json_type(error)}", request_id)
        return Response(request_id, error=cast("JsonObject", error))
    if request_id is None:
        return ParseFault(ErrorCode.INVALID_REQUEST, "a result needs the id of its request")
    return Response(request_id, message["result"])


def is_request_id(value: object, limits: Limits = DEFAULT_LIMITS) -> TypeGuard[RequestId]:
    """Whether a value may be a request id (or a progress token, which has the same form)."""
    if type(value) is int:
        return value.bit_length() < REQUEST_ID_BITS
    return isinstance(value, str) and len(value) <= limits.request_id_chars


def bad_id(value: object, limits: Limits, name: str = "id") -> str:
    """What keeps a value from being a request id, or whatever else has its form and that name."""
    if type(value) is int:
        return f"{name} must be a whole number of {REQUEST_ID_BITS} bits or a string, not a longer number"
    if isinstance(value, str):
        return f"{name} has {len(value)} characters; the most is {limits.request_id_chars}"
    return f"{name} must be a string or a whole number, not {json_type(value)}"


def json_type(value: object) -> str:
    """How a person calls the type of a parsed JSON value, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int):
        return "a whole number"
    if isinstance(value, float):
        return "a fraction"
    if isinstance(value, str):
        return "a string"
    return "an object" if isinstance(value, Mapping) else "an array"


def _deeper_than(body: bytes, limit: int) -> bool:
    """Whether valid JSON is nested deeper than `limit`. Each round takes away the innermost pairs of brackets.

    Works on the bytes, so that no depth of the input becomes depth of our stack; twice as fast as a walk of the values.
    """
    left = _STRING.sub(b"", body).translate(_AS_SQUARE, _NO_BRACKETS)
    for _ in range(limit):
        if not left:
            return False
        left = left.replace(b"[]", b"")
    return bool(left)


def _has_too_large_number(value: object) -> bool:
    """Level by level, for the reason above."""
    level = [value]
    while level:
        if any(_too_large(number) for number in level):
            return True
        inside: list[object] = []
        for node in level:
            if type(node) is dict:
                inside.extend(cast("dict[str, object]", node).values())
            elif type(node) is list:
                inside.extend(cast("list[object]", node))
        level = inside
    return False


def _too_large(value: object) -> bool:
    if type(value) is float:
        return isinf(value)
    if type(value) is not int:
        return False
    try:
        float(value)
    except OverflowError:
        return True
    return False


def encodable(text: str) -> str:
    """The text with a question mark for each half character, as names of files and headers may hold them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def encode(value: object) -> bytes:
    """A value as compact JSON on one line. Models of MCP come out under their wire names, without absent members.

    Numbers that are not finite become null, since JSON has none. Raises `ValueError` for what cannot be JSON.
    """
    return to_json(value, by_alias=True, exclude_none=True, inf_nan_mode="null")


def encode_result(request_id: RequestId, result: bytes) -> bytes:
    """A successful answer around a result that is already JSON."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (to_json(request_id), result)


def encode_error(request_id: RequestId | None, code: int, message: str, data: object = None) -> bytes:
    """An answer that says what was wrong. Without a readable request id the member `id` is left out."""
    error: dict[str, object] = {"code": int(code), "message": encodable(message)}
    if data is not None:
        error["data"] = data
    head = b"" if request_id is None else b'"id":%b,' % to_json(request_id)
    return b'{"jsonrpc":"2.0",%b"error":%b}' % (head, encode(error))


def encode_notification(method: str, params: JsonObject | None = None) -> bytes:
    """A message of ours that wants no answer."""
    tail = b"" if params is None else b',"params":%b' % encode(params)
    return b'{"jsonrpc":"2.0","method":%b%b}' % (to_json(method), tail)


def encode_request(request_id: RequestId, method: str, params: JsonObject | None = None) -> bytes:
    """A request of ours, which the client answers with a message of its own."""
    tail = b"" if params is None else b',"params":%b' % encode(params)
    return b'{"jsonrpc":"2.0","id":%b,"method":%b%b}' % (to_json(request_id), to_json(method), tail)


def encode_batch(messages: Iterable[bytes]) -> bytes:
    """Several encoded messages as one array."""
    return b"[%b]" % b",".join(messages)
