"""Object types that several tools share: which get a name, which name, and that nothing is lost by it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from presets.sdk.listing import Listing
from presets.sdk.sdk import Sdk, SdkBudget
from presets.sdk.shared_types import Root, SharedTypes
from presets.sdk.tool import FieldDocs, SdkTool, render_tools
from presets.sdk.type_tree import AllOf, ListOf, Named, OneOf, Record, TupleOf, Type, print_type
from tests.presets.sdk.samples import built_in_tools, tool
from tests.presets.sdk.test_sdk import hits_of, json_schemas, shuffled

NUMBER, TEXT = {"type": "number"}, {"type": "string"}
EVERYTHING = SdkBudget(full=10**9)


def an_object(*names: str, **rest: Any) -> dict[str, Any]:
    return {"type": "object", "properties": dict.fromkeys(names, NUMBER), "required": list(names), **rest}


BOX = an_object("bottom", "left", "right", "top", description="A box.")


def prompt_of(*tools: SdkTool) -> str:
    return Sdk.of(tools, budget=EVERYTHING).prompt


def giving(name: str, **members: Any) -> SdkTool:
    return tool(name, output={"type": "object", "properties": members, "required": sorted(members)})


def promised(prompt: str, name: str) -> str:
    """What the tool of that name is said to give."""
    (line,) = [line for line in prompt.splitlines() if line.startswith(f"  {name}(")]
    return line.partition("Promise<")[2].removesuffix(">;")


def test_a_type_that_two_tools_give_is_declared_once_with_what_is_said_of_it() -> None:
    prompt = prompt_of(giving("one", bounds=BOX), giving("two", bounds=BOX, count=NUMBER))
    declared = "/** A box. */\ntype Bounds = { bottom: number; left: number; right: number; top: number };\n"
    assert prompt.count(declared) == prompt.count("bottom") == 1
    assert promised(prompt, "one") == "{ bounds: Bounds }"
    assert promised(prompt, "two") == "{ bounds: Bounds; count: number }"


def test_a_type_that_stands_once_stays_where_it_is() -> None:
    prompt = prompt_of(giving("one", bounds=BOX), giving("two", count=NUMBER))
    assert "/** A box. */ bounds: { bottom: number; left: number; right: number; top: number };" in prompt
    assert "type Bounds" not in prompt


def test_a_short_type_is_repeated() -> None:
    assert "type Size" not in prompt_of(
        giving("one", size=an_object("x", "y")), giving("two", size=an_object("x", "y"))
    )


def test_what_is_said_of_one_place_stays_there() -> None:
    other = {**BOX, "description": "Where it was."}
    prompt = prompt_of(giving("one", bounds=BOX), giving("two", before=other))
    assert "/** A box. */ bounds: Before;" in prompt
    assert "/** Where it was. */ before: Before;" in prompt
    assert "\ntype Before = {" in prompt
    assert "*/\ntype Before" not in prompt


def test_a_type_inside_a_shared_one_counts_once() -> None:
    whole = {"type": "object", "properties": {"bounds": BOX, "name": TEXT}, "required": ["bounds", "name"]}
    prompt = prompt_of(giving("one", layer=whole), giving("two", layer=whole, count=NUMBER))
    assert "type Layer = {" in prompt
    assert "type Bounds" not in prompt


def test_a_list_names_its_items_in_the_singular() -> None:
    many = {"type": "array", "items": BOX}
    prompt = prompt_of(giving("one", bodies=many), giving("two", bodies=many, count=NUMBER))
    assert promised(prompt, "one") == "{ bodies: Body[] }"
    prompt = prompt_of(giving("one", lights=many), giving("two", lights=many, count=NUMBER))
    assert promised(prompt, "one") == "{ lights: Light[] }"


def test_the_title_of_a_schema_is_its_name() -> None:
    titled = {**BOX, "title": "bounding box"}
    prompt = prompt_of(giving("one", bounds=titled), giving("two", bounds=titled, count=NUMBER))
    assert promised(prompt, "one") == "{ bounds: BoundingBox }"


def test_a_type_of_many_uses_and_short_members_is_named_after_its_members() -> None:
    one, two = (
        giving("one", position=an_object("x", "y", "z"), size=an_object("x", "y", "z")),
        giving("two", normal=an_object("x", "y", "z"), speed=an_object("x", "y", "z")),
    )
    assert "type XYZ = { x: number; y: number; z: number };\n" in prompt_of(one, two)


def test_a_result_that_tools_have_in_common_is_named_after_none_of_them() -> None:
    members = {"redo_count": NUMBER, "revision": NUMBER, "step": TEXT, "undo_count": NUMBER}
    prompt = prompt_of(giving("undo", **members), giving("redo", **members))
    assert promised(prompt, "undo") == promised(prompt, "redo") == "Result"
    prompt = prompt_of(giving("space_app_undo", **members), giving("space_app_redo", **members))
    assert promised(prompt, "space_app_undo") == promised(prompt, "space_app_redo") == "SpaceAppResult"


def test_arguments_stand_where_the_tool_does() -> None:
    members = {name: {"type": "string", "description": f"About {name}."} for name in ("first", "second", "third")}
    prompt = prompt_of(tool("one", members), tool("two", members))
    assert prompt.count("/** About second. */ second?: string;") == 2


def test_types_of_the_same_name_get_names_of_their_own() -> None:
    other, third = an_object("first", "second", "third", "last"), an_object("anything", "everything", "much", "nothing")
    given = {"a": BOX, "b": BOX, "c": BOX, "d": other, "e": other}
    tools = [giving(name, bounds=form, **{f"{name}_count": NUMBER}) for name, form in given.items()]
    sending = [tool(name, {"bounds": third}) for name in ("f", "g")]
    prompt = prompt_of(*tools, *sending)
    assert "type Bounds = { bottom" in prompt
    assert "type Bounds2 = { first" in prompt
    assert "type BoundsArgs = { anything" in prompt


@pytest.mark.slow
async def test_a_program_may_use_the_names_and_still_has_those_of_the_language() -> None:
    words = ("map", "set", "error", "promise", "record", "date", "array", "object", "string", "tools", "json_value")
    parts = {word: an_object(f"{word}_one", f"{word}_two", f"{word}_three") for word in words}
    tools = [giving("one", **parts, bounds=BOX), giving("two", **parts, bounds=BOX, count=NUMBER)]
    body = """
      const { bounds } = await tools.one();
      const kept: Bounds[] = [bounds];
      const found: Record<string, number> = {};
      const seen = new Map<string, Set<Date>>([["a", new Set([new Date()])]]);
      const later: Promise<Array<Object>> = Promise.resolve([]);
      if (kept.length > 3) throw new Error(String(seen.size));
      type Local = Partial<Bounds>;
      const part: Local = {};
      return [found, await later, part];"""
    assert await hits_of(body, *tools) == []
    assert await hits_of("class Bounds { x = 1 }; const made: Bounds = new Bounds(); return made.x", *tools) == []


@pytest.mark.slow
async def test_the_checker_still_tells_the_members_of_a_type_that_has_a_name() -> None:
    tools = [giving("one", bounds=BOX), giving("two", bounds=BOX)]
    assert await hits_of("const { bounds } = await tools.one(); return bounds.lef", *tools) == [2551]


def test_the_names_do_not_depend_on_any_order() -> None:
    tools = built_in_tools()
    again = [
        SdkTool(
            name=one.name,
            description=one.description,
            input_schema=shuffled(one.input_schema, random.Random(3)),
            output_schema=shuffled(one.output_schema, random.Random(4)),
        )
        for one in reversed(tools)
    ]
    assert Listing(render_tools(tools)).names() == Listing(render_tools(again)).names() != ""


def inlined(type_: Type, meant: dict[str, Record]) -> Type:
    """The type with every shared name replaced by what it stands for."""
    match type_:
        case Named(name) if name in meant:
            return inlined(meant[name], meant)
        case Record(fields, others):
            members = tuple(replace(one, type=inlined(one.type, meant)) for one in fields)
            return replace(type_, fields=members, others=None if others is None else inlined(others, meant))
        case ListOf(item):
            return ListOf(inlined(item, meant))
        case OneOf(members):
            return OneOf(tuple(inlined(one, meant) for one in members))
        case AllOf(members):
            return AllOf(tuple(inlined(one, meant) for one in members))
        case TupleOf(items, required, rest):
            parts = tuple(inlined(one, meant) for one in items)
            return TupleOf(parts, required, None if rest is None else inlined(rest, meant))
        case _:
            return type_


@given(json_schemas(), json_schemas())
@settings(max_examples=150, deadline=None)
def test_a_type_with_names_says_the_same_as_without(first: Any, second: Any) -> None:
    tools = [
        SdkTool(
            name=name,
            description="",
            input_schema={"type": "object", "properties": {"v": schema}},
            output_schema={"type": "object", "properties": {"a": schema, "b": {"type": "array", "items": schema}}},
        )
        for name, schema in (("a", first), ("b", second), ("c", first))
    ]
    rendered = render_tools(tools)
    roots = [Root(side.type, one.prefix, False) for one in rendered for side in (one.arguments, one.result)]
    shared = SharedTypes(roots, ())
    meant = {one.name: one.type for one in shared.declared}
    for root in roots:
        assert print_type(inlined(shared.naming(root.type), meant), documented=False) == (
            print_type(root.type, documented=False)
        )
    Listing(rendered).text(FieldDocs.ALL).encode()
