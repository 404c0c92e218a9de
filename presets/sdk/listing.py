"""The declarations of a set of tools, as a model reads them: what several tools say alike is said once.

Owns what is said once, and the order of it all. The same set gives the same text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from presets.schema import BASE_REVISION, BASE_REVISION_SCHEMA
from presets.sdk.shared_types import Root, SharedTypes
from presets.sdk.tool import FieldDocs, RenderedTool, declaration, member
from presets.sdk.type_tree import Record, Type

OWN_NAMES = ("JsonValue", "ToolCallError", "SdkHit", "SdkSearch", "Tools")
"""What the SDK itself declares."""


class Listing:
    """The tools, in their order, and the types that they share."""

    def __init__(self, tools: Sequence[RenderedTool]) -> None:
        self._tools = tools
        self.has_base_revision = any(map(_takes_base_revision, tools))
        taken = [*OWN_NAMES, *(name for tool in tools for name, _ in _declarations(tool))]
        self._shared = SharedTypes((root for tool in tools for root in _roots(tool)), taken)

    def text(self, docs: FieldDocs) -> str:
        """All declarations: the shared types by name, then those of single tools, then the tools."""
        shared = "".join(
            declaration(one.name, one.type, documented=_documented(docs, of_arguments=one.in_arguments), doc=one.doc)
            for one in self._shared.declared
        )
        return shared + declared(
            [
                declaration(name, self._shared.naming(type_), documented=_documented(docs, of_arguments=of_arguments))
                for tool in self._tools
                for of_arguments, side in ((True, tool.arguments), (False, tool.result))
                for name, type_ in side.declarations
            ],
            [
                member(tool, self._shared.naming(_arguments(tool)), self._shared.naming(tool.result.type), docs)
                for tool in self._tools
            ],
        )

    def names(self) -> str:
        """The shared types alone, for programs that use their names."""
        return "".join(declaration(one.name, one.type, documented=False) for one in self._shared.declared)


def declared(declarations: Sequence[str], members: Sequence[str]) -> str:
    """These types and these members of `tools`, as statements."""
    return f"{''.join(declarations)}interface Tools {{\n{''.join(members)}}}\ndeclare const tools: Tools;\n"


def _documented(docs: FieldDocs, *, of_arguments: bool) -> bool:
    return docs is FieldDocs.ALL or (docs is FieldDocs.ARGUMENTS and of_arguments)


def _roots(tool: RenderedTool) -> Iterator[Root]:
    for of_arguments, side, type_ in ((True, tool.arguments, _arguments(tool)), (False, tool.result, tool.result.type)):
        for one in (type_, *(type_ for _, type_ in side.declarations)):
            yield Root(one, f"{tool.prefix}{'Args' if of_arguments else 'Result'}", of_arguments)


def _declarations(tool: RenderedTool) -> tuple[tuple[str, Type], ...]:
    return (*tool.arguments.declarations, *tool.result.declarations)


def _takes_base_revision(tool: RenderedTool) -> bool:
    properties = tool.tool.input_schema.get("properties")
    if not isinstance(properties, Mapping):
        return False
    return cast("Mapping[str, Any]", properties).get(BASE_REVISION) == BASE_REVISION_SCHEMA


def _arguments(tool: RenderedTool) -> Type:
    """The arguments without the comment that the SDK gives once for all tools."""
    type_ = tool.arguments.type
    if not isinstance(type_, Record) or not _takes_base_revision(tool):
        return type_
    fields = (replace(one, doc="") if one.name == BASE_REVISION else one for one in type_.fields)
    return replace(type_, fields=tuple(fields))
