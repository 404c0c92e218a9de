"""Keys: how a node is named, and where it comes from. Owns their form; never loads anything.

`string-entity:<id>` and `identity:<id>` are kept by the world, `file:<path>` is an entry of the workspace folder, and
`world:<world-id>/<key>` is a node of another world. Source: findings on the existing tools, section 0.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from engine.errors import InvalidArgumentError
from engine.graph.words import checked_printable

Origin = Literal["string-entity", "identity", "file", "world"]

MAX_KEY_LENGTH = 512
"""Characters. Longer paths exist, but nobody reads them in a list."""

ENTITY_ORIGINS = frozenset({"string-entity", "identity"})
"""Origins whose nodes the world itself keeps, also when they are off the map."""

KEY_FORMS = "string-entity:<id>, identity:<id>, file:<path in the workspace> and world:<world-id>/<id of a node there>"
"""The forms of a key, for errors and descriptions."""

_ORIGINS = frozenset({"string-entity", "identity", "file", "world"})
_ARROW = "->"


@dataclass(frozen=True, slots=True)
class Key:
    """A key in its two parts."""

    origin: Origin
    rest: str

    @property
    def text(self) -> str:
        """The key as it is written."""
        return f"{self.origin}:{self.rest}"


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """What the rest of a `world:` key says: which world, and the key of the node there."""

    world_id: str
    node: str


def parse_key(text: str, name: str = "id") -> Key:
    """Read a key. Raises `InvalidArgumentError`, naming the argument, for what is none."""
    origin, colon, rest = text.partition(":")
    if not colon or origin not in _ORIGINS or not rest.strip():
        raise InvalidArgumentError(f"{name} {text!r:.120} is no id of a node; ids are {KEY_FORMS}.")
    if len(text) > MAX_KEY_LENGTH:
        raise InvalidArgumentError(f"{name} must have at most {MAX_KEY_LENGTH} characters; got {len(text)}.")
    if _ARROW in text:
        raise InvalidArgumentError(
            f"{name} {text!r:.120} must not hold '->', which stands between the ends of an edge."
        )
    checked_printable(text, name)
    key = Key(cast("Origin", origin), rest)
    if origin == "world":
        foreign_key(key)
    return key


def foreign_key(key: Key) -> ForeignKey:
    """The two parts of a `world:` key. Raises `InvalidArgumentError` when one is missing."""
    world_id, slash, node = key.rest.partition("/")
    if not slash or not world_id or not node:
        raise InvalidArgumentError(
            f"{key.text!r:.120} must name a world and a node of it, as in 'world:world-2/string-entity:node-1'."
        )
    return ForeignKey(world_id, node)


def is_entity(key: str) -> bool:
    """Whether the world itself keeps the node of that key when it is taken off the map."""
    return key.partition(":")[0] in ENTITY_ORIGINS


def is_identity(key: str) -> bool:
    """Whether it is the key of an identity."""
    return key.startswith("identity:")


def check_kept_node(key: str, identity: str | None, name: str) -> None:
    """Refuse a node that no tool would have made: an identity that shares one, a path that leads out of the workspace.

    Raises `InvalidArgumentError`, naming the node as `name`.
    """
    origin, _, rest = key.partition(":")
    if is_identity(key) and identity is not None:
        raise InvalidArgumentError(f"{name}: {key!r:.120} is an identity; only other nodes can share one.")
    if origin == "file" and (rest.startswith("/") or ".." in rest.split("/")):
        raise InvalidArgumentError(f"{name}: {key!r:.120} must be a path inside the workspace, from its root.")
