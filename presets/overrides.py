"""Overrides: what the user said about presets, as a frozen value. Owns their states; never looks at definitions.

Auto is the absence of an override, so storing it takes one away, and doing so where there is none changes nothing.
An override whose preset goes away stays (it is then orphaned) and holds again when the preset comes back.
Source: agent-presets, "Override State"; findings on the existing engine, section 2.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from engine.errors import InvalidArgumentError, NotFoundError
from presets.definition import OverrideState
from presets.suggestions import close_names, did_you_mean, quoted


class UnknownOverrideError(NotFoundError):
    """Raised when an override names a preset that is not registered."""


class InvalidOverrideError(InvalidArgumentError):
    """Raised when the state of an override is none of `on`, `off` and `auto`."""


class Overrides(Mapping[str, OverrideState]):
    """Preset name → `on` or `off`, sorted by name. Immutable, hashable, equal by value; a name without one is auto."""

    __slots__ = ("_states",)

    def __init__(self, states: Mapping[str, OverrideState | str] | None = None) -> None:
        """Take states as they are, for names that need not be registered (restored settings, tests).

        Raises `InvalidOverrideError`. `with_state` is the door for what a user asks.
        """
        parsed = {name: _state(name, state) for name, state in sorted((states or {}).items())}
        self._states = {name: state for name, state in parsed.items() if state is not OverrideState.AUTO}

    def state_of(self, name: str) -> OverrideState:
        """What holds for that preset; `auto` when nothing was said."""
        return self._states.get(name, OverrideState.AUTO)

    def with_state(self, name: str, state: OverrideState | str, known: Collection[str]) -> Overrides:
        """The overrides after the user said this; the very same object when that changes nothing.

        `known` are the registered names (a `PresetRegistry` will do). Raises `InvalidOverrideError`, or
        `UnknownOverrideError` for a name that is not among them; only `auto` for an orphaned override is taken.
        """
        wanted = _state(name, state)
        clears_orphan = wanted is OverrideState.AUTO and name in self._states
        if name not in known and not clears_orphan:
            close = did_you_mean(close_names(name, known))
            raise UnknownOverrideError(f"cannot override preset {quoted(name)}: there is no such preset.{close}")
        if wanted is self.state_of(name):
            return self
        return Overrides({**self._states, name: wanted})

    def cleared(self) -> Overrides:
        """Every preset back to auto; the very same object when there is no override."""
        return NO_OVERRIDES if self._states else self

    def orphaned(self, known: Collection[str]) -> Overrides:
        """Those whose preset is not registered at present."""
        return Overrides({name: state for name, state in self._states.items() if name not in known})

    def to_json(self) -> dict[str, str]:
        """Name → state, as plain strings, sorted by name."""
        return {name: state.value for name, state in self._states.items()}

    def __getitem__(self, name: str) -> OverrideState:
        return self._states[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    def __hash__(self) -> int:
        return hash(tuple(self._states.items()))

    def __repr__(self) -> str:
        return f"Overrides({self.to_json()!r})"


def _state(name: str, state: OverrideState | str) -> OverrideState:
    try:
        return OverrideState(state)
    except ValueError:
        states = ", ".join(known.value for known in OverrideState)
        raise InvalidOverrideError(
            f"override of preset {quoted(name)}: state {state!r} must be one of {states}"
        ) from None


NO_OVERRIDES = Overrides()
"""Nothing was said about any preset."""
