"""Commands that bring nodes onto the map and take them off it. Owns what makes a node valid, and where it is put."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.drawing.geometry import Point, checked_number
from engine.errors import NotFoundError
from engine.graph.document import demand_node, focus_of, set_focus
from engine.graph.index import GraphIndex
from engine.graph.keys import KEY_FORMS, Origin, is_entity, is_identity, parse_key
from engine.graph.records import NO_DATA, GraphEdge, GraphFocus, GraphNode, KeptNode
from engine.graph.words import canonical_data, checked_content, checked_kind, checked_label
from engine.records import Transaction
from engine.world import Command

STRING_ENTITY = "string-entity"
"""The kind of a node of which nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What a loader knows of a node that lies outside the world: an entry of a folder, a node of another world.

    Whoever makes it has checked it as `AddNode` would.
    """

    key: str
    kind: str
    label: str
    content: str = ""
    data: str = NO_DATA


@dataclass(frozen=True, slots=True)
class Shown:
    """A node of the map, and whether the command brought it there."""

    node: GraphNode
    loaded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AddNode(Command[GraphNode]):
    """Make a string entity and show it on the map, at a free place unless one is given.

    Raises `InvalidArgumentError` for words, data or a position that cannot be, `NotFoundError` for an unknown identity.
    """

    label = "add node"
    title: str
    kind: str = STRING_ENTITY
    content: str = ""
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    position: tuple[float, float] | None = None
    identity: str | None = None

    def run(self, world: Transaction) -> GraphNode:
        """Add it."""
        index = world.index(GraphIndex)
        if self.identity is not None:
            demand_identity(world, self.identity)
        node = GraphNode(
            id=new_key(world, "string-entity", "node"),
            kind=checked_kind(self.kind),
            label=checked_label(self.title),
            content=checked_content(self.content),
            data=canonical_data(self.data),
            position=placed(world, self.position),
            order=index.nodes.top + 1,
            identity=self.identity,
        )
        world.put(node)
        return node


@dataclass(frozen=True, slots=True)
class IsShown(Command[bool]):
    """Whether the node of that key is on the map or kept by this world, so that nothing need be loaded for it."""

    label = "look for a node"
    key: str

    def run(self, world: Transaction) -> bool:
        """Look."""
        return is_known(world, self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadNode(Command[Shown]):
    """Bring a node onto the map, if it is not there, and focus it.

    `loaded` is what its loader knows, for nodes from outside; where the node is there already it is taken over only
    with `refresh`, and is said to be loaded when that changed something. Raises `NotFoundError` for a key that nothing
    stands for.
    """

    label = "load node"
    key: str
    loaded: Loaded | None = None
    position: tuple[float, float] | None = None
    refresh: bool = False

    def run(self, world: Transaction) -> Shown:
        """Load it."""
        there = world.get(GraphNode, self.key)
        shown = ensure_shown(world, self.key, self.loaded, self.position)
        node, changed = shown.node, shown.loaded
        if there is not None:
            changed = False
            if self.refresh and self.loaded is not None:
                node = _over(node, self.loaded)
            if self.position is not None:
                node = replace(node, position=placed(world, self.position))
            if node != there:
                world.put(node)
                changed = True
        set_focus(world, _focused(world, node.id), undoable=changed)
        return Shown(node, changed)


@dataclass(frozen=True, slots=True)
class Removed:
    """What was taken off the map."""

    nodes: tuple[str, ...]
    edge_count: int


@dataclass(frozen=True, slots=True)
class RemoveNodes(Command[Removed]):
    """Take nodes off the map, with the edges that touch them. String entities and identities can be loaded again.

    Raises `NotFoundError` when one of them is not on the map; then none is removed.
    """

    label = "remove nodes"
    keys: tuple[str, ...]

    def run(self, world: Transaction) -> Removed:
        """Remove them."""
        keys = tuple(dict.fromkeys(self.keys))
        missing = [key for key in keys if world.get(GraphNode, key) is None]
        if missing:
            raise NotFoundError(
                f"{len(missing)} of {len(keys)} ids are not on the map: "
                f"{', '.join(repr(key)[:120] for key in missing[:_NAMED])}. Nothing was removed."
            )
        edge_count = sum(take_off(world, key) for key in keys)
        set_focus(world, focus_of(world))
        return Removed(keys, edge_count)


_NAMED = 10
"""How many missing ids an error names."""


def take_off(world: Transaction, key: str) -> int:
    """Take a node off the map together with its edges, and say how many those were."""
    index = world.index(GraphIndex)
    edges = dict.fromkeys((*index.outgoing(key), *index.incoming(key)))
    for edge in reversed(edges):  # from the newest, where the index lets go fastest
        world.remove(GraphEdge, edge)
    node = demand_node(world, key)
    world.remove(GraphNode, key)
    if is_entity(key):
        world.put(
            KeptNode(
                id=key,
                kind=node.kind,
                label=node.label,
                content=node.content,
                data=node.data,
                position=node.position,
                identity=node.identity,
            )
        )
    return len(edges)


def is_known(world: Transaction, key: str) -> bool:
    """Whether the world has the node of that key, on the map or kept."""
    return world.get(GraphNode, key) is not None or world.get(KeptNode, key) is not None


def new_key(world: Transaction, origin: Origin, series: str) -> str:
    """A key that no node of this world has."""
    while is_known(world, key := f"{origin}:{world.new_id(series)}"):
        pass
    return key


def ensure_shown(
    world: Transaction,
    key: str,
    loaded: Loaded | None = None,
    position: tuple[float, float] | None = None,
    name: str = "id",
) -> Shown:
    """The node of the map of that key; brought there when the world keeps it, or when its loader gave it.

    Raises `NotFoundError`, naming the argument, when nothing stands for the key.
    """
    parse_key(key, name)
    there = world.get(GraphNode, key)
    if there is not None:
        return Shown(there, loaded=False)
    index, kept = world.index(GraphIndex), world.get(KeptNode, key)
    order = index.nodes.top + 1
    if kept is not None:
        back_where_it_was = position is None and index.places.is_free(kept.position)
        node = GraphNode(
            id=key,
            kind=kept.kind,
            label=kept.label,
            content=kept.content,
            data=kept.data,
            position=kept.position if back_where_it_was else placed(world, position),
            order=order,
            identity=kept.identity,
        )
        world.remove(KeptNode, key)
    elif loaded is not None:
        node = _over(GraphNode(id=key, kind="", label="", position=placed(world, position), order=order), loaded)
    else:
        raise NotFoundError(
            f"{name} {key!r:.120} names no node of this world. Ids are {KEY_FORMS}; search or inspect to find them, "
            "or add a node."
        )
    world.put(node)
    return Shown(node, loaded=True)


def demand_identity(world: Transaction, key: str) -> None:
    """Raise `NotFoundError` unless it is the key of an identity of this world, on the map or kept."""
    if not (is_identity(key) and is_known(world, key)):
        raise NotFoundError(f"identity {key!r:.120} is no identity of this world; create one first.")


def placed(world: Transaction, position: tuple[float, float] | None) -> Point:
    """That position, checked; the first free place for None. Raises `InvalidArgumentError`."""
    if position is None:
        return world.index(GraphIndex).places.first_free()
    return Point(checked_number(position[0], "x"), checked_number(position[1], "y"))


def _over(node: GraphNode, loaded: Loaded) -> GraphNode:
    return replace(node, kind=loaded.kind, label=loaded.label, content=loaded.content, data=loaded.data)


def _focused(world: Transaction, key: str) -> GraphFocus:
    return GraphFocus(selected=(key,), focused=key, opened=focus_of(world).opened)
