"""A resource as MCP knows it: something with a uri that clients can read. Owns these values only.

Source: MCP specification, server/resources.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from mcp_types import Annotations, BlobResourceContents, Icon, TextResourceContents

from protocol.cache_hint import CacheHint
from protocol.completion import Completer
from protocol.input_request import InputRequired
from protocol.interaction import Interaction
from protocol.uri_template import UriTemplate

NO_COMPLETERS: Mapping[str, Completer] = MappingProxyType({})


class ResourceNotFoundError(Exception):
    """Raised by the reading of a resource that turns out not to exist, though its uri fits a template."""


@dataclass(frozen=True, slots=True)
class ResourceOutcome:
    """What reading gives: at least one content. `cache` is how long it may be kept, None for the server's default.

    With `input_required` it is not read yet: the client is to answer first. Only without a session.
    """

    contents: tuple[TextResourceContents | BlobResourceContents, ...]
    cache: CacheHint | None = None
    input_required: InputRequired | None = None


ResourceRead = Callable[[str, Mapping[str, str], Interaction], Awaitable[ResourceOutcome]]
"""Reads a uri, with the values of its template's names. Raises `ResourceNotFoundError`, or `ToolError` to refuse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceDefinition:
    """One resource as it is registered. `size` is in bytes. `owner` and `source` as those of a tool."""

    uri: str
    name: str
    read: ResourceRead
    owner: str
    source: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    icons: tuple[Icon, ...] = ()

    @property
    def key(self) -> str:
        """The uri."""
        return self.uri


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTemplate:
    """Resources that a template describes. `completers` suggest values for its names."""

    template: UriTemplate
    name: str
    read: ResourceRead
    owner: str
    source: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    annotations: Annotations | None = None
    icons: tuple[Icon, ...] = ()
    completers: Mapping[str, Completer] = field(default_factory=lambda: NO_COMPLETERS)

    @property
    def key(self) -> str:
        """The text of the template."""
        return self.template.text


@dataclass(frozen=True, slots=True)
class PreparedRead:
    """A reading that may run, as `read(uri, values, interaction)`."""

    uri: str
    read: ResourceRead
    values: Mapping[str, str]
    name: str
