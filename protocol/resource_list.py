"""The resources and templates that there are at one moment, frozen, and the registry that makes these lists.

Owns the registered definitions. Never reads a resource, never reads a clock, never waits.
Source: MCP specification, server/resources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protocol.jsonrpc import encode
from protocol.owned_table import OwnedTable, RegistrationError
from protocol.resource import PreparedRead, ResourceDefinition, ResourceTemplate
from protocol.versions import REVISIONS, Revision


@dataclass(frozen=True, slots=True, eq=False)
class ResourceList:
    """Resources sorted by uri, and templates sorted by their text. Equal revisions look the same to every client."""

    revision: int
    resources: OwnedTable[ResourceDefinition]
    templates: OwnedTable[ResourceTemplate]

    @property
    def uris(self) -> tuple[str, ...]:
        """The uris of the resources, sorted."""
        return tuple(self.resources.by_key)

    @property
    def template_texts(self) -> tuple[str, ...]:
        """The texts of the templates, sorted."""
        return tuple(self.templates.by_key)

    def prepare(self, uri: str) -> PreparedRead | None:
        """How a uri is read: as the resource of that name, else by the first template that it fits; None for none."""
        definition = self.resources.by_key.get(uri)
        if definition is not None:
            return PreparedRead(uri, definition.read, {}, definition.name)
        for template in self.templates.by_key.values():
            values = template.template.match(uri)
            if values is not None:
                return PreparedRead(uri, template.read, values, template.name)
        return None

    def wire_resources(self, version: str, start: int, stop: int) -> bytes:
        """Some of the resources as a JSON array. Raises `KeyError` for a version that is not known."""
        shown = tuple(self.resources.by_key.values())[start:stop]
        return encode([_resource(definition, REVISIONS[version]) for definition in shown])

    def wire_templates(self, version: str, start: int, stop: int) -> bytes:
        """Some of the templates as a JSON array. Raises as `wire_resources`."""
        shown = tuple(self.templates.by_key.values())[start:stop]
        return encode([_template(definition, REVISIONS[version]) for definition in shown])


EMPTY_RESOURCE_LIST = ResourceList(0, OwnedTable("resource"), OwnedTable("resource template"))
"""The list before anything is registered."""


class ResourceRegistry:
    """Resources and templates, each with its owner."""

    def __init__(self) -> None:
        self._list = EMPTY_RESOURCE_LIST

    def apply(
        self,
        *,
        removals: Sequence[tuple[str, str]] = (),
        additions: Sequence[ResourceDefinition | ResourceTemplate] = (),
    ) -> ResourceList:
        """Remove resources or templates (key, owner), then add some, as one change; return the list after it.

        All of it happens, or nothing. The revision rises where clients can see the change.
        Raises `RegistrationError`; the registry is as it was.
        """
        old = self._list
        for definition in additions:
            _check(definition)
        resources = old.resources.changed(
            removals, (definition for definition in additions if isinstance(definition, ResourceDefinition))
        )
        templates = old.templates.changed(
            removals, (definition for definition in additions if isinstance(definition, ResourceTemplate))
        )
        fresh = ResourceList(old.revision, resources, templates)
        if _look(fresh) != _look(old):
            fresh = ResourceList(old.revision + 1, resources, templates)
        self._list = fresh
        return fresh

    def snapshot(self) -> ResourceList:
        """The resources now."""
        return self._list


_NEWEST = tuple(REVISIONS)[-1]


def _look(listed: ResourceList) -> tuple[bytes, bytes]:
    """Everything that clients see of a list."""
    return (
        listed.wire_resources(_NEWEST, 0, len(listed.uris)),
        listed.wire_templates(_NEWEST, 0, len(listed.template_texts)),
    )


def _check(definition: ResourceDefinition | ResourceTemplate) -> None:
    kind = "resource" if isinstance(definition, ResourceDefinition) else "resource template"
    scheme, colon, _ = definition.key.partition(":")
    if not colon or not scheme.strip():
        raise RegistrationError(f"{kind} {definition.key!r}: it must begin with a scheme, as 'space://'")
    if not definition.name.strip():
        raise RegistrationError(f"{kind} {definition.key!r}: the name must not be empty")
    if isinstance(definition, ResourceTemplate):
        unknown = sorted(set(definition.completers) - set(definition.template.names))
        if unknown:
            raise RegistrationError(f"{kind} {definition.key!r}: it has no {{{unknown[0]}}} to complete")
    try:
        encode(_common(definition, REVISIONS[_NEWEST]))
        encode(definition.key)
    except ValueError as error:
        raise RegistrationError(f"{kind} {definition.key!r} cannot be written as JSON: {error}") from error


def _resource(definition: ResourceDefinition, revision: Revision) -> dict[str, object]:
    shown: dict[str, object] = {"uri": definition.uri, **_common(definition, revision)}
    if definition.size is not None:
        shown["size"] = definition.size
    return shown


def _template(definition: ResourceTemplate, revision: Revision) -> dict[str, object]:
    return {"uriTemplate": definition.template.text, **_common(definition, revision)}


def _common(definition: ResourceDefinition | ResourceTemplate, revision: Revision) -> dict[str, object]:
    optional: dict[str, object] = {
        "title": definition.title if revision.title else None,
        "description": definition.description,
        "mimeType": definition.mime_type,
        "annotations": definition.annotations,
        "icons": (list(definition.icons) or None) if revision.icons else None,
    }
    return {"name": definition.name, **{name: value for name, value in optional.items() if value is not None}}
