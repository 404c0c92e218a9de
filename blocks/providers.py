"""The providers of models that the user has configured. Owns their form; one that is not valid costs only itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from blocks.issue import InvalidBlockDataError
from blocks.json_value import JsonValue, Mapped, Number, Text

MIN_TEMPERATURE, MAX_TEMPERATURE = 0, 2


def _not_empty(value: str) -> str:
    if not value:
        raise PydanticCustomError("string_too_short", "must not be empty")
    return value


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in ("http", "https") or not parts.netloc:
        raise PydanticCustomError("id_format", "must be a URL such as 'https://example.com/v1'")
    return value


def _moment(value: str) -> str:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        raise PydanticCustomError("id_format", "must be a time such as '2025-01-01T00:00:00Z'") from None
    return value


def _temperature(value: float | None) -> float | None:
    if value is not None and not MIN_TEMPERATURE <= value <= MAX_TEMPERATURE:
        bounds = {"least": MIN_TEMPERATURE, "most": MAX_TEMPERATURE}
        raise PydanticCustomError("too_big", "must be {least} to {most}", bounds)
    return value


def _no_headers() -> Mapping[str, str]:
    return MappingProxyType({})


_Filled = Annotated[Text, AfterValidator(_not_empty)]


class Provider(JsonValue):
    """A provider of models. The key is in no text that is made of this value."""

    id: _Filled
    name: Text
    base_url: Annotated[Text, AfterValidator(_url), Field(alias="baseURL")]
    api_key: Annotated[_Filled, Field(repr=False)]
    default_model: Text = ""
    enabled: bool = True
    custom_headers: Annotated[Mapped[Text], Field(repr=False)] = Field(default_factory=_no_headers, repr=False)
    temperature: Annotated[Number | None, AfterValidator(_temperature)] = None
    created_at: Annotated[Text, AfterValidator(_moment)] = ""


@dataclass(frozen=True, slots=True)
class Providers:
    """The valid ones in their order, the id of the default one, and what is wrong with the others."""

    providers: tuple[Provider, ...] = ()
    default_id: str | None = None
    faults: tuple[str, ...] = ()

    def usable(self, provider_id: str) -> Provider | None:
        """The first of that id that is enabled, or None."""
        return next((one for one in self.providers if one.id == provider_id and one.enabled), None)

    def why_not(self, provider_id: str) -> str:
        """What is wrong with an id for which none is usable."""
        if any(one.id == provider_id for one in self.providers):
            return f"provider {provider_id!r} is disabled"
        prefix = f"provider {provider_id!r} "
        fault = next((fault for fault in self.faults if fault.startswith(prefix)), None)
        return fault or f"there is no provider {provider_id!r}"


def read_providers(raw: object) -> Providers:
    """The providers of a global configuration: parsed JSON, its text, or None where there is none. Never raises.

    A provider that is not valid is left out, and `faults` says which and why.
    """
    if raw is None:
        return Providers(faults=("there is no configuration of providers",))
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError) as error:
            return Providers(faults=(f"the configuration of providers is no JSON: {error}",))
    if not isinstance(raw, Mapping):
        return Providers(faults=("the configuration of providers must be an object",))
    config = cast("Mapping[str, object]", raw)
    listed = config.get("providers", [])
    if not isinstance(listed, list | tuple):
        return Providers(faults=("providers: must be a list",))
    providers: list[Provider] = []
    faults: list[str] = []
    for index, one in enumerate(cast("Sequence[object]", listed)):
        try:
            providers.append(Provider.from_json(one))
        except InvalidBlockDataError as error:
            faults.append(f"{_named(one, index)} is not valid: {error}")
    default = config.get("defaultProviderId")
    return Providers(tuple(providers), default if isinstance(default, str) and default else None, tuple(faults))


def _named(raw: object, index: int) -> str:
    given = cast("Mapping[str, object]", raw).get("id") if isinstance(raw, Mapping) else None
    return f"provider {given!r}" if isinstance(given, str) and given else f"provider number {index + 1}"
