"""The headers in which a stateless request repeats parts of its body: are they there, once, and do they say the same.

Owns the comparison. Each function gives what is wrong as a sentence, or None.
Source: MCP specification 2026-07-28, transports ("Request Headers", "Value Encoding", "Custom Headers"); RFC 9110, 5.5.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable

from protocol.header_parameters import HeaderParameter
from protocol.http_facts import METHOD_HEADER, NAME_HEADER, HttpFacts
from protocol.jsonrpc import json_type
from protocol.schema import preview
from protocol.tool import JsonObject

_ENCODED_START = "=?base64?"
_ENCODED_END = "?="
# What a header can hold as it stands (RFC 9110, 5.5); everything else must be encoded.
_PLAIN = re.compile(r"[\x20-\x7e\t]*")
# A whole number however it is written, short enough that it cannot be a burden.
_WHOLE = re.compile(r"[+-]?[0-9]{1,40}(?:\.0{1,40})?")


def version_problem(facts: HttpFacts, claimed: str) -> str | None:
    """Whether the version header says what the body claims."""
    return _same("MCP-Protocol-Version", facts.versions, claimed, "the protocol version in _meta")


def method_problem(facts: HttpFacts, method: str) -> str | None:
    """Whether `Mcp-Method` is the method."""
    return _same("Mcp-Method", facts.values(METHOD_HEADER), method, "the method")


def name_problem(facts: HttpFacts, member: str, name: str) -> str | None:
    """Whether `Mcp-Name` is the name that stands in that member of the params."""
    return _decoded_same("Mcp-Name", facts.values(NAME_HEADER), name, f"params.{member}")


def parameter_problem(facts: HttpFacts, parameters: Iterable[HeaderParameter], arguments: JsonObject) -> str | None:
    """Whether each annotated argument stands in its header too, and no header is there without its argument."""
    for parameter in parameters:
        problem = _one_parameter(facts.values(parameter.header), parameter, parameter.value_in(arguments))
        if problem is not None:
            return problem
    return None


def decoded(value: str) -> str | None:
    """What a header says: its text, or the text that is encoded in it; None where the encoding is broken.

    Only the exact form counts, in lower case and with canonical base64 of UTF-8; anything near it is plain text.
    """
    if not (value.startswith(_ENCODED_START) and value.endswith(_ENCODED_END) and len(value) >= _SHORTEST):
        return value if _PLAIN.fullmatch(value) else None
    inner = value[len(_ENCODED_START) : -len(_ENCODED_END)]
    try:
        raw = b64decode(inner, validate=True)
        return raw.decode() if b64encode(raw).decode() == inner else None
    except (Base64Error, ValueError):
        return None


_SHORTEST = len(_ENCODED_START) + len(_ENCODED_END)


def _one_parameter(values: tuple[str, ...], parameter: HeaderParameter, argument: object) -> str | None:
    header, member = f"Mcp-Param-{parameter.name}", f"params.arguments.{'.'.join(parameter.path)}"
    if argument is None:
        return None if not values else f"header {header} is there, but {member} is not; leave both out, or send both"
    if isinstance(argument, bool):
        return _decoded_same(header, values, "true" if argument else "false", member)
    if isinstance(argument, str):
        return _decoded_same(header, values, argument, member)
    if not isinstance(argument, int | float):
        # The schema will say that this argument is of the wrong type, in words for the model.
        return None if values else f"header {header} is missing; {member} is {json_type(argument)}"
    problem = _once(header, values, member, argument)
    if problem is not None:
        return problem
    text = decoded(values[0])
    if text is None:
        return _broken(header, values[0])
    return None if _is_number(text, argument) else _different(header, text, member, argument)


def _is_number(text: str, argument: float) -> bool:
    return _WHOLE.fullmatch(text) is not None and int(text.partition(".")[0]) == argument


def _decoded_same(header: str, values: tuple[str, ...], wanted: str, member: str) -> str | None:
    problem = _once(header, values, member, wanted)
    if problem is not None:
        return problem
    text = decoded(values[0])
    if text is None:
        return _broken(header, values[0])
    return None if text == wanted else _different(header, text, member, wanted)


def _same(header: str, values: tuple[str, ...], wanted: str, member: str) -> str | None:
    problem = _once(header, values, member, wanted)
    if problem is not None:
        return problem
    return None if values[0] == wanted else _different(header, values[0], member, wanted)


def _once(header: str, values: tuple[str, ...], member: str, wanted: object) -> str | None:
    if not values:
        return f"header {header} is missing; it must repeat {member}, which is {preview(wanted)}"
    if len(values) > 1:
        return f"header {header} came {len(values)} times; send it once"
    return None


def _different(header: str, text: str, member: str, wanted: object) -> str:
    return f"header {header} is {preview(text)}, but {member} is {preview(wanted)}; they must be the same"


def _broken(header: str, value: str) -> str:
    return (
        f"header {header} is {preview(value)}, which cannot be read; send plain ASCII, or =?base64?…?= around the "
        "padded base64 of the text in UTF-8"
    )
