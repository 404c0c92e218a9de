"""The SDK of a set of tools: its levels, its bytes, and that it is valid TypeScript whatever the tools say."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from presets.presentation import RUN_CODE_NAME
from presets.schema import WriteArguments, schema_of
from presets.sdk.sdk import Sdk, SdkBudget, SdkLevel, token_estimate
from presets.sdk.tool import SdkTool
from sandbox.compiler_checker import Checker
from sandbox.compiler_problems import Problem
from sandbox.compiler_process import CompilerPlan
from tests.presets.sdk.samples import built_in_tools, tool

WEIRD_NAMES = (
    *("__proto__", "constructor", "new", "class", "get", "toString", "a-b", "a.b", "a b", "1st", "", "ünï", "工具"),
    *("'", '"', "`", "\\", "*/", "\n", "\u2028", "\ud800", "a\tb", "]()", "${x}", "</script>", "readonly", "async"),
)


MODIFIER_OUT_OF_PLACE = 1184


async def problems_of(sdks: list[Sdk], body: str = "return 1;") -> list[Problem]:
    """What the checker says about the declarations themselves and about a program against each."""
    found: list[Problem] = []
    with trio.fail_after(30):
        checker = await Checker.start(await CompilerPlan.made())
        try:
            for sdk in sdks:
                # Declarations are not looked into, bodies are; that a body may not `declare` is not the matter here.
                inside = await checker.check(sdk.declarations, "")
                outside = await checker.check(body, sdk.declarations)
                assert inside is not None
                assert outside is not None
                found += [problem for problem in [*inside, *outside] if problem.code != MODIFIER_OUT_OF_PLACE]
        finally:
            await checker.process.kill()
    return found


def shuffled(value: Any, order: random.Random) -> Any:
    """The same JSON with the members of its objects in another order."""
    if isinstance(value, dict):
        members = list(value.items())
        order.shuffle(members)
        return {key: shuffled(item, order) for key, item in members}
    return [shuffled(item, order) for item in value] if isinstance(value, list) else value


def test_the_built_in_tools_are_shown_with_their_types() -> None:
    sdk = Sdk.of(built_in_tools(), output_characters=12_345)
    assert "12,345 characters" in sdk.prompt
    assert "  space_drawing_inspect(args?: {" in sdk.prompt
    assert all(f"  {made.tool.name}(" in sdk.declarations for made in sdk.tools)


@pytest.mark.slow
async def test_the_declarations_of_the_built_in_tools_are_valid() -> None:
    everything = built_in_tools()
    assert await problems_of([Sdk.of(everything), Sdk.of([])]) == []


@pytest.mark.slow
async def test_tools_with_weird_names_and_texts_are_valid_and_can_be_called() -> None:
    tools = [
        tool(
            name, {name: {"type": "string", "description": name * 3}}, description=f"{name} */ `${{x}}` \r\n\ud800 end"
        )
        for name in WEIRD_NAMES
    ]
    sdk = Sdk.of(tools)
    body = (
        'await tools["a-b"]({ "a-b": "x" }); await tools["*/"]({}); await tools.new({ new: "x" }); return tools["工具"]'
    )
    assert await problems_of([sdk], body) == []


@pytest.mark.slow
async def test_tools_with_schemas_out_of_the_ordinary_are_valid() -> None:
    schemas: list[dict[str, Any]] = [
        {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"type": "array", "items": {"$ref": "#"}}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"additionalProperties": {"$ref": "#/$defs/a"}, "type": "object"}}},
        {"anyOf": [{"$ref": "#"}, {"type": "string"}]},
        {"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": {"type": "string"}},
        {
            "type": "object",
            "properties": {"p": {"prefixItems": [{"type": "string"}, False], "items": {"type": "null"}}},
        },
        {"allOf": [{"type": "object", "properties": {"a": {"enum": ["*/", "\u2028"]}}}, {"required": ["a", "z"]}]},
        {"type": "object", "properties": {"a": {"const": -1.5e-9}, "b": {"enum": []}, "c": {"type": []}}},
        {},
    ]
    tools = [
        SdkTool(name=f"t{n}", description="", input_schema=one, output_schema=one) for n, one in enumerate(schemas)
    ]
    assert await problems_of([Sdk.of(tools)]) == []


async def hits_of(body: str, *tools: SdkTool) -> list[int]:
    return [problem.code for problem in await problems_of([Sdk.of(tools)], body)]


@pytest.mark.slow
async def test_a_typing_error_in_the_arguments_is_found_where_other_members_are_not_forbidden() -> None:
    searching = tool("find", {"query": {"type": "string"}}, required=("query",))
    assert await hits_of("await tools.find({ qury: 'x' })", searching) == [2561]
    assert await hits_of("await tools.now({ zone: 'x' })", tool("now")) == [2322]
    assert await hits_of("await tools.fnd({ query: 'x' })", searching) == [2551]


@pytest.mark.slow
async def test_what_a_tool_without_output_schema_gives_may_be_used_in_any_way() -> None:
    loose = tool("find", output={"type": "object", "properties": {"data": {}}})
    body = "const found = await tools.now(); const { data } = await tools.find(); return [found.a.b(), data?.x.y + 1]"
    assert await hits_of(body, tool("now"), loose) == []


@pytest.mark.slow
async def test_a_program_may_search_catch_and_send_on_what_a_tool_gave() -> None:
    given_back = tool("give", output={"type": "object", "properties": {"a": {"type": "string"}}})
    body = """
      const [hit] = await sdk.search('x');
      const text: string = await sdk.describe([hit.name]) + await sdk.describe('y');
      try { await tools.take({ value: await tools.give() }) } catch (error) {
        if (error instanceof ToolCallError) return error.toolName.length + error.message + text;
      }"""
    assert await hits_of(body, given_back, tool("take", {"value": {}})) == []


def test_tools_of_the_same_words_have_types_of_their_own() -> None:
    shape = {"type": "object", "properties": {"a": {"$ref": "#"}}}
    tools = [SdkTool(name=name, description="", input_schema=shape) for name in ("a-b", "a_b", "a.b")]
    sdk = Sdk.of(tools)
    assert all(f"type {name} = " in sdk.declarations for name in ("AB_Args", "AB_2_Args", "AB_3_Args"))


def test_comments_say_what_the_type_cannot() -> None:
    width = {"type": "integer", "minimum": 1, "maximum": 9, "default": 4, "description": "Width in px."}
    assert (
        "/** Width in px. (integer, 1 to 9, default 4) */ width?: number;"
        in Sdk.of([tool("a", {"width": width})]).prompt
    )


def test_a_tool_that_only_reads_and_one_that_destroys_are_marked() -> None:
    prompt = Sdk.of([tool("a", read_only=True), tool("b", destructive=True), tool("c")]).prompt
    assert [line for line in prompt.splitlines() if "Find things." in line] == [
        "  /** [read-only] Find things. */",
        "  /** [destructive] Find things. */",
        "  /** Find things. */",
    ]


def test_a_large_set_loses_the_comments_of_results_first_then_those_of_arguments_and_then_all_but_names() -> None:
    done = {"properties": {"b": {"type": "string", "description": "What was done. " * 9}}}
    asked = {"a": {"type": "string", "description": "What to do. " * 9}}
    tools = [tool(f"tool_{n}", asked, description="Do it. At once.", output=done) for n in range(50)]
    levels = [
        Sdk.of(tools, budget=SdkBudget(full=full, no_result_docs=some, no_field_docs=bare))
        for full, some, bare in ((9_000, 9_000, 9_000), (2_500, 9_000, 9_000), (2_000, 2_000, 9_000), (100, 100, 200))
    ]
    assert [sdk.level for sdk in levels] == list(SdkLevel)
    assert ["What was done." in sdk.prompt for sdk in levels] == [True, False, False, False]
    assert ["What to do." in sdk.prompt for sdk in levels] == [True, True, False, False]
    assert ["/** Do it. At once. */" in sdk.prompt for sdk in levels] == [True, True, True, False]
    assert "- tool_7: Do it.\n" in levels[3].prompt
    assert len({sdk.declarations for sdk in levels}) == 1
    sizes = [token_estimate(sdk.prompt) for sdk in levels]
    assert sizes == sorted(sizes, reverse=True)
    assert all("sdk.search" in sdk.prompt and "sdk.describe" in sdk.prompt for sdk in levels)


def test_a_level_without_a_budget_is_left_out() -> None:
    assert Sdk.of([tool()], budget=SdkBudget(full=-1)).level is SdkLevel.NO_FIELD_DOCS
    assert Sdk.of([tool()], budget=SdkBudget(full=-1, no_field_docs=-1)).level is SdkLevel.CATALOGUE


def test_a_catalogue_has_an_end() -> None:
    sdk = Sdk.of([tool(f"tool_{n}") for n in range(99)], budget=SdkBudget(full=1, no_field_docs=1, catalogue=100))
    assert "- … and 86 more; find them with `sdk.search`" in sdk.prompt


def test_the_prompt_names_the_tool_as_the_model_sees_it() -> None:
    assert Sdk.of([]).prompt.startswith(f"## Writing code for {RUN_CODE_NAME}\n")


def test_members_without_comments_share_a_line() -> None:
    members = {**{name: {"type": "string"} for name in "abcd"}, "c": {"type": "string", "description": "Third."}}
    assert "{\n    a?: string; b?: string;\n    /** Third. */ c?: string;\n    d?: string;\n  }" in (
        Sdk.of([tool("x", members)]).prompt
    )


def test_a_sentence_that_was_broken_for_the_width_of_a_page_is_one_line_again_and_an_example_is_not() -> None:
    text = f"{'Long words. ' * 8}\nand `more` of them.\n- one\nfoo(bar)"
    assert f"{'Long words. ' * 8}and `more` of them.\n   * - one\n   * foo(bar)" in (
        Sdk.of([tool("x", description=text)]).prompt
    )


def test_what_base_revision_means_is_said_once() -> None:
    writing = SdkTool(name="write", description="Write.", input_schema=schema_of(WriteArguments))
    prompt = Sdk.of([writing, tool("x", {"base_revision": {"type": "string", "description": "Another thing."}})]).prompt
    assert "write(args?: { base_revision?: number })" in prompt
    assert "/** Another thing. */ base_revision?: string;" in prompt
    assert prompt.count("- `base_revision` is") == 1
    assert "`base_revision`" not in Sdk.of([tool()]).prompt


def test_bounds_that_only_a_mistake_goes_beyond_are_not_told() -> None:
    members = {
        "a": {"type": "integer", "minimum": -(2**53) + 1, "maximum": 2**53 - 1},
        "b": {"type": "number", "minimum": 0.5, "maximum": 1e6},
        "c": {"type": "string", "minLength": 1, "maxLength": 4_194_304},
        "d": {"type": "number", "minimum": -99_999, "maximum": 99_999},
    }
    prompt = Sdk.of([tool("x", members)]).prompt
    for said in ("(integer) */ a?", "(≥ 0.5) */ b?", "(at least 1 characters) */ c?", "(-99999 to 99999) */ d?"):
        assert said in prompt


@pytest.mark.slow
@pytest.mark.parametrize("level", list(SdkLevel)[:3])
async def test_what_the_model_reads_is_valid_at_every_level(level: SdkLevel) -> None:
    large = 10**9
    budgets = dict(
        zip(list(SdkLevel)[:3], (SdkBudget(large), SdkBudget(-1, large), SdkBudget(-1, 0, large)), strict=True)
    )
    foreign = [
        SdkTool(name=f"t{n}", description="*/", input_schema={"properties": {"v": one}}, output_schema=one)
        for n, one in enumerate(schema for schema in samples_of_schemas(60) if isinstance(schema, dict))
    ]
    sdk = Sdk.of([*built_in_tools(), *foreign], budget=budgets[level])
    assert sdk.level is level
    shown = sdk.prompt.partition("```ts\n")[2].partition("```")[0]
    with trio.fail_after(30):
        checker = await Checker.start(await CompilerPlan.made())
        try:
            found = await checker.check(shown, "")
        finally:
            await checker.process.kill()
    assert found is not None
    assert [problem for problem in found if problem.code != MODIFIER_OUT_OF_PLACE] == []


def test_the_bytes_do_not_depend_on_any_order() -> None:
    tools = built_in_tools()
    first = Sdk.of(tools)
    again = Sdk.of(
        [
            SdkTool(
                name=one.name,
                title=one.title,
                description=one.description,
                input_schema=shuffled(one.input_schema, random.Random(7)),
                output_schema=shuffled(one.output_schema, random.Random(8)),
                read_only=one.read_only,
            )
            for one in reversed(tools)
        ]
    )
    assert (first.prompt, first.declarations) == (again.prompt, again.declarations)


def json_schemas() -> st.SearchStrategy[Any]:
    names = st.sampled_from(["a", "b", "x-y", "*/", "type"])
    leaf = st.sampled_from(
        [True, False, {}, {"type": "string"}, {"enum": ["a", 1]}, {"$ref": "#"}, {"$ref": "#/properties/a"}, 7, None]
    )

    def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        lists = st.lists(inner, max_size=3)
        parts: dict[str, st.SearchStrategy[Any]] = {
            "type": st.sampled_from(["object", "array", ["object", "null"], "string"]),
            "properties": st.dictionaries(names, inner, max_size=3),
            "required": st.lists(names, max_size=2),
            "additionalProperties": inner,
            "items": st.one_of(inner, lists),
            **dict.fromkeys(("prefixItems", "anyOf", "oneOf", "allOf"), lists),
        }
        return st.fixed_dictionaries({}, optional=parts)

    return st.recursive(leaf, grown, max_leaves=12)


@given(json_schemas(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_any_schema_gives_the_same_bytes_in_any_order(schema: Any, order: random.Random) -> None:
    given_schema = schema if isinstance(schema, dict) else {"properties": {"a": schema}}
    one, other = (
        Sdk.of([SdkTool(name="a", description="A", input_schema=form, output_schema=form)])
        for form in (given_schema, shuffled(given_schema, order))
    )
    assert one.declarations == other.declarations


def samples_of_schemas(count: int) -> Iterator[Any]:
    collected: list[Any] = []

    @given(json_schemas())
    @settings(max_examples=count, deadline=None, database=None, derandomize=True)
    def collect(schema: Any) -> None:
        collected.append(schema)

    collect()
    return iter(collected)


@pytest.mark.slow
async def test_any_schema_gives_valid_typescript() -> None:
    tools = [
        SdkTool(
            name=f"t{n}",
            description="*/",
            input_schema={"properties": {"v": schema}},
            output_schema={"anyOf": [schema]},
        )
        for n, schema in enumerate(samples_of_schemas(200))
    ]
    assert await problems_of([Sdk.of(tools)]) == []


@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=30)), max_size=8))
@settings(max_examples=100, deadline=None)
def test_no_text_of_a_tool_ends_a_comment_or_a_name(texts: list[tuple[str, str]]) -> None:
    tools = [tool(name, {name: {"description": text}}, description=text) for name, text in texts]
    sdk = Sdk.of(tools)
    sdk.declarations.encode()
    sdk.prompt.encode()
    members = sdk.declarations.partition("interface Tools {\n")[2]
    names = {name for name, _ in texts}
    assert members.count(": Promise<any>;\n") == len(names)
    # Each comment that begins ends once: no text has ended or begun one.
    assert sdk.declarations.count("*/") == sum(
        line.lstrip().startswith("/**") for line in sdk.declarations.splitlines()
    )
