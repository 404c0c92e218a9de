"""The state that a stateless request leaves with its client, sealed so that nothing else can be made of it.

Owns the seal. A seal is a MAC (HMAC-SHA256): a client cannot change the state, give it to somebody else, or bring it
to another request, but it can read it, so nothing secret belongs into one. Nothing is remembered, so the same state can
be brought back several times before it expires. Never reads a clock of its own.
Source: MCP specification 2026-07-28, multi round-trip requests ("requestState").
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest, new

from protocol.jsonrpc import encode
from protocol.tool import JsonObject

KEY_BYTES = 32
"""Shortest key, bytes: the size of the MAC."""

STATE_TTL_SECONDS = 600.0
"""How long a client may take to come back, seconds. A person may have to read and fill in something."""

STATE_BYTES = 64 * 1024
"""Longest state, bytes of JSON. It travels twice in every round."""

_LABEL = b"space mcp request state 1"
_EXPIRY_BYTES = 8
_MAC_BYTES = 32
_HEAD_BYTES = _MAC_BYTES + _EXPIRY_BYTES
_TOKEN_CHARS = (STATE_BYTES + _HEAD_BYTES) * 4 // 3 + 4
_OWN_TO_A_ROUND = frozenset({"_meta", "inputResponses", "requestState", "task"})


@dataclass(frozen=True, slots=True)
class StateBinding:
    """Which request a state belongs to: what was asked, and by whom."""

    method: str
    params: JsonObject
    principal: str

    def digest(self) -> bytes:
        """A digest of the request without what each round brings anew. Absent and empty arguments are one."""
        same = {name: value for name, value in self.params.items() if name not in _OWN_TO_A_ROUND}
        if not same.get("arguments", True):
            del same["arguments"]
        text = json.dumps([self.method, self.principal, same], sort_keys=True, ensure_ascii=True)
        return sha256(text.encode()).digest()


@dataclass(frozen=True, slots=True)
class State:
    """A state that came back as it was given out."""

    value: object


@dataclass(frozen=True, slots=True)
class StateFault:
    """Why a state is refused, in words that give nothing away."""

    reason: str


class StateSealer:
    """Seals and opens states. All servers that share a key open each other's.

    `clock` gives epoch seconds. Raises `ValueError` for a key that is too short.
    """

    def __init__(self, key: bytes, clock: Callable[[], float], ttl_seconds: float = STATE_TTL_SECONDS) -> None:
        if len(key) < KEY_BYTES:
            raise ValueError(f"the key of request states must have {KEY_BYTES} bytes or more, not {len(key)}")
        self._key = key
        self._clock = clock
        self._ttl = ttl_seconds

    def seal(self, value: object, binding: StateBinding) -> str:
        """The state as a text for the client. Raises `ValueError` for what is no JSON, or is too long."""
        payload = encode(value)
        if len(payload) > STATE_BYTES:
            raise ValueError(f"the state has {len(payload)} bytes; the most is {STATE_BYTES}")
        expiry = int((self._clock() + self._ttl) * 1000).to_bytes(_EXPIRY_BYTES, "big")
        return urlsafe_b64encode(self._mac(expiry, payload, binding) + expiry + payload).decode()

    def open(self, text: str, binding: StateBinding) -> State | StateFault:
        """The state in a text that a client brought. Never raises, whatever the text is."""
        try:
            raw = urlsafe_b64decode(text) if len(text) <= _TOKEN_CHARS else b""
        except (Base64Error, ValueError):
            raw = b""
        # Decoding skips what is no base64, so that a seal could be dressed up: only the exact text is one.
        if len(raw) < _HEAD_BYTES or urlsafe_b64encode(raw).decode() != text:
            return StateFault("it is none of this server's")
        mac, expiry, payload = raw[:_MAC_BYTES], raw[_MAC_BYTES:_HEAD_BYTES], raw[_HEAD_BYTES:]
        if not compare_digest(mac, self._mac(expiry, payload, binding)):
            return StateFault("it has been changed, or belongs to another request")
        if self._clock() * 1000 > int.from_bytes(expiry, "big"):
            return StateFault("it has expired; send the request again without it")
        return State(json.loads(payload))

    def _mac(self, expiry: bytes, payload: bytes, binding: StateBinding) -> bytes:
        # Every part but the last has a fixed length, so no two messages are written alike.
        return new(self._key, _LABEL + binding.digest() + expiry + payload, sha256).digest()
