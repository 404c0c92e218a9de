"""JSON Schema of the arguments and results of tools, made from pydantic models.

Owns the form that reaches clients: one object, references inlined, no `title`, absent members instead of null. Clients
drop every tool of a server over one schema whose top level is not a plain object, so nothing else can come out.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Any, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from engine.errors import InvalidArgumentError
from protocol.schema import PROBLEM_LIMIT, compile_schema, preview

JsonSchema = dict[str, Any]

_NULL = {"type": "null"}

MAX_REVISION = 2**53
"""What JSON carries exactly; no world gets there."""


FAR_AWAY = 100_000
"""Bounds from here on are checked and not told: only a mistake goes beyond them, and each costs a model ten tokens."""

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


class ToolArguments(BaseModel):
    """Base of the arguments of a tool: nothing beyond the declared members, no number that is not finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """The arguments as values.

        Raises `InvalidArgumentError` instead of pydantic's own: what the schema does not tell is refused here, and the
        caller is told the place and the limit.
        """
        try:
            return super().model_validate(obj, **options)
        except ValidationError as error:
            # In the words of the check that comes before a call, as far as it knows what is wrong.
            told = compile_schema(_whole_schema(cls, "validation")).problems(obj)
            own = (f"{_path(fault['loc'])}: {fault['msg']}, got {preview(fault['input'])}" for fault in error.errors())
            faults = "\n- ".join(map(str, told or islice(own, PROBLEM_LIMIT)))
            raise InvalidArgumentError(f"Invalid arguments; nothing was done:\n- {faults}") from error


BASE_REVISION = "base_revision"


class WriteArguments(ToolArguments):
    """Base of the arguments of a tool that changes a world: it may name the revision that it was thought out on."""

    # Its bounds are checked, and not told: what is passed is a revision that a tool has given.
    base_revision: Annotated[int, Field(ge=0, le=MAX_REVISION), WithJsonSchema({"type": "integer"})] | None = Field(
        default=None, description="Refuse if the world has changed since this revision."
    )


class ToolResult(BaseModel):
    """Base of the structured result of a tool. Members that are None are left out of the JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class _Generator(GenerateJsonSchema):
    """Titles repeat the member's name and cost the model tokens."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of(model: type[BaseModel], *, of_result: bool = False) -> JsonSchema:
    """The schema of a model as one self-contained object schema; of what it prints where `of_result` is set.

    It does not tell bounds that are `FAR_AWAY`; the model checks them all the same.

    Raises `TypeError` for a model that refers to itself, since its references cannot be inlined.
    """
    return cast("JsonSchema", _without_far_bounds(_whole_schema(model, "serialization" if of_result else "validation")))


def _whole_schema(model: type[BaseModel], mode: JsonSchemaMode) -> JsonSchema:
    schema = model.model_json_schema(schema_generator=_Generator, mode=mode, ref_template="{model}")
    definitions = cast("dict[str, JsonSchema]", schema.pop("$defs", {}))
    inlined = cast("JsonSchema", _inline(schema, definitions, (model.__name__,)))
    inlined.pop("title", None)
    inlined.pop("description", None)
    return {"type": "object", "properties": {}, **inlined}


def _inline(node: Any, definitions: Mapping[str, JsonSchema], path: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_inline(item, definitions, path) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("JsonSchema", node)
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if reference in path:
            raise TypeError(f"{reference} refers to itself; a tool's schema must be a finite tree")
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        target = cast("JsonSchema", _inline(definitions[reference], definitions, (*path, reference)))
        target.pop("title", None)
        return {**target, **rest}
    result: JsonSchema = {}
    for key, value in schema.items():
        if key == "properties":
            # Names of members, which may be words of JSON Schema themselves.
            members = cast("JsonSchema", value)
            result[key] = {name: _inline(member, definitions, path) for name, member in members.items()}
        elif key != "discriminator":
            result[key] = _inline(value, definitions, path)
    return _without_null(_drop_nullable(schema, result))


def _drop_nullable(schema: JsonSchema, result: JsonSchema) -> JsonSchema:
    """Members that may be null are left out when they are, so no result is promised to have them."""
    required = cast("list[str]", schema.get("required", []))
    properties = cast("dict[str, JsonSchema]", schema.get("properties", {}))
    kept = [name for name in required if _NULL not in cast("list[Any]", properties.get(name, {}).get("anyOf", []))]
    if kept == required:
        return result
    return {
        **{key: value for key, value in result.items() if key != "required"},
        **({"required": kept} if kept else {}),
    }


def _without_null(schema: JsonSchema) -> JsonSchema:
    """An optional member may be left out; that is enough, and `anyOf` with null confuses some models and clients."""
    options = schema.get("anyOf")
    if not isinstance(options, list):
        return schema
    kept = [option for option in cast("list[Any]", options) if option != _NULL]
    if len(kept) == len(cast("list[Any]", options)):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf" and not (key == "default" and value is None)}
    return {**cast("JsonSchema", kept[0]), **rest} if len(kept) == 1 else {"anyOf": kept, **rest}


def _without_far_bounds(node: Any, *, holds_names: bool = False) -> Any:
    if isinstance(node, list):
        return [_without_far_bounds(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("JsonSchema", node)
    return {
        # A member may have the name of a bound, and is a schema then.
        key: _without_far_bounds(value, holds_names=key == "properties" and not holds_names)
        for key, value in schema.items()
        if not (key in _BOUNDS and isinstance(value, int | float) and abs(value) >= FAR_AWAY)
    }


def _path(steps: tuple[int | str, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")


BASE_REVISION_SCHEMA: Mapping[str, Any] = schema_of(WriteArguments)["properties"][BASE_REVISION]
"""How every tool that changes a world declares it."""
