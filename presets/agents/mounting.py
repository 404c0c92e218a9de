"""How an agent takes hold of its scope: each row becomes a declaration, all of them or none. Owns that step alone.

What an agent needs and does not find makes it unusable, and the row that needs it is named.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass

from engine.errors import ConflictError, InvalidArgumentError
from presets.agents.definition import (
    COMPOSITION_FILE,
    AgentDefinition,
    NumberedRow,
    UnusableAgent,
    UnusableAgentError,
)
from presets.agents.rows import (
    ALL_GROUPS,
    PresetGroupsRow,
    PresetsRow,
    PromptBlocksRow,
    RestrictRow,
    RiskCeilingRow,
    ToolFinderRow,
    ToolPresentationRow,
)
from presets.presentation import DEFAULT_OPTION, Presentation
from presets.scope import Declaration, Scope

UNITS_GROUP = "units"
"""The group of the presets with which an agent makes tools of its own. Rows may name it before any preset does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCapabilities:
    """What exists, offered or not, for rows to be checked against; presets and groups are not checked when None."""

    tools: Collection[str]
    presets: Collection[str] | None = None
    groups: Collection[str] | None = None


def mount(
    definition: AgentDefinition,
    scope: Scope,
    *,
    known: KnownCapabilities,
    no_runtime_because: str | None = None,
    default: Presentation = Presentation.NATIVE,
) -> ExitStack:
    """Declare in `scope` what the rows of the agent say. Closing the stack takes all of it back; so does the scope.

    `no_runtime_because` says why the deployment has no code runtime, None where it has one; `default` is the
    deployment's presentation. Raises `UnusableAgentError`, naming the row, with nothing declared. What the listener of
    the scopes raises comes out as itself, with nothing declared either.
    """
    if no_runtime_because is not None and (definition.presentation or default).runs_programs:
        raise UnusableAgentError(unusable_without_runtime(definition, no_runtime_because, default))
    with ExitStack() as stack:
        for numbered in definition.enabled_rows:
            try:
                declaration = _declaration(numbered, scope, known)
                if declaration is not None:
                    stack.enter_context(declaration)
            except (InvalidArgumentError, ConflictError) as error:
                raise UnusableAgentError(_unusable(definition, numbered, f"{numbered.title}: {error}")) from error
        return stack.pop_all()


def check_agent(
    definition: AgentDefinition,
    *,
    known: KnownCapabilities,
    no_runtime_because: str | None = None,
    default: Presentation = Presentation.NATIVE,
) -> UnusableAgent | None:
    """Why this agent could not be mounted now, or None. Touches no scope. Arguments as of `mount`."""
    with Scope.deployment().child("agent", definition.id) as scope:
        try:
            mount(definition, scope, known=known, no_runtime_because=no_runtime_because, default=default)
        except UnusableAgentError as error:
            return error.unusable
    return None


def unusable_without_runtime(
    definition: AgentDefinition, reason: str, default: Presentation = Presentation.NATIVE
) -> UnusableAgent:
    """The agent as unusable because its presentation needs the code runtime, which the deployment does not have.

    Names the row that chooses the presentation or, where none does, the option of the deployment.
    """
    row = definition.presentation_row
    mode = definition.presentation or default
    source = f"the deployment's default, {DEFAULT_OPTION}" if row is None else row.origin
    text = f'presentation "{mode.value}" of agent "{definition.id}" ({source}) needs the code runtime: {reason}'
    return _unusable(definition, row, text)


def _declaration(numbered: NumberedRow, scope: Scope, known: KnownCapabilities) -> Declaration | None:
    """What the row declares; None for one that declares nothing to a scope."""
    by = numbered.origin
    match numbered.row:
        case PresetGroupsRow(groups=groups, except_=denied):
            if groups == ALL_GROUPS and not denied:
                return None
            groups_known = None if known.groups is None else {*known.groups, UNITS_GROUP}
            allow = None if groups == ALL_GROUPS else groups
            return scope.restrict_groups(allow=allow, deny=denied, known=groups_known, by=by)
        case PresetsRow(allow=allow, deny=deny):
            return scope.restrict_presets(allow=allow, deny=deny, known=known.presets, by=by)
        case RestrictRow(allow=allow, deny=deny):
            return scope.restrict(allow=allow, deny=deny, known=known.tools, by=by)
        case RiskCeilingRow(risk=risk):
            return scope.risk_ceiling(risk, by=by)
        case ToolPresentationRow(mode=mode):
            return scope.present_as(mode, by=by)
        case ToolFinderRow():
            return scope.find_tools()
        case PromptBlocksRow():
            return None


def _unusable(definition: AgentDefinition, row: NumberedRow | None, reason: str) -> UnusableAgent:
    return UnusableAgent(
        id=definition.id,
        path=definition.path / COMPOSITION_FILE,
        trust=definition.trust,
        row=None if row is None else row.number,
        reason=reason,
    )
