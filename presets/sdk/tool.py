"""One tool in the SDK: what is told about it, and its declarations as text. Owns the form of one member of `tools`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from presets.sdk.comments import comment, first_sentence, member_name, type_name
from presets.sdk.schema_type import ANY, SchemaType, type_of_schema
from presets.sdk.type_tree import EMPTY, Record, Type, print_type

READ_ONLY_MARK = "[read-only]"
"""Before the description of a tool that changes nothing: such calls may overlap."""

DESTRUCTIVE_MARK = "[destructive]"
"""Before the description of a tool whose effect undo does not bring back."""

MEMBER_INDENT = "  "


class FieldDocs(Enum):
    """Which fields keep their comments."""

    ALL = auto()
    ARGUMENTS = auto()
    NONE = auto()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SdkTool:
    """A tool that programs may call. Schemas are JSON Schema and must not be changed afterwards.

    Without an output schema the tool gives whatever it gives, and its type is `any`.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    read_only: bool = False
    destructive: bool = False
    title: str | None = None


@dataclass(frozen=True, slots=True)
class RenderedTool:
    """A tool as types and as text. Its text stands on its own: it names no type that is not declared in it."""

    tool: SdkTool
    prefix: str
    """What the names of its types begin with."""
    arguments: SchemaType
    result: SchemaType
    summary: str
    """One line: the mark and the first sentence of the description."""
    signature: str
    """One line: `name(args: …): Promise<…>`, without comments."""
    member: str
    """The signature with all comments, with two spaces of indent and a line end."""
    declarations: str
    """The types that the member names, with comments, each at the start of a line; empty where it names none."""


def render_tools(tools: Iterable[SdkTool]) -> tuple[RenderedTool, ...]:
    """The tools in order of their names. Of tools that share a name the first one counts."""
    by_name: dict[str, SdkTool] = {}
    for tool in tools:
        by_name.setdefault(tool.name, tool)
    prefixes: set[str] = set()
    rendered: list[RenderedTool] = []
    for name in sorted(by_name):
        prefix = wanted = type_name(name)
        count = 1
        while prefix in prefixes:
            count += 1
            prefix = f"{wanted}_{count}"
        prefixes.add(prefix)
        rendered.append(_render(by_name[name], prefix))
    return tuple(rendered)


def _render(tool: SdkTool, prefix: str) -> RenderedTool:
    arguments = type_of_schema(tool.input_schema, prefix=prefix, root="Args")
    result = SchemaType(ANY)
    if tool.output_schema is not None:
        taken = [name for name, _ in arguments.declarations]
        result = type_of_schema(tool.output_schema, prefix=prefix, root="Result", widest=ANY, taken=taken)
    arguments = SchemaType(_of_no_arguments(tool, arguments.type), arguments.declarations)
    declared = (*arguments.declarations, *result.declarations)
    types, optional = (arguments.type, result.type), _all_optional(arguments.type)
    return RenderedTool(
        tool=tool,
        prefix=prefix,
        arguments=arguments,
        result=result,
        summary=f"{_mark(tool)}{first_sentence(_description(tool))}".strip(),
        signature=_signature(tool, *types, FieldDocs.NONE, optional=optional),
        member=_member(tool, *types, FieldDocs.ALL, optional=optional),
        declarations="".join(declaration(name, type_, documented=True) for name, type_ in declared),
    )


def member(tool: RenderedTool, arguments: Type, result: Type, docs: FieldDocs) -> str:
    """The tool as a member of `Tools` with the comment of the tool itself; the types say the same as its own."""
    return _member(tool.tool, arguments, result, docs, optional=_all_optional(tool.arguments.type))


def declaration(name: str, type_: Type, *, documented: bool, doc: str = "") -> str:
    """A type under its name, as a statement."""
    said = comment(doc, "") if documented else ""
    return f"{said}type {name} = {print_type(type_, documented=documented)};\n"


def _member(tool: SdkTool, arguments: Type, result: Type, docs: FieldDocs, *, optional: bool) -> str:
    doc = comment(f"{_mark(tool)}{_description(tool)}", MEMBER_INDENT)
    return f"{doc}{MEMBER_INDENT}{_signature(tool, arguments, result, docs, optional=optional)};\n"


def _signature(tool: SdkTool, arguments: Type, result: Type, docs: FieldDocs, *, optional: bool) -> str:
    taken = print_type(arguments, documented=docs is not FieldDocs.NONE, indent=MEMBER_INDENT)
    given = print_type(result, documented=docs is FieldDocs.ALL, indent=MEMBER_INDENT)
    return f"{member_name(tool.name)}(args{'?' if optional else ''}: {taken}): Promise<{given}>"


def _all_optional(arguments: Type) -> bool:
    """Whether the arguments may be left out altogether."""
    return isinstance(arguments, Record) and not any(field.required for field in arguments.fields)


def _description(tool: SdkTool) -> str:
    return tool.description.strip() or (tool.title or "").strip()


def _mark(tool: SdkTool) -> str:
    if tool.read_only:
        return f"{READ_ONLY_MARK} "
    return f"{DESTRUCTIVE_MARK} " if tool.destructive else ""


def _of_no_arguments(tool: SdkTool, arguments: Type) -> Type:
    """An object that declares its members, and has none, takes no arguments, even where it does not forbid others."""
    declares_none = tool.input_schema.get("properties") == {} and "additionalProperties" not in tool.input_schema
    return EMPTY if declares_none and isinstance(arguments, Record) and not arguments.fields else arguments
