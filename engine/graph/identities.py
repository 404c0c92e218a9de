"""The command that makes an identity: one thing under one name, which any number of nodes can share.

Owns what makes two identities the same: their names, whatever their case, width and spacing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from engine.errors import InvalidArgumentError
from engine.graph.document import demand_node
from engine.graph.index import GraphIndex
from engine.graph.keys import is_identity
from engine.graph.nodes import ensure_shown, new_key, placed
from engine.graph.records import GraphNode
from engine.graph.words import canonical_data, checked_edge_label, checked_label, data_value
from engine.records import Transaction
from engine.world import Command

IDENTITY = "identity"
"""The kind of identities."""
ROLE = "role"
"""The member of an identity's data that holds its role."""


@dataclass(frozen=True, slots=True)
class Identified:
    """The identity, whether it is new, and how many nodes of the map share it now."""

    node: GraphNode
    created: bool
    sharing_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateIdentity(Command[Identified]):
    """Make the identity of that name, or find it, and show it on the map; `members` share it from now on.

    A role that is given replaces the one there was. Raises `NotFoundError` when a member is not on the map, and
    `InvalidArgumentError` when one is an identity itself.
    """

    label = "create identity"
    name: str
    role: str | None = None
    members: tuple[str, ...] = ()

    def run(self, world: Transaction) -> Identified:
        """Create it."""
        name = checked_label(self.name, "name")
        index = world.index(GraphIndex)
        known = index.identities_named(name)
        if known:
            node = ensure_shown(world, known[0]).node
        else:
            node = GraphNode(
                id=new_key(world, "identity", "identity"),
                kind=IDENTITY,
                label=name,
                position=placed(world, None),
                order=index.nodes.top + 1,
            )
        if self.role is not None:
            role = checked_edge_label(self.role, "role")
            node = replace(node, data=canonical_data({**data_value(node.data), ROLE: role}))
        world.put(node)
        for member in self.members:
            if is_identity(member):
                raise InvalidArgumentError(f"nodes: {member!r:.120} is an identity; only other nodes can share one.")
            world.put(replace(demand_node(world, member, "nodes"), identity=node.id))
        return Identified(node, not known, len(index.sharing(node.id)))


def role_of(node: GraphNode) -> str | None:
    """The role of an identity, where it has one."""
    role = json.loads(node.data).get(ROLE)
    return role if isinstance(role, str) and role else None
