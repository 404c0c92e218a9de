"""The tools that are visible at one moment, frozen: what `tools/list` answers and what `tools/call` looks up.

Owns nothing that changes, but for bytes that are made once and kept. The registry makes these lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from protocol.header_parameters import HeaderParameter, header_parameters
from protocol.jsonrpc import encode
from protocol.schema import CompiledSchema, SchemaError, compile_schema
from protocol.tool import JsonObject, ToolDefinition
from protocol.versions import REVISIONS, TOOL_FORMS, ToolForm


@dataclass(frozen=True, slots=True)
class ToolFace:
    """What clients see of a tool, and its schemas made ready. Two tools with equal `key` look the same to everybody."""

    key: bytes
    forms: Mapping[ToolForm, bytes]
    arguments: CompiledSchema
    result: CompiledSchema | None
    header_parameters: tuple[HeaderParameter, ...] = ()

    @classmethod
    def of(cls, definition: ToolDefinition) -> ToolFace:
        """The face of a valid definition. Raises `SchemaError` for a schema that does not compile."""
        arguments = _compiled("inputSchema", definition.input_schema)
        output_schema = definition.output_schema
        result = None if output_schema is None else _compiled("outputSchema", output_schema)
        alike: dict[bytes, bytes] = {}
        forms = {form: alike.setdefault(made, made) for form, made in _all_forms(definition)}
        parameters = _parameters(definition.input_schema)
        return cls(forms[TOOL_FORMS[-1]], MappingProxyType(forms), arguments, result, parameters)


def face_key(definition: ToolDefinition) -> bytes:
    """`ToolFace.key` of a definition, without the cost of the face.

    Raises `ValueError`, naming the member, where the definition cannot be written as JSON.
    """
    try:
        return _tool_json(definition, TOOL_FORMS[-1])
    except ValueError:
        for member, value in _members(definition, TOOL_FORMS[-1]).items():
            try:
                encode(value)
            except ValueError as error:
                raise ValueError(f"{member} cannot be written as JSON: {error}") from error
        raise


def _compiled(member: str, schema: JsonObject) -> CompiledSchema:
    try:
        return compile_schema(_object_schema(schema))
    except SchemaError as error:
        raise SchemaError(f"{member} is refused: {error}") from error


def _parameters(schema: JsonObject) -> tuple[HeaderParameter, ...]:
    try:
        return header_parameters(schema)
    except SchemaError as error:
        raise SchemaError(f"inputSchema is refused: {error}") from error


def _all_forms(definition: ToolDefinition) -> Iterator[tuple[ToolForm, bytes]]:
    return ((form, _tool_json(definition, form)) for form in TOOL_FORMS)


def _tool_json(definition: ToolDefinition, form: ToolForm) -> bytes:
    return encode(_members(definition, form))


def _members(definition: ToolDefinition, form: ToolForm) -> JsonObject:
    tool: dict[str, object] = {"name": definition.name}
    if form.title and definition.title is not None:
        tool["title"] = definition.title
    tool["description"] = definition.description
    tool["inputSchema"] = _object_schema(definition.input_schema)
    if form.output_schema and definition.output_schema is not None:
        tool["outputSchema"] = _object_schema(definition.output_schema)
    if form.annotations and definition.annotations is not None:
        tool["annotations"] = definition.annotations
    if form.icons and definition.icons:
        tool["icons"] = list(definition.icons)
    return tool


def _object_schema(schema: JsonObject) -> JsonObject:
    """Clients drop every tool of a server over one schema without `type` or `properties`."""
    return {"type": "object", "properties": {}, **schema}


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One registered tool: its definition with the body, and its face."""

    definition: ToolDefinition
    face: ToolFace

    @classmethod
    def of(cls, definition: ToolDefinition) -> ToolEntry:
        """The entry of a tool that no registry holds. Raises `SchemaError`, or `ValueError` as `face_key`."""
        return cls(definition, ToolFace.of(definition))


@dataclass(frozen=True, slots=True, eq=False)
class ToolList:
    """The visible tools, sorted by name. Lists of one registry with equal `revision` look the same to every client.

    Lists with equal revisions may still differ in the bodies of their tools.
    """

    revision: int
    entries: tuple[ToolEntry, ...]
    _by_name: Mapping[str, ToolEntry] = field(repr=False)
    _wire: dict[ToolForm, bytes] = field(repr=False, default_factory=dict[ToolForm, bytes])

    @classmethod
    def of(cls, revision: int, entries: Mapping[str, ToolEntry]) -> ToolList:
        """The list of these entries by name; the mapping is copied."""
        by_name = {name: entries[name] for name in sorted(entries)}
        return cls(revision, tuple(by_name.values()), by_name)

    def get(self, name: str) -> ToolEntry | None:
        """The tool of that name, or None."""
        return self._by_name.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, sorted."""
        return tuple(self._by_name)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[ToolEntry]:
        return iter(self.entries)

    def wire(self, version: str) -> bytes:
        """The JSON array of `tools/list` as a served version knows it: equal bytes for equal tools, made once.

        Raises `KeyError` for a version that is not served.
        """
        form = REVISIONS[version].tool_form
        made = self._wire.get(form)
        if made is None:
            made = b"[%b]" % b",".join(entry.face.forms[form] for entry in self.entries)
            # Forms differ in members that few tools have, so most of them come out alike.
            made = next((other for other in self._wire.values() if other == made), made)
            self._wire[form] = made
        return made

    def wire_part(self, version: str, start: int, stop: int) -> bytes:
        """The JSON array of some of the tools, for a list that is too long for one answer. Raises as `wire`."""
        form = REVISIONS[version].tool_form
        return b"[%b]" % b",".join(entry.face.forms[form] for entry in self.entries[start:stop])

    def looks_like(self, other: ToolList) -> bool:
        """Whether no client can tell the two lists apart."""
        return [entry.face.key for entry in self.entries] == [entry.face.key for entry in other.entries]


EMPTY_TOOL_LIST = ToolList.of(0, {})
"""The list before anything is registered."""
