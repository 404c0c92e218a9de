"""Preset definitions: what a capability bundle is. Owns their form, their validation and their JSON.

A definition is data: it names tools and says when they are offered. It closes over nothing that runs.
Source: agent-presets, "Preset Definition" and "Override State"; findings on the existing engine, section 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PlainSerializer,
    PlainValidator,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from engine.errors import InvalidArgumentError
from presets.context import FactValue
from presets.matching import ContextPattern


class Risk(StrEnum):
    """What the tools of a preset can do at worst."""

    NORMAL = "normal"
    FILESYSTEM_READ = "filesystem-read"
    FILESYSTEM_WRITE = "filesystem-write"
    DESTRUCTIVE = "destructive"
    SHELL = "shell"

    @property
    def rank(self) -> int:
        """From 0 (`normal`) to 4 (`shell`): the higher, the stricter."""
        return list(Risk).index(self)


class DefaultState(StrEnum):
    """What a preset does without an override: follow the context, or stay off."""

    AUTO = "auto"
    OFF = "off"


class OverrideState(StrEnum):
    """What the user said about a preset; `auto` is to have said nothing."""

    ON = "on"
    OFF = "off"
    AUTO = "auto"


class InvalidPresetError(InvalidArgumentError):
    """Raised when a preset definition is not valid. The text names the preset and each wrong field."""


def _ordered(value: object) -> object:
    """A set has no order, and order decides what clients see; a string would fall apart into letters."""
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list, in the order that clients shall see")  # noqa: TRY004 - pydantic's error
    return cast("object", value)


def _pattern(value: object) -> ContextPattern:
    if not isinstance(value, Mapping):
        raise ValueError("must be an object such as {'surface': 'canvas'}")  # noqa: TRY004 - pydantic's error
    checked: dict[str, FactValue] = {}
    for field, wanted in cast("Mapping[object, object]", value).items():
        if not isinstance(field, str) or not field:
            raise ValueError(f"field {field!r} must be the name of a fact, such as 'surface'")
        if field == "mode":
            raise ValueError("field 'mode' is not a fact of the context; use 'activity'")
        if wanted is None:
            raise ValueError(f"field {field!r} is null; write 'none' to match its absence, or leave it out")
        if field == "activity" and not isinstance(wanted, str):
            raise ValueError(f"activity must be a string (a name, 'any' or 'none'), not {wanted!r}")
        if not isinstance(wanted, str | bool | int | float) or wanted != wanted or wanted in (_INFINITY, -_INFINITY):
            raise ValueError(f"field {field!r} must be 'any', 'none' or a plain value (text, number, true or false)")
        checked[field] = wanted
    return ContextPattern(checked)


_INFINITY = float("inf")

_NonEmpty = Annotated[str, StringConstraints(min_length=1)]

_Ids = Annotated[tuple[_NonEmpty, ...], BeforeValidator(_ordered)]

# The declared type is the plain mapping, so that a definition can be written with dict literals; what is stored is
# always a `ContextPattern`.
_Pattern = Annotated[
    Mapping[str, FactValue],
    PlainValidator(_pattern, json_schema_input_type=dict[str, FactValue]),
    PlainSerializer(dict, return_type=dict[str, FactValue]),
]


class PresetDefinition(BaseModel):
    """A named bundle of tools, resources and prompts, when it is offered, and what it adds to the prompt of an agent.
    Immutable all the way down.

    `group` tags it for people; `contexts` are OR rules for auto activation (see `ContextPattern`), used only when
    `default_state` is `auto`; `tool_ids`, `resource_ids` and `prompt_ids` are ids of adapters, at least one in all;
    `system_prompt` is a raw fragment, and an empty one counts. The document says that dangerous presets use `off`, yet
    its own table has a destructive one with `auto` (`graph-node-map-tools`), so that is a rule for authors and nothing
    here enforces it.

    Raises `InvalidPresetError` for anything else, including fields that do not exist.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: _NonEmpty
    group: _NonEmpty | None = None
    default_state: DefaultState
    risk: Risk
    contexts: Annotated[tuple[_Pattern, ...], BeforeValidator(_ordered), Field(min_length=1)]
    # Before the tools, whose check counts them.
    resource_ids: _Ids = ()
    prompt_ids: _Ids = ()
    tool_ids: _Ids
    system_prompt: str | None = None

    @property
    def patterns(self) -> tuple[ContextPattern, ...]:
        """The contexts with what they can do."""
        return cast("tuple[ContextPattern, ...]", self.contexts)

    @field_validator("tool_ids", mode="after")
    @classmethod
    def _offers_something(cls, tool_ids: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if not tool_ids and not info.data.get("resource_ids") and not info.data.get("prompt_ids"):
            raise ValueError("should have at least 1 item, where the preset offers no resource and no prompt either")
        return tool_ids

    @model_validator(mode="wrap")
    @classmethod
    def _name_the_preset(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            raise InvalidPresetError(_describe(data, error)) from error


def _describe(data: object, error: ValidationError) -> str:
    name: object = cast("Mapping[str, object]", data).get("name") if isinstance(data, Mapping) else None
    faults: list[str] = []
    for fault in error.errors(include_url=False):
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"]).lstrip(".")
        said = fault["msg"].removeprefix("Value error, ")
        faults.append(f"{where}: {said}" if where else said)
    who = f"preset {name!r}" if isinstance(name, str) and name else "a preset without a name"
    return f"{who} is not valid: {'; '.join(faults)}"
