"""From the signature of a function to the schemas of a tool, and from a call's arguments to the function's. Owns both.

Types are pydantic's, so whatever pydantic can check may stand in a signature. What cannot become a tool is refused when
the unit is loaded, with the function and the parameter.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, cast

from pydantic import Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from engine.errors import InvalidArgumentError
from presets.schema import ToolArguments, ToolResult, schema_of
from protocol.tool import JsonObject, ToolError, ToolOutcome
from space_unit.call import Call

WRAPPED = "result"
"""The member that holds a result which is no object by itself: structured content is an object."""

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """How one function is called as a tool. `output_schema` is None where it returns nothing, or a whole outcome."""

    input_schema: JsonObject
    output_schema: JsonObject | None
    arguments: Callable[[JsonObject, Call], dict[str, Any]]
    """The function's arguments. Raises `InvalidArgumentError` for what does not fit."""
    structured: Callable[[Any], JsonObject | None]
    """The result as structured content. Raises `ToolError` for one that is not of the declared type."""


def signature_of(function: Callable[..., Any]) -> Signature:
    """The signature as a tool. Raises `InvalidArgumentError`, saying which parameter is at fault."""
    name = function.__name__
    if not inspect.iscoroutinefunction(function):
        raise InvalidArgumentError(f"tool {name!r} must be an async function: write `async def {name}(...)`")
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise InvalidArgumentError(f"tool {name!r}: the type {error.name!r} is not known in its module") from error
    parameters = inspect.signature(function).parameters
    calls = tuple(each for each in parameters if hints.get(each) is Call)
    taken = {each: parameter for each, parameter in parameters.items() if each not in calls}
    # Under names of our own, since a parameter may be called as a method of the model is.
    fields = {f"p{number}": each for number, each in enumerate(taken)}
    try:
        model = create_model(
            f"{name}_arguments",
            __base__=ToolArguments,
            **cast("Any", {field: _field(name, taken[each], hints) for field, each in fields.items()}),
        )
        input_schema = schema_of(model)
        output_schema, structured = _result(name, hints)
    except (PydanticUserError, TypeError, ValueError) as error:
        raise InvalidArgumentError(f"tool {name!r}: its types are no JSON schema: {error}") from error

    def arguments(raw: JsonObject, call: Call) -> dict[str, Any]:
        given = model.model_validate(raw)
        return {**{each: getattr(given, field) for field, each in fields.items()}, **dict.fromkeys(calls, call)}

    return Signature(input_schema=input_schema, output_schema=output_schema, arguments=arguments, structured=structured)


def _field(tool: str, parameter: inspect.Parameter, hints: Mapping[str, Any]) -> tuple[Any, Any]:
    name = parameter.name
    if parameter.kind in _VARIADIC:
        raise InvalidArgumentError(
            f"tool {tool!r}: {parameter} cannot be an argument; each has a name, so *, ** and / are not taken"
        )
    if name not in hints:
        raise InvalidArgumentError(f"tool {tool!r}: parameter {name!r} has no type; write for example {name}: str")
    if isinstance(parameter.default, FieldInfo):
        raise InvalidArgumentError(
            f"tool {tool!r}: parameter {name!r} has a Field as its default, which a direct call would get as it is; "
            f"write {name}: Annotated[..., Field(...)]"
        )
    annotation = Annotated[hints[name], Field(alias=name)]
    return (annotation, ... if parameter.default is inspect.Parameter.empty else parameter.default)


def _result(tool: str, hints: Mapping[str, Any]) -> tuple[JsonObject | None, Callable[[Any], JsonObject | None]]:
    if "return" not in hints:
        raise InvalidArgumentError(f"tool {tool!r} has no return type; write `-> None` where it gives nothing")
    returned = hints["return"]
    if returned is NoneType or returned is ToolOutcome:
        return None, _nothing
    model = create_model(f"{tool}_result", __base__=ToolResult, **cast("Any", {WRAPPED: (returned, ...)}))
    whole = schema_of(model, of_result=True)
    own: Mapping[str, Any] = whole["properties"].get(WRAPPED, {})
    is_object = own.get("type") == "object"

    def structured(value: Any) -> JsonObject:
        try:
            dumped = model.model_validate({WRAPPED: value}).model_dump(mode="json", exclude_none=True, by_alias=True)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, fault["loc"][1:]))
            raise ToolError(
                f"tool {tool!r} returned {value!r:.200}, which is not what it says it returns"
                f"{f' ({where})' if where else ''}: {fault['msg']}"
            ) from error
        return dumped.get(WRAPPED, {}) if is_object else dumped

    return (own if is_object else whole), structured


def _nothing(value: Any) -> None:
    return None
