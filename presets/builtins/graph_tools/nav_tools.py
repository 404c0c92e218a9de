"""The tools that find a node and look at it: search, focus, open."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from engine.graph.navigate import FocusNode, OpenNode
from engine.graph.search import Found, SearchNodes
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.graph_tools.arguments import LOAD_HELP, KindWord, NodeId
from presets.builtins.graph_tools.loading import load
from presets.builtins.graph_tools.results import (
    PAGE_BUDGET,
    EdgeResult,
    NodeResult,
    data_of,
    excerpt_of,
    members_of,
)
from presets.builtins.page import PageArguments, within_budget
from presets.schema import ToolResult, WriteArguments
from protocol.tool import ToolCall

MAX_QUERY_LENGTH = 200
MAX_FOUND = 100
"""Most nodes of one page of a search; their bytes may end it earlier."""
EDGES_BUDGET = 6 * 1024
"""Bytes of JSON for the edges of each direction that an open node shows."""


class WhichNodeArguments(WriteArguments):
    """Which node."""

    id: NodeId = Field(description=LOAD_HELP)


class FocusNodeResult(NodeResult):
    """The node in focus. `loaded` says that it had to be brought onto the map; `changed` that anything did."""

    loaded: bool
    changed: bool
    revision: int


class OpenNodeResult(NodeResult):
    """The open node with all that is in it, and the first of its edges and of the nodes that share it."""

    content: str | None = None
    data: dict[str, Any] | None = None
    outgoing_count: int
    outgoing: list[EdgeResult]
    incoming_count: int
    incoming: list[EdgeResult]
    shared_by: int
    sharing_ids: list[str]
    loaded: bool
    changed: bool
    revision: int


class SearchNodesArguments(PageArguments):
    """What to look for."""

    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY_LENGTH)] = Field(
        description="Words of a label, a content, data or a path, whole, in part or misspelled; or an id."
    )
    kind: KindWord | None = Field(None, description="Only nodes of this kind.")
    limit: Annotated[int, Field(ge=1, le=MAX_FOUND)] = Field(20, description="Nodes per page.")


class FoundNode(NodeResult):
    """A node that was found. `score` is 1 where its label or id is the query, and above 0 in any case."""

    score: float
    excerpt: str | None = None


class SearchNodesResult(ToolResult):
    """The nodes, best first. `total` counts all; `next` is the offset of the page after this.

    `all_words` is false when no node meets every word of the query, so those are listed that meet some.
    """

    total: int
    all_words: bool
    nodes: list[FoundNode]
    next: int | None
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """`graph.focus-node`, `graph.open-node` and `graph.search-nodes`."""
    return (
        typed_adapter(
            id="graph.focus-node",
            mcp_name="space_graph_focus_node",
            title="Focus a node",
            description="Select one node and put it in focus, as a user would by clicking it.",
            arguments=WhichNodeArguments,
            result=FocusNodeResult,
            run=_focus_node,
            idempotent=True,
        ),
        typed_adapter(
            id="graph.open-node",
            mcp_name="space_graph_open_node",
            title="Open a node",
            description="Focus a node and read all of it: content, data, its first edges, and who shares it.",
            arguments=WhichNodeArguments,
            result=OpenNodeResult,
            run=_open_node,
            idempotent=True,
        ),
        typed_adapter(
            id="graph.search-nodes",
            mcp_name="space_graph_search_nodes",
            title="Search the graph",
            description="Find nodes of the map by words of their label, content, data or path; misspelled words are "
            "found too. Best first, with ids and labels; when `next` is present there are more: call again with it as "
            "offset.",
            arguments=SearchNodesArguments,
            result=SearchNodesResult,
            run=_search_nodes,
            read_only=True,
            idempotent=True,
        ),
    )


async def _focus_node(app: App, arguments: WhichNodeArguments, call: ToolCall) -> FocusNodeResult:
    del call
    key, loaded = await load(app, arguments.id)
    done = await app.execute(FocusNode(key=key, loaded=loaded))
    shown = done.result
    return FocusNodeResult(**members_of(shown.node), loaded=shown.loaded, changed=done.changed, revision=done.revision)


async def _open_node(app: App, arguments: WhichNodeArguments, call: ToolCall) -> OpenNodeResult:
    del call
    key, loaded = await load(app, arguments.id)
    done = await app.execute(OpenNode(key=key, loaded=loaded))
    seen = done.result
    return OpenNodeResult(
        **members_of(seen.node),
        content=seen.node.content or None,
        data=data_of(seen.node),
        outgoing_count=seen.outgoing_count,
        outgoing=list(within_budget(map(EdgeResult.of, seen.outgoing), EDGES_BUDGET)),
        incoming_count=seen.incoming_count,
        incoming=list(within_budget(map(EdgeResult.of, seen.incoming), EDGES_BUDGET)),
        shared_by=seen.sharing_count,
        sharing_ids=list(seen.sharing),
        loaded=seen.loaded,
        changed=done.changed,
        revision=done.revision,
    )


async def _search_nodes(app: App, arguments: SearchNodesArguments, call: ToolCall) -> SearchNodesResult:
    del call
    command = SearchNodes(query=arguments.query, kind=arguments.kind, offset=arguments.offset, limit=arguments.limit)
    done = await app.execute(command)
    page = done.result
    nodes = list(within_budget(map(_found, page.found), PAGE_BUDGET))
    end = arguments.offset + len(nodes)
    return SearchNodesResult(
        total=page.total,
        all_words=page.all_words,
        nodes=nodes,
        next=end if nodes and end < page.total else None,
        revision=done.revision,
    )


def _found(found: Found) -> FoundNode:
    return FoundNode(**members_of(found.node), score=round(found.score, 3), excerpt=excerpt_of(found.node.content))
