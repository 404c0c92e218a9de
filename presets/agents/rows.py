"""The rows of a composition: each kind, its members, and what it declares. Owns their form and the words of refusals.

A row is a value. `presets.agents.composition` reads them from a file, `presets.agents.mounting` carries them out.
Source: tool-presentation, "Decision" (the row that chooses the presentation).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, ValidationError, model_validator

from presets.definition import Risk
from presets.presentation import RESERVED_NAMES, Presentation
from presets.suggestions import close_names, did_you_mean, quoted

PROMPT_BLOCKS = ("instructions", "tools", "preset-prompts", "context", "selection", "world")
"""The blocks that an agent's prompt can be made of, in their usual order."""

ALL_GROUPS = "all"
"""Stands for every group, those that come later included, and for tools without one."""


class InvalidRowError(ValueError):
    """Raised for a row that is none. The text says what is wrong and what would be right."""


def _listed(value: object) -> object:
    """YAML also knows sets, which have no order, and a text would fall apart into letters."""
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list, such as [one, two]")  # noqa: TRY004 - pydantic's error
    return cast("object", value)


_Name = Annotated[StrictStr, Field(min_length=1)]
_Names = Annotated[tuple[_Name, ...], BeforeValidator(_listed)]


class Row(BaseModel):
    """What every row may have: `id`, a name of its own for people, and `disabled`, which leaves the row out."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    KIND: ClassVar[str]
    SINGLE: ClassVar[bool] = False
    """Whether an agent may have one enabled row of this kind only."""

    id: Annotated[StrictStr, Field(min_length=1)] | None = None
    disabled: Annotated[bool, Field(strict=True)] = False


class _AllowDeny(Row):
    allow: _Names | None = None
    deny: _Names | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.allow is None and not self.deny:
            raise ValueError("needs 'allow' or 'deny', each a list of names")
        return self


class PresetGroupsRow(Row):
    """From which groups of presets the agent has tools: `groups` is `all` or a list; `except` takes some away again."""

    KIND = "preset-groups"

    groups: _Names | Literal["all"]
    except_: _Names = Field(default=(), validation_alias="except")

    @model_validator(mode="before")
    @classmethod
    def _all_or_list(cls, data: object) -> object:
        groups: object = cast("Mapping[str, object]", data).get("groups") if isinstance(data, Mapping) else None
        if groups is not None and groups != ALL_GROUPS and not isinstance(groups, list | tuple):
            raise ValueError("'groups' must be 'all' or a list of groups, such as [drawing, general]")
        return cast("object", data)


class PresetsRow(_AllowDeny):
    """Of which presets the agent has tools."""

    KIND = "presets"


class RestrictRow(_AllowDeny):
    """Which tools the agent has, by MCP name."""

    KIND = "restrict"

    @model_validator(mode="after")
    def _nothing_reserved(self) -> Self:
        for name in (*(self.allow or ()), *(self.deny or ())):
            if RESERVED_NAMES.reserved(name):
                raise ValueError(
                    f"{quoted(name)} cannot be allowed or denied; a row 'tool-presentation' or 'tool-finder' decides "
                    "whether it is seen"
                )
        return self


class RiskCeilingRow(Row):
    """How risky a tool may be at most. It takes away only: what is off by default stays off until the user says so."""

    KIND = "risk-ceiling"

    risk: Risk


class ToolPresentationRow(Row):
    """In which form the tools reach the model. `mode` has no default: a row without a choice would say nothing."""

    KIND = "tool-presentation"
    SINGLE = True

    mode: Presentation


class ToolFinderRow(Row):
    """That the agent has the pair `space_find_tools` and `space_call_tool`, beside whatever else it has."""

    KIND = "tool-finder"
    SINGLE = True


class PromptBlocksRow(Row):
    """Which blocks the agent's prompt has, in their order."""

    KIND = "prompt-blocks"
    SINGLE = True

    blocks: _Names

    @model_validator(mode="after")
    def _known_once(self) -> Self:
        for block in self.blocks:
            if block not in PROMPT_BLOCKS:
                close = did_you_mean(close_names(block, PROMPT_BLOCKS))
                raise ValueError(f"there is no block {quoted(block)}.{close or f' There are {_words(PROMPT_BLOCKS)}.'}")
            if self.blocks.count(block) > 1:
                raise ValueError(f"block {block!r} stands in the list twice")
        return self


AnyRow = (
    PresetGroupsRow | PresetsRow | RestrictRow | RiskCeilingRow | ToolPresentationRow | ToolFinderRow | PromptBlocksRow
)

ROW_KINDS: Mapping[str, type[AnyRow]] = {
    kind.KIND: kind
    for kind in (
        PresetGroupsRow,
        PresetsRow,
        RestrictRow,
        RiskCeilingRow,
        ToolPresentationRow,
        ToolFinderRow,
        PromptBlocksRow,
    )
}
"""The model of each kind of row, by what stands behind `row:`."""


def parse_row(raw: object) -> AnyRow:
    """The row of one item of a composition. Raises `InvalidRowError`."""
    if not isinstance(raw, dict):
        raise InvalidRowError(f"must be a mapping with a member 'row' that names its kind: {_words(ROW_KINDS)}")
    members = cast("dict[object, object]", raw)
    odd = next((name for name in members if not isinstance(name, str)), None)
    if odd is not None:
        raise InvalidRowError(f"has the member {odd!r}; names of members are words")
    said = members.get("row")
    if not isinstance(said, str):
        raise InvalidRowError(f"names no kind; it needs the member 'row', one of {_words(ROW_KINDS)}")
    model = ROW_KINDS.get(said)
    if model is None:
        close = did_you_mean(close_names(said, ROW_KINDS)) or f" There are {_words(ROW_KINDS)}."
        raise InvalidRowError(f"there is no row {quoted(said)}.{close}")
    try:
        return model.model_validate({name: value for name, value in members.items() if name != "row"})
    except ValidationError as error:
        raise InvalidRowError("; ".join(_faults(model, error))) from error


def _faults(model: type[AnyRow], error: ValidationError) -> list[str]:
    """What is wrong, one text for each member, in the words of a composition and not of its model."""
    texts: dict[str, str] = {}
    members = [str(field.validation_alias or name) for name, field in model.model_fields.items()]
    for fault in error.errors(include_url=False, include_input=False):
        member = str(fault["loc"][0]) if fault["loc"] else ""
        match fault["type"]:
            case "missing":
                text = f"needs the member {member!r}{_choices(model, member)}"
            case "extra_forbidden":
                close = did_you_mean(close_names(member, members)) or f" It has {_words(members)}."
                text = f"has no member {quoted(member)}.{close}"
            case _:
                said = fault["msg"].removeprefix("Value error, ")
                item = next((f", item {part + 1}" for part in fault["loc"][1:] if isinstance(part, int)), "")
                text = f"{member!r}{item}: {said}" if member else said
        texts.setdefault(member, text)
    return list(texts.values())


def _choices(model: type[AnyRow], member: str) -> str:
    match model.KIND, member:
        case ToolPresentationRow.KIND, "mode":
            return f": {_words(Presentation)}"
        case RiskCeilingRow.KIND, "risk":
            return f": {_words(Risk)}"
        case PresetGroupsRow.KIND, "groups":
            return ": 'all' or a list of groups"
        case _:
            return ", a list of names"


def _words(names: object) -> str:
    listed = [str(name) for name in cast("Mapping[str, object]", names)]
    return f"{', '.join(listed[:-1])} or {listed[-1]}"
