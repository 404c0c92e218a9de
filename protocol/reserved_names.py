"""Tool names that nobody may register, and what each is kept for. Owns the rule of what would stand in its way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


class ReservedNames:
    """Names that are kept, each with its purpose in words that complete "is reserved for …". Immutable.

    A name is taken by whatever a client or a model could mistake for it: letters of another case, and `.` or `-` in
    the place of `_`, since some clients write all three alike.
    """

    __slots__ = ("_by_key", "_purposes")

    def __init__(self, purposes: Mapping[str, str] | None = None) -> None:
        self._purposes = dict(purposes or {})
        self._by_key = {_key(name): name for name in self._purposes}

    def reserved(self, name: str) -> str | None:
        """The reserved name that this one is, or would be mistaken for; None for a name that is free."""
        return self._by_key.get(_key(name))

    def refusal(self, name: str) -> str | None:
        """Why nobody may have this name, as the end of a sentence that begins with it; None for a name that is free."""
        kept = self.reserved(name)
        if kept is None:
            return None
        what = "the name" if kept == name else f"the name can be mistaken for {kept!r}, which"
        return f"{what} is reserved for {self._purposes[kept]}; choose another"

    def __iter__(self) -> Iterator[str]:
        return iter(self._purposes)

    def __len__(self) -> int:
        return len(self._purposes)


def _key(name: str) -> str:
    return name.casefold().replace(".", "_").replace("-", "_")


NOTHING_RESERVED = ReservedNames()
"""Every name is free."""
