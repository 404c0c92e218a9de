"""The graph group: its presets, and the adapters of their tools. Owns names, defaults, risks and prompt fragments.

Source: agent-presets, "Built-In Presets", table "Graph". Two tools are not in the table: `space_graph_inspect`, since
every surface can be looked at page by page, and `space_graph_layout`, without which nobody could arrange a map.
"""

from __future__ import annotations

from functools import partial

from presets.adapters import ToolAdapter
from presets.builtins.built_in_preset import built_in_preset
from presets.builtins.graph_tools import edge_tools, identity_tools, inspect_tool, nav_tools, node_tools, state_tools
from presets.definition import DefaultState, PresetDefinition, Risk

_preset = partial(built_in_preset, group="graph", contexts=({"surface": "canvas", "activity": "graph"},))

_NODE_PROMPT = (
    "The user is working in a graph: a map of nodes with directed edges. Create nodes with space_graph_add_node, and "
    "load files of the workspace (file:<path>), nodes of other worlds (world:<world-id>/<node-id>) and nodes that were "
    "taken off the map with space_graph_load_node. Positions are graph units: +x moves right, +y moves up. Leave them "
    "out, and when you have built something call space_graph_layout, so that the map can be read."
)
_MAP_PROMPT = (
    "space_graph_remove_nodes takes nodes off the map only; what they stand for stays and can be loaded again."
)
_EDGE_PROMPT = "An edge leads from one node to another and says what it means by its label; there is one per direction."
_NAV_PROMPT = (
    "Find nodes with space_graph_search_nodes, look through the map page by page with space_graph_inspect, and read "
    "all of a node with space_graph_open_node. Ask for what you need; a map may hold a hundred thousand nodes."
)
_IDENTITY_PROMPT = (
    "An identity is one person or thing under one name, which several nodes can share. Creating it again gives the "
    "same one."
)
_STATE_PROMPT = (
    "space_graph_restore_state makes the map exactly what you give it, and what is not in it goes off the map: use it "
    "only when the user asked for it, with a state from space_graph_get_state."
)


def adapters() -> tuple[ToolAdapter, ...]:
    """The 12 tools of the graph."""
    return (
        *node_tools.adapters(),
        *edge_tools.adapters(),
        *nav_tools.adapters(),
        *inspect_tool.adapters(),
        *identity_tools.adapters(),
        *state_tools.adapters(),
    )


def presets() -> tuple[PresetDefinition, ...]:
    """The six presets of the graph, in the order of the document's table."""
    return (
        _preset("graph-node-tools", ("add-node", "load-node", "layout"), prompt=_NODE_PROMPT),
        # On by default although it removes: only from the map, as the document's table has it.
        _preset(
            "graph-node-map-tools",
            ("remove-nodes",),
            risk=Risk.DESTRUCTIVE,
            default_state=DefaultState.AUTO,
            prompt=_MAP_PROMPT,
        ),
        _preset("graph-edge-tools", ("add-edge",), prompt=_EDGE_PROMPT),
        _preset("graph-nav-tools", ("focus-node", "open-node", "search-nodes", "inspect"), prompt=_NAV_PROMPT),
        _preset("graph-identity-tools", ("create-identity",), prompt=_IDENTITY_PROMPT),
        _preset(
            "graph-state-tools",
            ("get-state", "restore-state"),
            risk=Risk.DESTRUCTIVE,
            prompt=_STATE_PROMPT,
        ),
    )
