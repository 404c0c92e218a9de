"""Resource adapters: a stable id, and how it becomes something with a uri that clients read. Owns the adapter alone.

Presets name the ids, as they do those of tools. Whose labels a resource has decides who sees it; what it follows, when
whoever watches it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from mcp_types import Annotations, Icon

from engine.errors import EngineError, InvalidArgumentError, NotFoundError
from presets.adapter_registry import AdapterRegistry
from presets.app import App
from presets.moment import Moment, Source
from presets.tool_labels import UNLABELLED, ToolLabels
from protocol.completion import Completer
from protocol.interaction import Interaction
from protocol.resource import (
    NO_COMPLETERS,
    ResourceDefinition,
    ResourceNotFoundError,
    ResourceOutcome,
    ResourceRead,
    ResourceTemplate,
)
from protocol.session import EVERYBODY, Audience
from protocol.tool import ToolError
from protocol.uri_template import UriTemplate

MakeRead = Callable[[App, Audience], ResourceRead]
"""Gives the body for whoever reads. A `NotFoundError` of it means that there is no such resource after all."""

MakeCompleters = Callable[[App, Audience], Mapping[str, Completer]]
"""Gives what suggests values for the names of a template, to whoever asks."""

Stamp = Callable[[Moment, Mapping[str, str]], object]
"""What of a moment a resource is made of, given the values of its template's names; None where it is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What of a resource depends on its audience. `is_there` is told the values of the template's names."""

    read: ResourceRead
    completers: Mapping[str, Completer] = field(default_factory=lambda: NO_COMPLETERS)
    is_there: Callable[[Mapping[str, str]], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedResource(ResourceDefinition):
    """A resource of a preset. `bind` gives what an audience has of it; `follows` and `stamp` as of the adapter."""

    labels: ToolLabels = UNLABELLED
    follows: frozenset[Source] = frozenset()
    stamp: Stamp | None = None
    bind: Callable[[Audience], Bound] | None = None
    is_there: Callable[[Mapping[str, str]], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTemplate(ResourceTemplate):
    """Resources of a preset that a template describes. Members as those of `OfferedResource`."""

    labels: ToolLabels = UNLABELLED
    follows: frozenset[Source] = frozenset()
    stamp: Stamp | None = None
    bind: Callable[[Audience], Bound] | None = None
    is_there: Callable[[Mapping[str, str]], bool] | None = None


AnyResource = ResourceDefinition | ResourceTemplate
"""What can stand in a list of resources. Only those of presets have labels and follow anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceAdapter:
    """How one id becomes a resource, or with `{names}` in its `uri` a template of many.

    It changes when one of the sources that it `follows` does. `stamp` narrows that down to what it is really made of;
    without it all of those sources count. A resource that follows nothing changes when somebody touches it
    (`App.touch`). `is_there` says at once whether there is one for those values; without it, and with no stamp that
    does, every value counts as one. `size` is in bytes.
    """

    id: str
    uri: str
    name: str
    make_read: MakeRead
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    icons: tuple[Icon, ...] = ()
    follows: frozenset[Source] = frozenset()
    stamp: Stamp | None = None
    make_completers: MakeCompleters | None = None
    is_there: Callable[[App, Audience, Mapping[str, str]], bool] | None = None

    @property
    def is_template(self) -> bool:
        """Whether the uri has names in it."""
        return "{" in self.uri or "}" in self.uri

    def check(self) -> None:
        """Raise `InvalidArgumentError` for a uri that is none, or that is no template of plain names."""
        scheme, colon, _ = self.uri.partition(":")
        if not colon or not scheme.strip():
            raise InvalidArgumentError(f"resource adapter {self.id!r}: uri {self.uri!r} needs a scheme, as 'space://'")
        if self.is_template:
            try:
                UriTemplate.parse(self.uri)
            except ValueError as error:
                raise InvalidArgumentError(f"resource adapter {self.id!r}: {error}") from error
        elif self.make_completers is not None:
            raise InvalidArgumentError(f"resource adapter {self.id!r}: only a template has names to complete")

    def make(self, app: App, labels: ToolLabels, owner: str) -> OfferedResource | OfferedTemplate:
        """The definition, with the id as its source."""

        def bind(audience: Audience) -> Bound:
            there = self.is_there
            return Bound(
                read=_guarded(self.make_read(app, audience)),
                completers=NO_COMPLETERS if self.make_completers is None else self.make_completers(app, audience),
                is_there=None if there is None else lambda values: there(app, audience, values),
            )

        everybody = bind(EVERYBODY)
        if not self.is_template:
            return OfferedResource(
                uri=self.uri,
                name=self.name,
                read=everybody.read,
                owner=owner,
                source=self.id,
                title=self.title,
                description=self.description,
                mime_type=self.mime_type,
                size=self.size,
                annotations=self.annotations,
                icons=self.icons,
                labels=labels,
                follows=self.follows,
                stamp=self.stamp,
                bind=bind,
            )
        return OfferedTemplate(
            template=UriTemplate.parse(self.uri),
            name=self.name,
            read=everybody.read,
            owner=owner,
            source=self.id,
            title=self.title,
            description=self.description,
            mime_type=self.mime_type,
            annotations=self.annotations,
            icons=self.icons,
            completers=everybody.completers,
            labels=labels,
            follows=self.follows,
            stamp=self.stamp,
            bind=bind,
        )


def resource_adapters() -> AdapterRegistry[ResourceAdapter]:
    """An empty registry of resource adapters."""
    return AdapterRegistry("resource")


def resource_for(definition: AnyResource, audience: Audience) -> AnyResource:
    """The same resource as that audience has it."""
    if not isinstance(definition, OfferedResource | OfferedTemplate) or definition.bind is None:
        return definition
    bound = definition.bind(audience)
    if isinstance(definition, OfferedTemplate):
        return replace(definition, read=bound.read, completers=bound.completers, is_there=bound.is_there)
    return replace(definition, read=bound.read, is_there=bound.is_there)


def stamp_of(definition: AnyResource, values: Mapping[str, str], moment: Moment) -> object:
    """What a resource is made of at a moment: two equal ones mean that nothing has changed. None: it is not there."""
    if not isinstance(definition, OfferedResource | OfferedTemplate):
        return ()
    if definition.is_there is not None and not definition.is_there(values):
        return None
    if definition.stamp is not None:
        return definition.stamp(moment, values)
    return tuple(moment.part(source) for source in Source if source in definition.follows)


def _guarded(read: ResourceRead) -> ResourceRead:
    """A body whose errors are those that readers know."""

    async def guarded(uri: str, values: Mapping[str, str], call: Interaction) -> ResourceOutcome:
        try:
            return await read(uri, values, call)
        except NotFoundError as error:
            raise ResourceNotFoundError(str(error)) from error
        except InvalidArgumentError:
            # What was asked with is at fault, which the runner of a request tells apart.
            raise
        except EngineError as error:
            raise ToolError(str(error)) from error

    return guarded
