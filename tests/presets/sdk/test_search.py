"""`sdk.search` and `sdk.describe`: what a program is answered."""

from __future__ import annotations

from presets.sdk.sdk import Sdk
from presets.sdk.search import MAX_DESCRIBED_CHARACTERS, MAX_HITS, MAX_SIGNATURE_CHARACTERS, describe, search
from tests.presets.sdk.samples import built_in_tools, tool

BUILT_IN = Sdk.of(built_in_tools()).tools


def names(query: str) -> list[str]:
    return [hit["name"] for hit in search(BUILT_IN, query)]


def test_a_search_gives_the_tool_whose_name_has_the_words_first() -> None:
    assert names("insert shape")[0] == "space_drawing_insert_shape"
    assert names("undo")[0] == "space_app_undo"
    assert names("Graph-Add node")[0] == "space_graph_add_node"


def test_words_of_the_description_are_found_too() -> None:
    assert "space_app_run_bash" in names("shell command")


def test_a_hit_is_a_name_a_sentence_and_a_signature() -> None:
    tools = Sdk.of([tool("find", {"query": {"type": "string"}}, description="Find it. Fast.", read_only=True)]).tools
    assert search(tools, "find") == [
        {
            "name": "find",
            "summary": "[read-only] Find it.",
            "signature": "find(args?: { query?: string }): Promise<any>",
        }
    ]


def test_a_search_is_bounded_and_the_same_every_time() -> None:
    hits = search(BUILT_IN, "space the of a")
    assert len(hits) == MAX_HITS
    assert hits == search(BUILT_IN, "space the of a")
    assert all(len(hit["signature"]) <= MAX_SIGNATURE_CHARACTERS + 1 for hit in hits)


def test_nothing_fits_words_that_no_tool_has() -> None:
    assert names("zzzzqqq") == []


def test_an_empty_search_begins_the_list() -> None:
    assert names(" ") == [made.tool.name for made in BUILT_IN[:MAX_HITS]]


def test_a_description_is_the_declaration_with_its_comments() -> None:
    tree = {"children": {"type": "array", "items": {"$ref": "#"}, "description": "Those below."}}
    tools = Sdk.of([tool("plant", tree, description="Plant a tree.")]).tools
    assert describe(tools, ["plant"]) == (
        "type Plant_Args = {\n  /** Those below. */ children?: Plant_Args[];\n};\n"
        "  /** Plant a tree. */\n  plant(args: Plant_Args): Promise<any>;\n"
    )


def test_an_unknown_name_is_answered_with_a_close_one() -> None:
    assert describe(BUILT_IN, ["space_app_undoo"]).startswith(
        "// no tool 'space_app_undoo'. Did you mean 'space_app_undo'"
    )
    assert describe(BUILT_IN, ["qqq\nzzz"]) == "// no tool 'qqq zzz'. Try sdk.search(words).\n"


def test_a_description_of_everything_is_cut_between_tools_and_says_so() -> None:
    text = describe(BUILT_IN, [made.tool.name for made in BUILT_IN])
    assert len(text) < MAX_DESCRIBED_CHARACTERS + 1_000
    assert "left out because the answer would be too long" in text


def test_no_names_are_answered_with_nothing() -> None:
    assert describe(BUILT_IN, []) == ""
