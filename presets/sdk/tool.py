"""One tool in the SDK: what is told about it, and its declarations as text. Owns the form of one member of `tools`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from presets.sdk.comments import comment, first_sentence, member_name, type_name
from presets.sdk.schema_type import ANY, SchemaType, type_of_schema
from presets.sdk.type_tree import EMPTY, Record, Type, print_type

READ_ONLY_MARK = "[read-only]"
"""Before the description of a tool that changes nothing: such calls may overlap."""

DESTRUCTIVE_MARK = "[destructive]"
"""Before the description of a tool whose effect undo does not bring back."""

MEMBER_INDENT = "  "


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
    """A tool as text. A member has two spaces of indent and a line end; declarations stand at the start of a line."""

    tool: SdkTool
    summary: str
    """One line: the mark and the first sentence of the description."""
    signature: str
    """One line: `name(args: …): Promise<…>`, without comments."""
    member: str
    """The signature with the comments of the tool and of its fields."""
    bare_member: str
    """The signature with the comment of the tool alone."""
    declarations: str
    """The types that the member names, with comments; empty where it names none."""
    bare_declarations: str
    """The same without comments."""


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
    description = tool.description.strip() or (tool.title or "").strip()
    marked = f"{_mark(tool)}{description}"
    declared = (*arguments.declarations, *result.declarations)
    doc = comment(marked, MEMBER_INDENT)
    bare = f"{MEMBER_INDENT}{_signature(tool, arguments.type, result.type, documented=False)};\n"
    return RenderedTool(
        tool=tool,
        summary=f"{_mark(tool)}{first_sentence(description)}".strip(),
        signature=bare.strip().removesuffix(";"),
        member=f"{doc}{MEMBER_INDENT}{_signature(tool, arguments.type, result.type, documented=True)};\n",
        bare_member=doc + bare,
        declarations=_declare(declared, documented=True),
        bare_declarations=_declare(declared, documented=False),
    )


def _mark(tool: SdkTool) -> str:
    if tool.read_only:
        return f"{READ_ONLY_MARK} "
    return f"{DESTRUCTIVE_MARK} " if tool.destructive else ""


def _signature(tool: SdkTool, arguments: Type, result: Type, *, documented: bool) -> str:
    printed = print_type(_of_no_arguments(tool, arguments), documented=documented, indent=MEMBER_INDENT)
    optional = isinstance(arguments, Record) and not any(field.required for field in arguments.fields)
    returned = print_type(result, documented=documented, indent=MEMBER_INDENT)
    return f"{member_name(tool.name)}(args{'?' if optional else ''}: {printed}): Promise<{returned}>"


def _of_no_arguments(tool: SdkTool, arguments: Type) -> Type:
    """An object that declares its members, and has none, takes no arguments, even where it does not forbid others."""
    declares_none = tool.input_schema.get("properties") == {} and "additionalProperties" not in tool.input_schema
    return EMPTY if declares_none and isinstance(arguments, Record) and not arguments.fields else arguments


def _declare(declared: tuple[tuple[str, Type], ...], *, documented: bool) -> str:
    return "".join(f"type {name} = {print_type(type_, documented=documented)};\n" for name, type_ in declared)
