"""Values that come from JSON and go back into it: frozen, camelCase outside, checked as a whole. Owns the checking.

Nothing is coerced: `"1"` is no number and `1` is no boolean. Unknown keys are dropped, and null is not the same as a
key that is missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Self, TypeAlias, TypeVar, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, PlainValidator, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, PydanticCustomError

from blocks.issue import InvalidBlockDataError, Issue, IssueCode

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""What JSON can say."""

MAX_EXACT_INTEGER = 2**53
"""JSON numbers are double floats for most who read them; beyond this a whole number may not come back as it was."""

MAX_NESTING = 100
"""Levels of objects and lists in an object that may hold anything: reading and writing it takes the stack."""

Item = TypeVar("Item")


class JsonValue(BaseModel):
    """The base of such values. Attributes are named as in Python, keys of the JSON in camelCase."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="ignore",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )

    @classmethod
    def from_json(cls, raw: object) -> Self:
        """The value of that parsed JSON. Raises `InvalidBlockDataError` with every issue."""
        try:
            return cls.model_validate(raw, by_alias=True, by_name=False)
        except ValidationError as error:
            raise InvalidBlockDataError([_issue(found) for found in error.errors(include_url=False)]) from None

    def to_json(self) -> dict[str, Any]:
        """The JSON object of it, in which whoever asks may change what he likes."""
        fields = type(self).model_fields
        return {fields[name].alias or name: plain(getattr(self, name)) for name in self._written()}

    def _written(self) -> Sequence[str]:
        """The fields that the JSON has, in their order."""
        return tuple(type(self).model_fields)


def plain(value: object) -> Any:
    """A copy of a value as plain JSON: objects are dicts, arrays are lists."""
    if isinstance(value, JsonValue):
        return value.to_json()
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in cast("Sequence[object]", value)]
    return value


def finite_number(value: object) -> float:
    """The number, a whole one as an int, so that 100 and 100.0 are written alike. Raises pydantic's error."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticCustomError("number_type", "must be a number, such as 350")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise PydanticCustomError("number_type", "must be a finite number, such as 350")
    return int(number) if number.is_integer() and abs(number) <= MAX_EXACT_INTEGER else number


def not_null(value: object) -> object:
    """The value, unless it is null. Raises pydantic's error."""
    if value is None:
        raise PydanticCustomError("null_given", "must not be null; leave it out instead")
    return value


def whole_text(text: str) -> str:
    """The text. JSON can write half of a pair of surrogates, which no file can hold: then raises pydantic's error."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise PydanticCustomError("no_unicode", "must be text without lone surrogates") from None
    return text


def _listed(value: object) -> object:
    """A text or an object would fall apart into its letters or keys."""
    if not isinstance(value, list | tuple):
        raise PydanticCustomError("list_type", "must be a list")
    return tuple(cast("Sequence[object]", value))


def _mapped(value: object) -> object:
    if not isinstance(value, Mapping):
        raise PydanticCustomError("dict_type", "must be an object")
    return dict(cast("Mapping[object, object]", value))


def _frozen(value: Mapping[str, Item]) -> Mapping[str, Item]:
    return MappingProxyType(dict(value))


def _free_object(value: object) -> object:
    return _frozen_json(_mapped(value))


def _frozen_json(value: object, depth: int = 0) -> Json:
    """A copy that cannot be changed."""
    if depth > MAX_NESTING:
        raise PydanticCustomError("json_type", "must not be nested deeper than {most}", {"most": MAX_NESTING})
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value)
        return MappingProxyType({whole_text(str(key)): _frozen_json(part, depth + 1) for key, part in members.items()})
    if isinstance(value, list | tuple):
        return tuple(_frozen_json(part, depth + 1) for part in cast("Sequence[object]", value))
    if isinstance(value, str):
        return whole_text(value)
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise PydanticCustomError("json_type", "must be JSON, which has no NaN and no infinity")


Number = Annotated[float, PlainValidator(finite_number)]
"""A finite number; whole ones are ints."""

Text = Annotated[str, AfterValidator(whole_text)]
"""A text."""

Listed = Annotated[tuple[Item, ...], BeforeValidator(_listed)]
"""A list, read-only."""

Mapped = Annotated[Mapping[Text, Item], AfterValidator(_frozen), BeforeValidator(_mapped)]
"""An object whose keys may be anything, read-only, in its order."""

FreeObject = Annotated[Mapping[str, Any], PlainValidator(_free_object)]
"""An object that may hold anything, read-only all the way down."""

_WORDS = frozenset({"role", "type", "contentMode"})
"""Keys whose value is one of some words: that it is missing is an invalid value, as no value is one of them."""

_CODES: Mapping[str, IssueCode] = {
    "literal_error": "invalid_value",
    "enum": "invalid_value",
    "string_too_short": "too_small",
    "string_too_long": "too_big",
    "string_pattern_mismatch": "invalid_format",
    "id_format": "invalid_format",
}


def _issue(found: ErrorDetails) -> Issue:
    path = tuple(found["loc"])
    code = _CODES.get(found["type"], "invalid_type")
    if found["type"] == "missing":
        code = "invalid_value" if path[-1:] and path[-1] in _WORDS else "invalid_type"
        return Issue(path, code, "is missing")
    if found["type"] == "model_type":  # pydantic would name the class, which nobody outside knows
        return Issue(path, code, "must be an object")
    return Issue(path, code, found["msg"].replace("Input should be", "must be"))
