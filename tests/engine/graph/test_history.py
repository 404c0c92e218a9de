"""Whatever is done to a graph can be taken back and done again exactly, and the indexes always agree with the table."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engine.codec import Codec
from engine.domains import RECORD_TYPES
from engine.drawing.geometry import Bounds
from engine.errors import EngineError
from engine.graph.document import focus_of
from engine.graph.index import GraphIndex
from engine.graph.navigate import FocusNode, OpenNode
from engine.graph.records import GraphEdge, GraphNode, KeptNode
from engine.graph.rules import RULES
from engine.graph.search_index import SearchIndex
from engine.records import Record, RecordTable, Transaction
from engine.world import Command
from tests.engine.graph.samples import Graph, asides, steps

SOME_BOX = Bounds(-300, -300, 300, 300)
CODEC = Codec(RECORD_TYPES)


def index_facts(table: RecordTable) -> object:
    """Everything that the indexes say."""
    graph, search = table.index(GraphIndex), table.index(SearchIndex)
    nodes = list(graph.nodes)
    return {
        "nodes": nodes,
        "edges": list(graph.edges),
        "kinds": {kind: list(graph.of_kind(kind)) for kind in graph.kinds()},
        "ends": {key: (list(graph.outgoing(key)), list(graph.incoming(key))) for key in nodes},
        "sharing": {key: list(graph.sharing(f"identity:identity-{key}")) for key in "12"},
        "named": [graph.identities_named(name) for name in ("red fox", "river", "a b c")],
        "around": graph.around,
        "box": graph.within(SOME_BOX),
        "free": graph.places.first_free(),
        "search": {
            word: {tier.worth: sorted(tier.keys) for tier in search.tiers(word)}
            for word in ("red", "riv", "o", "rivre", "x", "12", "txt")
        },
        "labelled": sorted(search.labelled("red  FOX")),
    }


class GraphHistory(RuleBasedStateMachine):
    """A world in which anything is done, undone and done again."""

    def __init__(self) -> None:
        super().__init__()
        self.graph = Graph()
        index_facts(self.graph.table)
        self.states: dict[int, dict[tuple[str, str], Record]] = {0: self.graph.content()}

    def do(self, command: Command[object]) -> None:
        before = self.graph.records()
        try:
            self.graph.do(command)
        except EngineError:
            assert self.graph.records() == before
        self.states[self.graph.world.undo_count] = self.graph.content()

    @rule(command=steps)
    def step(self, command: Command[object]) -> None:
        self.do(command)

    @rule(command=asides)
    def look(self, command: Command[object]) -> None:
        self.do(command)

    @rule()
    def restore_what_is_there(self) -> None:
        before, count = self.graph.content(), self.graph.world.undo_count
        shown = {key: record for key, record in before.items() if key[0] != KeptNode.collection}
        self.do(self.graph.state())
        assert without_order(self.graph.content()) == without_order(before)
        assert shown.keys() <= self.graph.content().keys()
        assert self.graph.world.undo_count <= count + 1

    @rule()
    @precondition(lambda self: self.graph.ids())
    def arrange(self) -> None:
        self.graph.arrange()
        self.states[self.graph.world.undo_count] = self.graph.content()

    @rule(back=st.lists(st.booleans(), min_size=1, max_size=6))
    def go_through_the_history(self, back: list[bool]) -> None:
        for undo in back:
            with suppress(EngineError):
                (self.graph.world.undo if undo else self.graph.world.redo)()
            assert self.graph.content() == self.states[self.graph.world.undo_count]

    @invariant()
    def the_indexes_are_exact(self) -> None:
        assert index_facts(self.graph.table) == index_facts(RecordTable(self.graph.table))

    @invariant()
    def everything_hangs_together(self) -> None:
        table = self.graph.table
        for record in table:
            if record.collection in RULES.collections:
                RULES.check(record)
                assert all(table.find(*key) is not None for key in RULES.references(record))
            assert CODEC.decode(record.collection, record.id, CODEC.encode(record)) == record
        focus = focus_of(table)
        assert {*focus.selected, *filter(None, (focus.focused, focus.opened))} <= set(self.graph.ids())
        kept = {node.id for node in table.all(KeptNode)}
        assert not kept & set(self.graph.ids())
        for edge in table.all(GraphEdge):
            assert table.get(GraphNode, edge.source)


def without_order(content: dict[tuple[str, str], Record]) -> dict[tuple[str, str], str]:
    return {key: repr(record).partition(" order=")[0] for key, record in content.items()}


GraphHistory.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
TestGraphHistory = GraphHistory.TestCase


def test_a_refused_command_leaves_the_indexes_exact():
    class Fails(Command[None]):
        label = "fail"

        def run(self, world: Transaction) -> None:
            world.put(GraphNode(id="string-entity:x", kind="a", label="b", position=graph.get(first).position, order=9))
            world.remove(GraphNode, first)
            raise EngineError("no")

    graph = Graph()
    first = graph.node("river")
    before, facts = graph.records(), index_facts(graph.table)

    with suppress(EngineError):
        graph.do(Fails())

    assert graph.records() == before
    assert index_facts(graph.table) == facts


def test_looking_at_nodes_is_no_step_of_the_history():
    graph = Graph()
    key = graph.node()

    graph.do(FocusNode(key=key))
    graph.do(OpenNode(key=key))

    assert graph.world.undo_count == 1
    graph.world.undo()
    assert focus_of(graph.table).selected == ()
