"""What one agent sees of the tools, and what it may call: the one registry, projected through a chain of scopes.

Pure: a tool list and a scope's view in, a frozen value out. `tools/list`, the prompt and whoever runs a call all ask
that value, so they cannot disagree. Source: tool-presentation, "Decision" and "Consequences".
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from engine.errors import ConflictError
from presets.presentation import CALL_TOOL_NAME, FIND_TOOLS_NAME, RUN_CODE_NAME, Presentation, presented_name
from presets.scope_view import ScopeView
from presets.tool_filters import Listed, ListFilter, ToolFilter
from presets.tool_labels import GROUP, PRESET, RISK, UNLABELLED, ToolLabels
from protocol.tool_list import ToolEntry, ToolList

RunCode = Callable[[ToolList], ToolEntry]
"""Gives the tool `space_run_code` for an agent with these capabilities. It is called at each projection that shows it.

Its description may speak of the capabilities. What costs (a face, a compiled schema) is for the maker to keep.
"""


FinderPair = Callable[[ToolList], tuple[ToolEntry, ToolEntry]]
"""Gives `space_find_tools` and `space_call_tool` for an agent with these capabilities, as `RunCode` gives its tool."""


class NoCodeRuntimeError(ConflictError):
    """Raised when a scope presents `space_run_code` and nothing can run it. The text quotes the scope's mode."""


@dataclass(frozen=True, slots=True)
class MayCall:
    """The call may go on to this tool."""

    entry: ToolEntry


@dataclass(frozen=True, slots=True)
class RouteThroughProgram:
    """The tool is one of the agent's, but may be called from inside a program only."""

    name: str

    @property
    def text(self) -> str:
        """What the model is told: the way that leads there."""
        return (
            f"only `{RUN_CODE_NAME}` is callable directly — call `{self.name}` from inside a program: "
            f"`await {member_access(self.name)}({{...}})`"
        )


@dataclass(frozen=True, slots=True)
class Hidden:
    """The tool exists now, and a scope keeps it from this agent."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """No tool of that name is registered now. Why it is not is a question for `presets.explain`.

    `meant` is a tool that presentation adds for this agent, where the name is a misspelling of it.
    """

    name: str
    meant: str | None = None


CallDecision = MayCall | RouteThroughProgram | Hidden | Unknown


@dataclass(frozen=True, slots=True, eq=False)
class AgentTools:
    """The tools of one agent at one moment.

    `registered` is what the projection started from and `view` what it went through. `capabilities` is what the agent
    may do, the same in every mode; `offered` is what its client lists. The revision of both speaks of `offered`: in
    mode `code` the capabilities may change without it.
    """

    registered: ToolList
    view: ScopeView
    capabilities: ToolList
    offered: ToolList

    @property
    def mode(self) -> Presentation:
        """The form in which the tools are offered."""
        return self.view.mode

    @property
    def programs_only(self) -> bool:
        """Whether nothing but `space_run_code` may be called directly: the rule that prompt and executor share."""
        return self.view.mode is Presentation.CODE

    def decide_call(self, name: str, *, from_program: bool = False) -> CallDecision:
        """What becomes of a call of that name, made by the model itself or by a program that it runs.

        A program reaches every capability and never `space_run_code`; a native agent finds that name nowhere.
        """
        callable_here = self.capabilities if from_program else self.offered
        entry = callable_here.get(name)
        if entry is not None:
            return MayCall(entry)
        if self.capabilities.get(name) is not None:
            return RouteThroughProgram(name)
        reason = self.why_hidden(name)
        if reason is not None:
            return Hidden(name, reason)
        meant = presented_name(name)
        has_it = meant is not None and not from_program and self.offered.get(meant) is not None
        return Unknown(name, meant if has_it else None)

    def why_hidden(self, name: str) -> str | None:
        """Which scope hides a registered tool from this agent, by what and why; None where none does.

        The nearest scope speaks. That a capability is reached through programs only is not hiding.
        """
        entry = self.registered.get(name)
        if entry is None or name == RUN_CODE_NAME:
            return None
        labels = ToolLabels.of(entry.definition)
        for one in reversed(self.view.filters):
            if not one.admits(name, labels):
                return f"Tool {name!r} is hidden by {one.origin}: {one.objection(name, labels)}."
        return None

    def looks_like(self, other: AgentTools) -> bool:
        """Whether a client could not tell the two apart by listing the tools."""
        return self.offered.looks_like(other.offered)


def project(
    tools: ToolList, view: ScopeView, run_code: RunCode | None, revision: int, finder: FinderPair | None = None
) -> AgentTools:
    """What an agent with this view sees of these tools, as lists with this revision.

    Entries are kept, not copied. Where the view has the pair that finds tools, `finder` makes it; without one nobody
    has it. Raises `NoCodeRuntimeError` where the view presents `space_run_code` and `run_code` is None; what the agent
    may do is still `capabilities_of`.
    """
    capabilities = capabilities_of(tools, view, revision)
    pair = finder(capabilities) if view.tool_finder and finder is not None else ()
    if view.mode is Presentation.NATIVE and not pair:
        return AgentTools(tools, view, capabilities, capabilities)
    offered = {entry.definition.name: entry for entry in pair}
    if view.mode is not Presentation.CODE:
        offered.update((entry.definition.name, entry) for entry in capabilities)
    if not view.mode.runs_programs:
        return AgentTools(tools, view, capabilities, ToolList.of(revision, offered))
    if run_code is None:
        raise NoCodeRuntimeError(
            f"presentation {view.mode.value!r}, chosen by {view.mode_source}, needs the code runtime, and this "
            "deployment has none"
        )
    transport = run_code(capabilities)
    if transport.definition.name != RUN_CODE_NAME:
        raise ValueError(f"the tool that runs programs is {RUN_CODE_NAME!r}, not {transport.definition.name!r}")
    offered[RUN_CODE_NAME] = transport
    return AgentTools(tools, view, capabilities, ToolList.of(revision, offered))


def reproject(
    before: AgentTools, tools: ToolList, view: ScopeView, run_code: RunCode | None, finder: FinderPair | None = None
) -> AgentTools:
    """As `project`, after a change. The revision goes up by one where a client can see a difference, else it stays.

    Gives `before` back where nothing it was made from has changed and its mode is native.
    """
    if tools is before.registered and view == before.view and view.mode is Presentation.NATIVE:
        return before
    revision = before.offered.revision
    same = project(tools, view, run_code, revision, finder)
    return same if same.looks_like(before) else project(tools, view, run_code, revision + 1, finder)


def capabilities_of(tools: ToolList, view: ScopeView, revision: int) -> ToolList:
    """What an agent with this view may do, whatever the presentation: the tools that every filter admits."""
    admitted = _admitted(tools, view.filters) if view.filters else {one.definition.name: one for one in tools}
    for name in (RUN_CODE_NAME, FIND_TOOLS_NAME, CALL_TOOL_NAME):
        admitted.pop(name, None)
    return ToolList.of(revision, admitted)


def member_access(name: str) -> str:
    """How a program writes the tool of that name: `tools.name`, or `tools["na-me"]`."""
    return f"tools.{name}" if name.isidentifier() else f"tools[{json.dumps(name)}]"


def _admitted(tools: ToolList, filters: tuple[ToolFilter, ...]) -> dict[str, ToolEntry]:
    """The tools that all filters admit. Tools with the same labels are judged once, but for filters on names."""
    on_names = [one for one in filters if isinstance(one, ListFilter) and one.of is Listed.TOOLS]
    on_labels = [one for one in filters if one not in on_names]
    verdicts: dict[tuple[str | None, ...], bool] = {}
    admitted: dict[str, ToolEntry] = {}
    for entry in tools:
        definition = entry.definition
        name = definition.name
        label = definition.labels.get
        key = (label(PRESET), label(GROUP), label(RISK))
        verdict = verdicts.get(key)
        if verdict is None:
            labels = ToolLabels.of(definition)
            verdict = verdicts[key] = all(one.admits(name, labels) for one in on_labels)
        if verdict and all(one.admits(name, UNLABELLED) for one in on_names):
            admitted[name] = entry
    return admitted
