"""Records of a graph that came from elsewhere are held to what the commands promise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.drawing.geometry import Point
from engine.errors import EngineError
from engine.graph.records import GraphEdge, GraphFocus, GraphNode, KeptNode
from engine.graph.rules import RULES
from engine.records import Record

NODE = GraphNode(id="string-entity:a", kind="a", label="a", position=Point(0, 0), order=1)
EDGE = GraphEdge(id="string-entity:a->file:b", source="string-entity:a", target="file:b", order=1)


@pytest.mark.parametrize(
    "record",
    [
        replace(NODE, id="a"),
        replace(NODE, kind="A"),
        replace(NODE, label=""),
        replace(NODE, content="\x00"),
        replace(NODE, data="[]"),
        replace(NODE, data='{"b":1,"a":2}'),
        replace(NODE, data="{"),
        replace(NODE, data='{"a":' + "[" * 100_000 + "]" * 100_000 + "}"),
        replace(NODE, position=Point(float("inf"), 0)),
        replace(NODE, order=2**60),
        replace(NODE, identity="file:x"),
        KeptNode(id="file:x", kind="file", label="x", position=Point(0, 0)),
        replace(EDGE, id="other"),
        replace(EDGE, label=" x"),
        replace(EDGE, order=-(2**60)),
        GraphFocus(selected=tuple(f"file:{n}" for n in range(51))),
    ],
    ids=lambda record: repr(record)[:60],
)
def test_a_record_that_no_command_would_have_made_is_refused(record: Record):
    with pytest.raises(EngineError):
        RULES.check(record)


def test_what_commands_make_is_fine_and_edges_need_their_ends():
    for record in (NODE, EDGE, GraphFocus(), replace(NODE, data='{"a":[null]}', identity="identity:x")):
        RULES.check(record)
    assert list(RULES.references(EDGE)) == [("graph.node", "string-entity:a"), ("graph.node", "file:b")]
    assert list(RULES.references(NODE)) == []
