"""What `unit.toml` says of a unit that stands for an MCP server: how it is reached, and which presets its tools are in.

Owns the form of the table `[proxy]`, its words for what is wrong with it, and how values name variables of the
environment. Reaches no server.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, cast
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from engine.units.manifest import MANIFEST, InvalidUnitError
from presets.context import FactValue
from presets.definition import DefaultState, InvalidPresetError, PresetDefinition, Risk
from space_unit.authoring import ANYWHERE

PROXY = "proxy"
"""The kind of a unit that stands for an MCP server, and the name of its table."""

UNKNOWN_RISK = Risk.SHELL
"""The risk of tools about which the manifest says none: a server may do anything with the user's rights."""

DEFAULT_CALL_SECONDS = 300.0
"""How long a server may take for one call: longer than most, shorter than clients wait."""

MAX_CALL_SECONDS = 3600.0
"""A call keeps its server alive while the unit is loaded anew."""

_REFERENCE = re.compile(r"(?<!\S)env:([A-Za-z_][A-Za-z0-9_]*)(?!\S)")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
_OWN_HEADERS = frozenset(
    {
        "accept",
        "connection",
        "content-length",
        "content-type",
        "host",
        "mcp-protocol-version",
        "mcp-session-id",
        "transfer-encoding",
    }
)
"""What the connection itself says."""


_EXAMPLES = {"command": '["npx", "-y", "server"]', "tools": '["read_*"]', "leave_out": '["delete_*"]'}
"""Of each list of texts."""


def _listed(value: object, info: ValidationInfo) -> object:
    if not isinstance(value, list | tuple):
        example = _EXAMPLES[info.field_name or "tools"]
        raise ValueError(f"must be a list of texts in brackets, such as {example}")  # noqa: TRY004 - pydantic's error
    return cast("object", value)


_Text = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
_Texts = Annotated[tuple[_Text, ...], BeforeValidator(_listed)]


class ProxyPreset(BaseModel):
    """A preset of some of the server's tools: those whose own names match a pattern, and that no earlier preset has.

    Like that of a unit of Python, but off unless it says `default = "auto"`, and as risky as a shell unless it says
    less. What the server says of its tools changes neither.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)

    name: _Text
    tools: Annotated[_Texts, Field(min_length=1)]
    risk: Risk = UNKNOWN_RISK
    default: DefaultState = DefaultState.OFF
    contexts: Annotated[tuple[dict[str, Any], ...], Field(min_length=1)] = cast("Any", ANYWHERE)
    prompt: Annotated[str, StringConstraints(max_length=4000)] | None = None
    group: _Text | None = None

    def definition(self, unit: str, tool_ids: tuple[str, ...]) -> PresetDefinition:
        """The preset with these tools. Raises `InvalidPresetError` for contexts that are none."""
        return PresetDefinition(
            name=self.name,
            group=self.group or unit,
            default_state=self.default,
            risk=self.risk,
            contexts=cast("tuple[Mapping[str, FactValue], ...]", self.contexts),
            tool_ids=tool_ids,
            system_prompt=self.prompt,
        )


class ProxySettings(BaseModel):
    """The table `[proxy]`. Either `command` or `url` is there. Made by `read_proxy_settings`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)

    OF_COMMAND: ClassVar = ("env", "cwd")
    OF_URL: ClassVar = ("headers",)

    command: Annotated[_Texts, Field(min_length=1)] | None = None
    env: dict[str, str] = Field(default_factory=dict)
    cwd: _Text | None = None
    url: _Text | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    prefix: str = ""
    """What the server's own names begin with, which the names here leave out."""
    leave_out: _Texts = ()
    """Patterns of tools that are not offered at all."""
    call_seconds: Annotated[float, Field(gt=0, le=MAX_CALL_SECONDS)] = DEFAULT_CALL_SECONDS
    preset: tuple[ProxyPreset, ...] = ()

    @field_validator("env")
    @classmethod
    def _variables(cls, env: dict[str, str]) -> dict[str, str]:
        for name, value in env.items():
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"{name[:40]!r} is no name of a variable, such as 'GITHUB_TOKEN'")
            if "\0" in value:
                raise ValueError(f"{name} holds a NUL character")
        return env

    @field_validator("headers")
    @classmethod
    def _header_lines(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not _HEADER.fullmatch(name):
                raise ValueError(f"{name[:40]!r} is no name of a header, such as 'Authorization'")
            if name.lower() in _OWN_HEADERS:
                raise ValueError(f"{name} is set by the connection itself; leave it out")
            if not _HEADER_VALUE.fullmatch(value):
                raise ValueError(f"the value of {name} must be plain characters in one line")
        return headers

    @field_validator("url")
    @classmethod
    def _address(cls, url: str | None) -> str | None:
        if url is None:
            return None
        try:
            parts = urlsplit(url)
            found = parts.scheme in ("http", "https") and bool(parts.hostname)
            _ = parts.port
        except ValueError:
            found, parts = False, urlsplit("")
        if not found:
            raise ValueError("must be the address of a server, such as 'http://127.0.0.1:9876/mcp'")
        if parts.username is not None:
            raise ValueError('must hold no user or password; say Authorization = "env:NAME" in [proxy.headers]')
        return url

    @model_validator(mode="after")
    def _one_way(self) -> ProxySettings:
        if (self.command is None) is (self.url is None):
            raise ValueError(
                'needs either command, as in ["npx", "-y", "server"], or url, as in "http://127.0.0.1/mcp"'
            )
        given = self.model_fields_set
        foreign = [name for name in (self.OF_COMMAND if self.command is None else self.OF_URL) if name in given]
        if foreign:
            other = "command" if self.command is None else "url"
            raise ValueError(f"{foreign[0]} belongs to {other}, which is not there; leave it out")
        names = [preset.name for preset in self.preset]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"preset {name!r} is there twice; names of presets are unique")
        return self


def read_proxy_settings(unit: str, settings: Mapping[str, Any]) -> ProxySettings:
    """The settings of that unit. Raises `InvalidUnitError`, naming the field and what it may be."""
    try:
        read = ProxySettings.model_validate(dict(settings))
    except ValidationError as error:
        raise InvalidUnitError(f"{MANIFEST}: {_described(error)}") from error
    for number, preset in enumerate(read.preset):
        if preset.name != unit and not preset.name.startswith(f"{unit}-"):
            raise InvalidUnitError(
                f"{MANIFEST}: {PROXY}.preset[{number}].name: {preset.name!r} must be {unit!r}, or begin with "
                f"{unit + '-'!r}: names are unique"
            )
        try:
            preset.definition(unit, ("unit.tool",))
        except InvalidPresetError as error:
            raise InvalidUnitError(f"{MANIFEST}: {PROXY}.preset[{number}]: {error}") from error
    return read


def with_environment(
    field: str, values: Mapping[str, str], environment: Mapping[str, str], withheld: frozenset[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The values with each word `env:NAME` replaced by that variable, and what stood in for them, which is secret.

    Raises `InvalidUnitError` for a variable that is not set, and for one of those that are withheld.
    """
    secrets: list[str] = []

    def found(match: re.Match[str]) -> str:
        name = match[1]
        if name in withheld:
            raise InvalidUnitError(f"{MANIFEST}: {PROXY}.{field}: {name} is a secret of the engine, which no unit gets")
        value = environment.get(name)
        if value is None:
            raise InvalidUnitError(
                f"{MANIFEST}: {PROXY}.{field}: the variable {name} is not set where the engine was started; "
                f"set it there and start the engine again, or leave {match[0]!r} out"
            )
        secrets.append(value)
        return value

    return {name: _REFERENCE.sub(found, value) for name, value in values.items()}, tuple(secrets)


def _described(error: ValidationError) -> str:
    return "; ".join(dict.fromkeys(_fault(cast("Any", fault)) for fault in error.errors(include_url=False)[:5]))


def _fault(fault: dict[str, Any]) -> str:
    where = PROXY + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"])
    kind: str = fault["type"]
    if kind == "extra_forbidden":
        parent, _, name = where.rpartition(".")
        known = ProxyPreset.model_fields if ".preset[" in where or "preset[" in parent else ProxySettings.model_fields
        return f"{parent}: there is no member {name!r}, but {', '.join(known)}"
    said = str(fault["msg"]).removeprefix("Value error, ")
    if kind in ("value_error", "missing"):
        return f"{where}: {'is missing' if kind == 'missing' else said}"
    return f"{where}: {said}, not {fault['input']!r:.80}"
