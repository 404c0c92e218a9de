"""What a state must not hold, since no tool would have put it on the map."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import InvalidArgumentError
from engine.graph.state import NodeState, RestoreState
from tests.engine.graph.samples import Graph


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({"id": "file:../../etc/passwd", "kind": "file"}, "inside the workspace"),
        ({"id": "file:/etc/passwd", "kind": "file"}, "inside the workspace"),
        ({"id": "identity:identity-1", "kind": "identity", "identity": "identity:identity-1"}, "only other nodes"),
    ],
    ids=["a path that leads out", "an absolute path", "an identity that shares one"],
)
def test_a_node_that_no_tool_would_have_made_is_not_restored(node: dict[str, Any], words: str) -> None:
    graph = Graph()
    state = NodeState(label="odd", position=(0.0, 0.0), **node)
    with pytest.raises(InvalidArgumentError, match=words):
        graph.do(RestoreState(nodes=(state,), edges=()))
    assert graph.ids() == []
