"""Searching: what is found, in which order, with which errors of typing, and page by page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidArgumentError
from engine.graph.nodes import LoadNode, RemoveNodes
from engine.graph.search import SearchNodes, SearchPage
from engine.graph.search_index import allowed_errors, differs_at_most
from tests.engine.graph.samples import EXAMPLES, Graph, loaded


@pytest.fixture
def graph() -> Graph:
    graph = Graph()
    graph.node("Payment Service", kind="service", content="Charges credit cards")
    graph.node("Service catalogue", kind="document")
    graph.node("Postgres database", kind="database", data={"vendor": "Elephant Inc", "port": 5432})
    graph.node("Notes", content="the payment service is slow")
    graph.node("数据库 设计", kind="document")
    graph.do(LoadNode(key="file:src/billing/invoice.py", loaded=loaded("src/billing/invoice.py")))
    return graph


def labels(page: SearchPage) -> list[str]:
    return [found.node.label for found in page.found]


def search(graph: Graph, query: str, **more: object) -> list[str]:
    return labels(graph.do(SearchNodes(query=query, **more)))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("payment service", ["Payment Service", "Notes"]),
        ("PAYMENT", ["Payment Service", "Notes"]),
        ("service", ["Payment Service", "Service catalogue", "Notes"]),
        ("serv", ["Payment Service", "Service catalogue", "Notes"]),
        ("base", ["Postgres database"]),
        ("datbase", ["Postgres database"]),
        ("psotgres", ["Postgres database"]),
        ("paymnet servcie", ["Payment Service", "Notes"]),
        ("elephant", ["Postgres database"]),
        ("elefant", ["Postgres database"]),
        ("elefand", []),
        ("elephnat", ["Postgres database"]),
        ("5432", ["Postgres database"]),
        ("5433", []),
        ("vendor", ["Postgres database"]),
        ("credit", ["Payment Service"]),
        ("billing invoice", ["invoice.py"]),
        ("数据", ["数据库 设计"]),
        ("string-entity:node-2", ["Service catalogue"]),
        ("xylophone", []),
    ],
)
def test_words_are_found_in_labels_first_then_in_content_data_and_paths(graph: Graph, query: str, expected: list[str]):
    assert search(graph, query) == expected


def test_a_label_that_is_the_query_comes_first_with_the_full_score(graph: Graph):
    graph.node("Payment")
    page = graph.do(SearchNodes(query="payment"))

    assert labels(page)[0] == "Payment"
    scores = [found.score for found in page.found]
    assert scores[0] == 1
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_when_no_node_has_every_word_those_with_some_are_found(graph: Graph):
    page = graph.do(SearchNodes(query="postgres catalogue"))

    assert not page.all_words
    assert set(labels(page)) == {"Postgres database", "Service catalogue"}


def test_a_kind_narrows_the_search(graph: Graph):
    assert search(graph, "service", kind="document") == ["Service catalogue"]
    assert search(graph, "service", kind="nothing") == []


def test_pages_together_are_the_whole_without_repeats(graph: Graph):
    for number in range(25):
        graph.node(f"river {number}")
    whole = graph.do(SearchNodes(query="river", limit=100))
    pages = [graph.do(SearchNodes(query="river", offset=offset, limit=7)) for offset in range(0, 28, 7)]

    assert [found for page in pages for found in page.found] == list(whole.found)
    assert {page.total for page in pages} == {25}


def test_what_is_not_on_the_map_is_not_found(graph: Graph):
    graph.do(RemoveNodes(("string-entity:node-1",)))
    assert search(graph, "payment") == ["Notes"]
    graph.world.undo()
    assert search(graph, "payment") == ["Payment Service", "Notes"]


@pytest.mark.parametrize("query", ["", "  ", "-_!", " ".join("abcdefghijklm")])
def test_a_query_without_words_or_with_too_many_is_refused(graph: Graph, query: str):
    with pytest.raises(InvalidArgumentError, match="query"):
        graph.do(SearchNodes(query=query))


@pytest.mark.parametrize(
    ("one", "other", "errors"),
    [("abc", "abc", 0), ("form", "from", 1), ("graph", "grph", 1), ("graph", "graphs", 1), ("kitten", "sitting", 3)],
)
def test_errors_of_typing_are_counted_with_swapped_letters_as_one(one: str, other: str, errors: int):
    assert differs_at_most(one, other, errors)
    assert differs_at_most(other, one, errors)
    assert not errors or not differs_at_most(one, other, errors - 1)


@EXAMPLES
@given(st.text("abcdef", min_size=4, max_size=10), st.integers(0, 9), st.sampled_from("abcdefz"), st.integers(0, 3))
def test_a_word_is_always_found_with_one_error(word: str, at: int, letter: str, how: int):
    at %= len(word)
    wrong = {
        0: word[:at] + letter + word[at + 1 :],
        1: word[:at] + letter + word[at:],
        2: word[:at] + word[at + 1 :],
        3: word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
    }[how]
    graph = Graph()
    graph.node(f"the {word}")
    found = graph.do(SearchNodes(query=wrong))
    assert labels(found) == [f"the {word}"] or not allowed_errors(wrong)


@pytest.mark.parametrize(("word", "wrong"), [("aabb", "abab"), ("abcdefg", "bacdegf"), ("abcdefgh", "abdcefg")])
def test_swapped_letters_are_found_in_the_shortest_words(word: str, wrong: str):
    graph = Graph()
    graph.node(word)
    assert search(graph, wrong) == [word]
