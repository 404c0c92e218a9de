"""The state that a stateless request leaves with its client, sealed so that nothing else can be made of it.

Owns the seal. A seal is a MAC (HMAC-SHA256): a client cannot change the state, give it to somebody else, or bring it
to another request, but it can read it, so nothing secret belongs into one. A state can be brought back several times
before it expires, unless it is sealed for once: of those that were used a number is remembered until they expire. Never
reads a clock of its own.
Source: MCP specification 2026-07-28, multi round-trip requests ("requestState").
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from heapq import heappop, heappush
from hmac import compare_digest, new
from secrets import token_bytes

from protocol.jsonrpc import encode
from protocol.tool import JsonObject

KEY_BYTES = 32
"""Shortest key, bytes: the size of the MAC."""

STATE_TTL_SECONDS = 600.0
"""How long a client may take to come back, seconds. A person may have to read and fill in something."""

STATE_BYTES = 64 * 1024
"""Longest state, bytes of JSON. It travels twice in every round."""

USED_STATES = 16_384
"""States for once that are remembered as used: more than people agree to in the time that a state lives."""

_LABEL = b"space mcp request state 2"
_EXPIRY_BYTES = 8
_MAC_BYTES = 32
_NONCE_BYTES = 16
_OFTEN = bytes(_NONCE_BYTES)
"""The nonce of a state that may be brought back several times."""

_NONCE_AT = _MAC_BYTES + _EXPIRY_BYTES
_HEAD_BYTES = _NONCE_AT + _NONCE_BYTES
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
    """Seals and opens states. All servers that share a key open each other's, but each knows only what it has opened.

    `clock` gives epoch seconds, `used` is how many used states are remembered. Raises `ValueError` for a key that is
    too short.
    """

    def __init__(
        self,
        key: bytes,
        clock: Callable[[], float],
        ttl_seconds: float = STATE_TTL_SECONDS,
        used: int = USED_STATES,
    ) -> None:
        if len(key) < KEY_BYTES:
            raise ValueError(f"the key of request states must have {KEY_BYTES} bytes or more, not {len(key)}")
        self._key = key
        self._clock = clock
        self._ttl = ttl_seconds
        self._most_used = used
        self._used: set[bytes] = set()
        self._used_until: list[tuple[int, bytes]] = []
        """The used ones as a heap by their expiry."""
        self._forgotten_until = 0
        """The latest expiry of a used state that had to be forgotten: what expires before may have been used."""

    def seal(self, value: object, binding: StateBinding, *, once: bool = False) -> str:
        """The state as a text for the client; with `once` it opens a single time.

        Raises `ValueError` for what is no JSON, or is too long.
        """
        payload = encode(value)
        if len(payload) > STATE_BYTES:
            raise ValueError(f"the state has {len(payload)} bytes; the most is {STATE_BYTES}")
        expiry = int((self._clock() + self._ttl) * 1000).to_bytes(_EXPIRY_BYTES, "big")
        nonce = token_bytes(_NONCE_BYTES) if once else _OFTEN
        return urlsafe_b64encode(self._mac(expiry, nonce, payload, binding) + expiry + nonce + payload).decode()

    def open(self, text: str, binding: StateBinding) -> State | StateFault:
        """The state in a text that a client brought. One that is for once is used by this. Never raises, whatever the
        text is.
        """
        try:
            raw = urlsafe_b64decode(text) if len(text) <= _TOKEN_CHARS else b""
        except (Base64Error, ValueError):
            raw = b""
        # Decoding skips what is no base64, so that a seal could be dressed up: only the exact text is one.
        if len(raw) < _HEAD_BYTES or urlsafe_b64encode(raw).decode() != text:
            return StateFault("it is none of this server's")
        mac, expiry, nonce = raw[:_MAC_BYTES], raw[_MAC_BYTES:_NONCE_AT], raw[_NONCE_AT:_HEAD_BYTES]
        payload = raw[_HEAD_BYTES:]
        if not compare_digest(mac, self._mac(expiry, nonce, payload, binding)):
            return StateFault("it has been changed, or belongs to another request")
        ends = int.from_bytes(expiry, "big")
        if self._clock() * 1000 > ends:
            return StateFault("it has expired; send the request again without it")
        if nonce != _OFTEN and not self._use(nonce, ends):
            return StateFault(
                "it was used already, and what the user agreed to counts for one call. Nothing was run this time; to "
                "ask the user again send the request without requestState and inputResponses"
            )
        return State(json.loads(payload))

    def _use(self, nonce: bytes, ends: int) -> bool:
        """Note that a state is used; False where it was before, or may have been. `ends` is its expiry, epoch ms."""
        if nonce in self._used or ends <= self._forgotten_until:
            return False
        now = self._clock() * 1000
        while self._used_until and (self._used_until[0][0] < now or len(self._used_until) >= self._most_used):
            ended, old = heappop(self._used_until)
            self._used.discard(old)
            self._forgotten_until = max(self._forgotten_until, ended)
        self._used.add(nonce)
        heappush(self._used_until, (ends, nonce))
        return True

    def _mac(self, expiry: bytes, nonce: bytes, payload: bytes, binding: StateBinding) -> bytes:
        # Every part but the last has a fixed length, so no two messages are written alike.
        return new(self._key, _LABEL + binding.digest() + expiry + nonce + payload, sha256).digest()
