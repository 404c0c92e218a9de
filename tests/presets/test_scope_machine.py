"""Scopes in every order: whatever is entered, left, closed, failed or cancelled, the mode and the lists are right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from presets.definition import Risk
from presets.presentation import RUN_CODE_NAME, Presentation
from presets.projection import project
from presets.scope import Declaration, Scope, ScopeConflictError
from presets.scope_view import deny_reason
from presets.tool_labels import ToolLabels
from tests.presets.scope_samples import NAMES, TOOLS, run_code

FACTS = {entry.definition.name: ToolLabels.of(entry.definition) for entry in TOOLS}

What = tuple[str, Any]

WHATS: st.SearchStrategy[What] = st.one_of(
    st.tuples(st.just("mode"), st.sampled_from(list(Presentation))),
    st.tuples(st.just("allow"), st.frozensets(st.sampled_from(NAMES))),
    st.tuples(st.just("deny"), st.frozensets(st.sampled_from(NAMES), min_size=1)),
    st.tuples(st.just("groups"), st.frozensets(st.sampled_from(["drawing", "general", "none"]))),
    st.tuples(st.just("ceiling"), st.sampled_from(list(Risk))),
    st.tuples(st.just("guard"), st.sampled_from(NAMES)),
)


def admits(what: What, name: str) -> bool:
    """The model: whether one declaration lets a tool through."""
    kind, value = what
    labels = FACTS[name]
    match kind:
        case "allow":
            return name in value
        case "deny":
            return name not in value
        case "groups":
            return (labels.group or "none") in value
        case "ceiling":
            return labels.risk.rank <= value.rank
        case _:
            return True


@dataclass
class Place:
    """A scope, and what the model thinks it declares, in order."""

    scope: Scope
    parent: Place | None
    declared: list[What]

    @property
    def up(self) -> list[Place]:
        return [self] if self.parent is None else [self, *self.parent.up]

    @property
    def modes(self) -> list[Presentation]:
        return [value for kind, value in self.declared if kind == "mode"]

    @property
    def mode(self) -> Presentation:
        return next((mode for place in self.up for mode in place.modes), Presentation.NATIVE)

    @property
    def capabilities(self) -> tuple[str, ...]:
        whats = [what for place in self.up for what in place.declared]
        return tuple(name for name in NAMES if all(admits(what, name) for what in whats))

    @property
    def guarded(self) -> set[str]:
        return {value for place in self.up for kind, value in place.declared if kind == "guard"}


class _BodyError(Exception):
    pass


class Scopes(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.told = 0
        self.failing = False
        root = Place(Scope.deployment(on_change=self._on_change), None, [])
        self.places = [root]
        self.held: list[tuple[Declaration, Place, What]] = []
        for agent in ("a", "b"):
            self.places.append(Place(root.scope.child("agent", agent), root, []))
            self.places.append(Place(self.places[-1].scope.child("session", agent + "1"), self.places[-1], []))
        self.made = 0

    def _on_change(self) -> None:
        self.told += 1
        if self.failing:
            self.failing = False
            raise _BodyError

    def _declaration(self, place: Place, what: What) -> Declaration | None:
        """The declaration, or None where the model says that it is refused."""
        kind, value = what
        scope = place.scope
        make: dict[str, Callable[[], Declaration]] = {
            "mode": lambda: scope.present_as(value),
            "allow": lambda: scope.restrict(allow=value, known=NAMES),
            "deny": lambda: scope.restrict(deny=value, known=NAMES),
            "groups": lambda: scope.restrict_groups(allow=value),
            "ceiling": lambda: scope.risk_ceiling(value),
            "guard": lambda: scope.guard(lambda name, arguments: "guarded" if name == value else None),
        }
        if kind == "mode" and (place.parent is None or place.modes):
            with pytest.raises(ScopeConflictError):
                make[kind]()
            return None
        return make[kind]()

    def _place(self, at: int) -> Place:
        return self.places[at % len(self.places)]

    @rule(at=st.integers(0, 20), what=WHATS)
    def enter(self, at: int, what: What) -> None:
        place = self._place(at)
        declaration = self._declaration(place, what)
        if declaration is not None:
            declaration.__enter__()
            place.declared.append(what)
            self.held.append((declaration, place, what))

    @precondition(lambda self: self.held)
    @rule(which=st.integers(0, 50), again=st.booleans())
    def leave_any(self, which: int, again: bool) -> None:
        declaration, place, what = self.held.pop(which % len(self.held))
        told = self.told
        holds = declaration.holds
        declaration.__exit__(None, None, None)
        if again:
            declaration.undo()
        assert self.told == told + holds
        if holds:
            # Of equal declarations it does not matter which the model forgets.
            place.declared.remove(what)

    @rule(at=st.integers(0, 20), what=WHATS)
    def enter_while_the_listener_fails(self, at: int, what: What) -> None:
        declaration = self._declaration(self._place(at), what)
        if declaration is not None:
            self.failing = True
            with pytest.raises(_BodyError):
                declaration.__enter__()
            assert not declaration.holds

    @rule(at=st.integers(0, 20), what=WHATS)
    def raise_inside(self, at: int, what: What) -> None:
        place = self._place(at)
        declaration = self._declaration(place, what)
        if declaration is not None:
            with pytest.raises(_BodyError):
                self._raise_within(declaration, place, what)

    def _raise_within(self, declaration: Declaration, place: Place, what: What) -> None:
        with declaration:
            place.declared.append(what)
            self._check()
            place.declared.pop()
            raise _BodyError

    @rule(first=st.integers(0, 20), second=st.integers(0, 20), what=WHATS, other=WHATS)
    def cancel_inside(self, first: int, second: int, what: What, other: What) -> None:
        """Two tasks declare; one is cancelled while it waits, the other goes on and leaves later."""
        one, two = self._place(first), self._place(second)

        async def hold(declaration: Declaration, place: Place, said: What, until: trio.Event, ready: trio.Event):
            with declaration:
                place.declared.append(said)
                ready.set()
                try:
                    await until.wait()
                finally:
                    place.declared.remove(said)

        async def main() -> None:
            never, goes = trio.Event(), trio.Event()
            async with trio.open_nursery() as nursery:
                mine = self._declaration(one, what)
                scope = trio.CancelScope()
                if mine is not None:
                    ready = trio.Event()

                    async def cancelled() -> None:
                        with scope:
                            await hold(mine, one, what, never, ready)

                    nursery.start_soon(cancelled)
                    await ready.wait()
                theirs = self._declaration(two, other)
                if theirs is not None:
                    ready = trio.Event()
                    nursery.start_soon(hold, theirs, two, other, goes, ready)
                    await ready.wait()
                self._check()
                scope.cancel()
                await trio.testing.wait_all_tasks_blocked()
                self._check()
                goes.set()

        trio.run(main)

    @rule(at=st.integers(0, 20))
    def open_below(self, at: int) -> None:
        parent = self._place(at)
        if len(self.places) < 12:
            self.made += 1
            self.places.append(Place(parent.scope.child("session", str(self.made)), parent, []))

    @rule(at=st.integers(1, 20))
    def close(self, at: int) -> None:
        closing = self._place(at)
        if closing.parent is None:
            return
        gone = [place for place in self.places if closing in place.up]
        told, declared = self.told, any(place.declared for place in gone)
        closing.scope.close()
        closing.scope.close()
        assert self.told == told + declared
        assert all(place.scope.closed for place in gone)
        self.places = [place for place in self.places if place not in gone]
        # Their declarations stay held, so that some are left after their scope is gone.

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        self._check()

    def _check(self) -> None:
        for place in self.places:
            view = place.scope.view()
            assert place.scope.mode is view.mode is place.mode
            tools = project(TOOLS, view, run_code, 1)
            assert tools.capabilities.names == place.capabilities
            natives = () if place.mode is Presentation.CODE else place.capabilities
            programs = (RUN_CODE_NAME,) if place.mode is not Presentation.NATIVE else ()
            assert tools.offered.names == tuple(sorted((*natives, *programs)))
            assert {name for name in NAMES if deny_reason(view, name, {}) is not None} == place.guarded


Scopes.TestCase.settings = settings(max_examples=150, stateful_step_count=25, deadline=None)
TestScopesInEveryOrder = pytest.mark.slow(Scopes.TestCase)
