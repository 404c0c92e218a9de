"""Scopes: a chain (deployment, agent, session) in which each link may restrict, guard and choose a presentation.

Owns what is declared and for how long; never looks at a tool. Everything is synchronous, so a cancellation finds a
scope as it was before a declaration or as it is after it. Source: tool-presentation, "Decision".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from enum import Enum, auto
from types import TracebackType
from typing import Self, TypeVar

from engine.errors import ConflictError, InvalidArgumentError
from presets.definition import Risk
from presets.presentation import DEFAULT_OPTION, RESERVED_NAMES, Presentation
from presets.scope_view import Guard, GuardCheck, ScopeView, mode_source
from presets.suggestions import close_names, did_you_mean, quoted
from presets.tool_filters import UNGROUPED, Listed, ListFilter, Origin, RiskFilter, ToolFilter

MAX_SAID_KNOWN = 20
"""Known names that an error lists where none is close; all of them would be a flood."""


class InvalidDeclarationError(InvalidArgumentError):
    """Raised for a declaration that says nothing or names what does not exist. Nothing has changed."""


class ScopeConflictError(ConflictError):
    """Raised when a scope cannot take a declaration: it has one already, it is the wrong scope, or it is closed.

    Nothing has changed.
    """


class _Mode:
    """The presentation of one scope."""

    __slots__ = ("mode", "origin")

    def __init__(self, origin: Origin, mode: Presentation) -> None:
        self.origin = origin
        self.mode = mode


class _ToolFinder:
    """The pair that finds and calls tools by name."""

    __slots__ = ()


_Entry = ToolFilter | Guard | _Mode | _ToolFinder


class _State(Enum):
    FRESH = auto()
    HOLDS = auto()
    UNDONE = auto()


class Declaration:
    """One thing that a scope declares, for the body of a `with`. Entered once; several may be left in any order.

    Entering writes, leaving undoes exactly that and nothing else, however often it is left. When the scope was closed
    in between there is nothing left to undo. An `ExitStack` may hold it.
    """

    __slots__ = ("_entry", "_scope", "_state")

    def __init__(self, scope: Scope, entry: _Entry) -> None:
        self._scope = scope
        self._entry = entry
        self._state = _State.FRESH

    @property
    def holds(self) -> bool:
        """Whether it is in force now."""
        return self._state is _State.HOLDS and self._scope.declares(self)

    def __enter__(self) -> Self:
        """Write it. Raises `ScopeConflictError`, or what the listener raises; the scope is then as it was."""
        if self._state is not _State.FRESH:
            raise ScopeConflictError(f"a declaration of {self._scope.title} is entered twice; make another for that")
        # Spent even where writing fails, so that a failed one cannot come into force later.
        self._state = _State.UNDONE
        self._scope._write(self, self._entry)  # pyright: ignore[reportPrivateUsage] - two halves of one idea
        self._state = _State.HOLDS
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.undo()

    def undo(self) -> None:
        """Take it back, if it is in force. An error of the listener comes out; the undoing stands."""
        if self._state is _State.HOLDS:
            self._state = _State.UNDONE
            self._scope._undo(self)  # pyright: ignore[reportPrivateUsage] - two halves of one idea


class _Root:
    """What a whole tree of scopes shares: the default, the listener, and how often anything has changed."""

    __slots__ = ("default", "on_change", "version")

    def __init__(self, default: Presentation, on_change: Callable[[], None]) -> None:
        self.default = default
        self.on_change = on_change
        self.version = 0

    def changed(self) -> None:
        """Count a change and tell the listener, which already sees it."""
        self.version += 1
        self.on_change()


class Scope:
    """One link of the chain. Make the first with `Scope.deployment`, the others with `child`.

    `restrict`, `restrict_presets`, `restrict_groups`, `risk_ceiling`, `guard`, `present_as` and `find_tools` each
    return a `Declaration` that is in force for the body of a `with`. `by` says what declares, such as a row of a file,
    for the reasons that quote it. Filters and guards of all scopes of a chain hold together; of modes the nearest wins.

    As a context manager a scope closes itself.
    """

    def __init__(self, title: str, parent: Scope | None, root: _Root) -> None:
        """For `deployment` and `child` only."""
        self.title = title
        """The scope in words, as reasons quote it."""
        self._parent = parent
        self._root = root
        self._children: dict[Scope, None] = {}
        self._declared: dict[Declaration, _Entry] = {}
        self._closed = False
        self._view: tuple[int, ScopeView] | None = None

    @classmethod
    def deployment(
        cls, default: Presentation = Presentation.NATIVE, on_change: Callable[[], None] = lambda: None
    ) -> Self:
        """The scope that all others hang on. `default` is the mode of scopes that declare none on their chain.

        `on_change` is called after each write and each undo in any scope of the tree, and once for the closing of a
        scope that had declared anything, with the change already in place. When it raises on a write, the write is
        taken back, it is called again, and the error goes to whoever declared. It must not declare anything itself.
        """
        return cls("the deployment", None, _Root(default, on_change))

    def child(self, kind: str, name: str) -> Scope:
        """A scope below this one, such as `child("agent", "code")`. Raises `ScopeConflictError` when this is closed."""
        self._check_open()
        child = Scope(f"{kind} {name!r}", self, self._root)
        self._children[child] = None
        return child

    @property
    def closed(self) -> bool:
        """Whether `close` was called, here or further up."""
        return self._closed

    @property
    def chain(self) -> tuple[Scope, ...]:
        """The scopes from this one up to the deployment."""
        return tuple(self._upwards())

    @property
    def mode(self) -> Presentation:
        """The mode that holds here: the nearest declaration on the chain, else the deployment's default."""
        declared = self._nearest_mode()
        return self._root.default if declared is None else declared.mode

    @property
    def mode_source(self) -> str:
        """Who chose that mode, in words."""
        declared = self._nearest_mode()
        return mode_source(None if declared is None else declared.origin)

    def present_as(self, mode: Presentation, *, by: str | None = None) -> Declaration:
        """Show the tools in this form in this scope and those below it that declare none themselves.

        Raises `ScopeConflictError` in a scope that has declared a mode, and for the deployment, whose mode is an
        option.
        """
        self._check_open()
        mode = _member(Presentation, mode)
        if self._parent is None:
            raise ScopeConflictError(
                f"the deployment cannot declare presentation {mode.value!r}: an agent's or a session's scope is "
                f"needed. What holds where nobody declares one is set with {DEFAULT_OPTION} {mode.value}"
            )
        entry = _Mode(self._origin(by), mode)
        self._check_single_mode(entry)
        return Declaration(self, entry)

    def find_tools(self) -> Declaration:
        """Show the pair that finds and calls tools by name, in this scope and those below it."""
        self._check_open()
        return Declaration(self, _ToolFinder())

    def restrict(
        self,
        *,
        allow: Collection[str] | None = None,
        deny: Collection[str] | None = None,
        known: Collection[str],
        by: str | None = None,
    ) -> Declaration:
        """Let through the tools (MCP names) that are on `allow` and not on `deny`; several restrictions intersect.

        Tools that come later meet the same lists. `known` are the names that exist, shown or not. Raises
        `InvalidDeclarationError` when neither list is given, and for names that are unknown or reserved.
        """
        return self._restrict(Listed.TOOLS, allow, deny, known, by)

    def restrict_presets(
        self,
        *,
        allow: Collection[str] | None = None,
        deny: Collection[str] | None = None,
        known: Collection[str] | None = None,
        by: str | None = None,
    ) -> Declaration:
        """Let through the tools of these presets; `none` stands for tools that no preset offers.

        Names are checked where `known` is given. Raises as `restrict`.
        """
        return self._restrict(Listed.PRESETS, allow, deny, known, by)

    def restrict_groups(
        self,
        *,
        allow: Collection[str] | None = None,
        deny: Collection[str] | None = None,
        known: Collection[str] | None = None,
        by: str | None = None,
    ) -> Declaration:
        """Let through the tools of presets of these groups; `none` stands for tools that have no group.

        Names are checked where `known` is given. Raises as `restrict`.
        """
        return self._restrict(Listed.GROUPS, allow, deny, known, by)

    def risk_ceiling(self, risk: Risk, *, by: str | None = None) -> Declaration:
        """Let through the tools that are at most this risky. Of several ceilings the lowest holds."""
        self._check_open()
        return Declaration(self, RiskFilter(self._origin(by), _member(Risk, risk)))

    def guard(self, check: GuardCheck, *, by: str | None = None) -> Declaration:
        """Ask this before each call in this scope and below. See `GuardCheck` and `deny_reason`."""
        self._check_open()
        return Declaration(self, Guard(self._origin(by), check))

    def view(self) -> ScopeView:
        """The whole chain as it is now, frozen. The same object until something on the chain changes.

        A scope that declares nothing gives the view of its parent: sessions of one agent share one.
        """
        self._check_open()
        if self._view is None or self._view[0] != self._root.version:
            fresh = self._look()
            kept = fresh if self._view is None or self._view[1] != fresh else self._view[1]
            self._view = (self._root.version, kept)
        return self._view[1]

    def declares(self, declaration: Declaration) -> bool:
        """Whether this declaration is in force in exactly this scope."""
        return declaration in self._declared

    def close(self) -> None:
        """Undo everything that this scope and those below it declared, and refuse further use. Twice is harmless.

        An error of the listener comes out; the closing stands.
        """
        if self._shut():
            self._root.changed()

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Scope {' < '.join(scope.title for scope in self._upwards())}{' (closed)' if self._closed else ''}>"

    def _write(self, declaration: Declaration, entry: _Entry) -> None:
        self._check_open()
        if isinstance(entry, _Mode):
            self._check_single_mode(entry)
        self._declared[declaration] = entry
        try:
            self._root.changed()
        except BaseException:
            # Whoever follows the scope has seen what does not hold, so it is told again.
            del self._declared[declaration]
            self._root.changed()
            raise

    def _undo(self, declaration: Declaration) -> None:
        if self._declared.pop(declaration, None) is not None:
            self._root.changed()

    def _shut(self) -> bool:
        """Close without telling anybody; whether anything had been declared. Nobody outlives its parent."""
        if self._closed:
            return False
        below = [child._shut() for child in reversed(tuple(self._children))]
        declared = bool(self._declared)
        self._declared.clear()
        self._view = None
        self._closed = True
        if self._parent is not None:
            self._parent._children.pop(self, None)
        return declared or any(below)

    def _look(self) -> ScopeView:
        inherited = ScopeView(mode=self._root.default) if self._parent is None else self._parent.view()
        if not self._declared:
            return inherited
        filters: list[ToolFilter] = []
        guards: list[Guard] = []
        mode, mode_origin = inherited.mode, inherited.mode_origin
        tool_finder = inherited.tool_finder
        for entry in self._declared.values():
            match entry:
                case _Mode():
                    mode, mode_origin = entry.mode, entry.origin
                case Guard():
                    guards.append(entry)
                case _ToolFinder():
                    tool_finder = True
                case _:
                    filters.append(entry)
        return ScopeView(mode, mode_origin, (*inherited.filters, *filters), (*inherited.guards, *guards), tool_finder)

    def _restrict(
        self,
        of: Listed,
        allow: Collection[str] | None,
        deny: Collection[str] | None,
        known: Collection[str] | None,
        by: str | None,
    ) -> Declaration:
        self._check_open()
        allowed = None if allow is None else _names(of, "allow", allow)
        denied = _names(of, "deny", deny or ())
        if allowed is None and not denied:
            raise InvalidDeclarationError(f"a restriction of {of.value} needs 'allow' or 'deny'; this one does nothing")
        _check_names(of, (allowed or frozenset()) | denied, known)
        return Declaration(self, ListFilter(self._origin(by), of, allowed, denied))

    def _origin(self, by: str | None) -> Origin:
        return Origin(self.title, by)

    def _upwards(self) -> Iterable[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope._parent

    def _nearest_mode(self) -> _Mode | None:
        self._check_open()
        found = (scope._own_mode() for scope in self._upwards())
        return next((mode for mode in found if mode is not None), None)

    def _own_mode(self) -> _Mode | None:
        return next((entry for entry in self._declared.values() if isinstance(entry, _Mode)), None)

    def _check_single_mode(self, wanted: _Mode) -> None:
        earlier = self._own_mode()
        if earlier is not None:
            raise ScopeConflictError(
                f"presentation {wanted.mode.value!r} conflicts with {earlier.mode.value!r}, which {earlier.origin} has "
                "declared already; a scope presents its tools in one form"
            )

    def _check_open(self) -> None:
        if self._closed:
            raise ScopeConflictError(f"the scope of {self.title} is closed; make another")


_MemberT = TypeVar("_MemberT", Presentation, Risk)


def _member(kind: type[_MemberT], value: _MemberT) -> _MemberT:
    try:
        return kind(value)
    except ValueError:
        words = ", ".join(member.value for member in kind)
        raise InvalidDeclarationError(f"{value!r} is none of {words}") from None


def _names(of: Listed, member: str, names: Collection[str]) -> frozenset[str]:
    """A copy, so that later changes of the caller's list change nothing here."""
    if isinstance(names, str):
        raise InvalidDeclarationError(f"{member!r} is a list of {of.value}, not the text {quoted(names)}")
    return frozenset(names)


def _check_names(of: Listed, names: frozenset[str], known: Collection[str] | None) -> None:
    if of is Listed.TOOLS and (reserved := sorted(name for name in names if RESERVED_NAMES.reserved(name))):
        raise InvalidDeclarationError(
            f"a restriction cannot name {quoted(reserved[0])}, which is no tool to be allowed or denied; whether it is "
            "seen follows from the presentation, and from the row 'tool-finder'"
        )
    if known is None:
        return
    unknown = sorted(names - frozenset(known) - (frozenset() if of is Listed.TOOLS else {UNGROUPED}))
    if unknown:
        close = list(dict.fromkeys(name for one in unknown for name in close_names(one, known)))
        remedy = did_you_mean(close) if close else f" Known are: {_some(known)}."
        raise InvalidDeclarationError(f"unknown {of.value}: {', '.join(map(quoted, unknown))}.{remedy}")


def _some(known: Collection[str]) -> str:
    names = sorted(known)
    more = len(names) - MAX_SAID_KNOWN
    return (", ".join(names[:MAX_SAID_KNOWN]) or "(none)") + (f" and {more} more" if more > 0 else "")
