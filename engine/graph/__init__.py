"""The graph: a map of nodes and directed edges on the records of a world, with identities that nodes share.

Everything here is synchronous and pure. Names, rules and limits: docs/graph.md; source: agent-presets, "Graph".
"""

from __future__ import annotations

from engine.graph.document import selection_kind
from engine.graph.map_picture import GraphPicture, picture
from engine.graph.records import RECORD_TYPES

__all__ = ["RECORD_TYPES", "GraphPicture", "picture", "selection_kind"]
