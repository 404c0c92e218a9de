"""Texts that must not be seen, and texts that somebody may have put one into. Owns how both are kept from showing.

A `Secret` never shows itself; a `Scrubber` takes given secrets out of what a provider says, whole or as it comes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import cast, final

HIDDEN = "(secret)"
"""What stands where a secret stood."""

SHORTEST_SCRUBBED = 6
"""Characters. Shorter ones, which local servers take, open nothing and stand in ordinary words."""

SHORTEST_SCRUBBED_FROM_PROSE = 16
"""Characters. Keys that open anything are longer, and stand-ins such as `lm-studio` may well be words of a story."""

SCRUBBED_CHARACTERS = 64 * 1024
"""Of a text of which the beginning is shown: what comes later is cut off anyway."""

_WORD = re.compile(r"[^\s\"'()<>{}\[\],;=]+")

_MASK = re.compile(r"[*•…]{3}")
"""In a key as providers show it, such as `sk-ab****wxyz`: what is left of it is nobody's business either."""


@final
class Secret:
    """A text that shows itself only when it is asked to. Equal to a secret with the same text."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text. For whoever sends or stores it, and nobody else."""
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(("secret", self._text))

    def __repr__(self) -> str:
        return HIDDEN

    def __reduce__(self) -> str:
        raise TypeError("a secret is not written anywhere by itself")


class Scrubber:
    """Takes secrets out of texts. Made for one provider."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        texts = {secret.reveal().strip() for secret in secrets}
        # A secret may hold another one; the longer goes first. `Bearer x` is known by its `x`.
        parts = {part for text in texts for part in (text, *text.split())}
        self._all = sorted((part for part in parts if len(part) >= SHORTEST_SCRUBBED), key=len, reverse=True)
        self._long = [part for part in self._all if len(part) >= SHORTEST_SCRUBBED_FROM_PROSE]
        self._all_written = _written(self._all)
        self._long_written = _written(self._long)

    def message(self, text: str) -> str:
        """A text that a provider, or a library, has made about a request: without the secrets, and without what looks
        like the rest of one.
        """
        return _WORD.sub(_unmasked, _without(text, self._all, self._all_written))

    def beginning(self, text: str, characters: int) -> str:
        """The first characters of a `message`. Nothing of a secret is left where it is cut."""
        return self.message(text[:SCRUBBED_CHARACTERS])[:characters]

    def prose(self, text: str) -> str:
        """A whole text that a model has written, without the secrets that cannot be meant."""
        return _without(text, self._long, self._long_written)

    def tree(self, value: object) -> object:
        """What was decoded from JSON, with every text in it as `prose` gives it, the names of members too.

        Raises `RecursionError` for what is nested too deeply.
        """
        if isinstance(value, str):
            return self.prose(value)
        if isinstance(value, Mapping):
            members = cast("Mapping[str, object]", value)
            return {self.prose(name): self.tree(member) for name, member in members.items()}
        if isinstance(value, list):
            return [self.tree(one) for one in cast("list[object]", value)]
        return value

    def flow(self) -> Flow:
        """For a text that comes in pieces, between which a secret may be cut."""
        return Flow(self, self._long)


class Flow:
    """One text under way. What may be the beginning of a secret is held back until it is known to be none."""

    def __init__(self, scrubber: Scrubber, secrets: list[str]) -> None:
        self._scrubber = scrubber
        self._secrets = secrets
        self._held = ""

    def feed(self, piece: str) -> str:
        """What may go on now."""
        text = self._scrubber.prose(self._held + piece)
        keep = max((_overlap(text, secret) for secret in self._secrets), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def end(self) -> str:
        """What was held back last."""
        rest, self._held = self._held, ""
        return rest


def _written(secrets: list[str]) -> re.Pattern[str] | None:
    """What finds secrets also where characters of them are escaped as in JSON, over and over, or as in a URL."""
    if not secrets:
        return None
    # Possessive and bounded: a text of nothing but backslashes costs no more than another.
    return re.compile("|".join("".join(map(_character, secret)) for secret in secrets))


def _character(character: str) -> str:
    if character == "\\":
        return r"(?:\\{1,4}+(?:u005[cC])?|%5[cC])"
    code = "".join(f"[{digit}{digit.upper()}]" for digit in f"{ord(character):02x}")
    return rf"(?:\\{{0,4}}+(?:{re.escape(character)}|u00{code})|%{code})"


def _without(text: str, secrets: list[str], written: re.Pattern[str] | None) -> str:
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    if written is not None and ("\\" in text or "%" in text):
        text = written.sub(HIDDEN, text)
    return text


def _unmasked(word: re.Match[str]) -> str:
    return HIDDEN if _MASK.search(word[0]) else word[0]


def _overlap(text: str, secret: str) -> int:
    """How many characters at the end of the text are the beginning of the secret."""
    for length in range(min(len(text), len(secret) - 1), 0, -1):
        # The last characters first, so that this costs little where nothing is alike.
        if secret[length - 1] == text[-1] and text.endswith(secret[:length]):
            return length
    return 0
