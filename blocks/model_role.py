"""The keys under which a model can be chosen for an agent, from the agent to everything. Owns the keys and their order.

An agent's name is such a key; each of its segments less is one for more agents, and `generation` is one for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

GENERATION = "generation"
"""The last key of every chain."""

Item = TypeVar("Item")

OLD_KEYS: Mapping[str, str] = {
    "characterChat": "character-chat.chat",
    "librarianChat": "librarian.chat",
    "librarianRefine": "librarian.refine",
    "proseTransform": "librarian.prose-transform",
    "prewriter": "generation.prewriter",
}
"""Keys of `modelOverrides` in stories of old, and what they are called now. An agent each, no namespace."""

OLD_FIELDS: Mapping[str, tuple[str, str]] = {
    "generation": ("providerId", "modelId"),
    "librarian": ("librarianProviderId", "librarianModelId"),
    "character-chat": ("characterChatProviderId", "characterChatModelId"),
    "librarian.prose-transform": ("proseTransformProviderId", "proseTransformModelId"),
    "librarian.chat": ("librarianChatProviderId", "librarianChatModelId"),
    "librarian.refine": ("librarianRefineProviderId", "librarianRefineModelId"),
    "directions": ("directionsProviderId", "directionsModelId"),
}
"""The fields of a story's settings in which still older stories have provider and model, by key."""


@dataclass(frozen=True, slots=True)
class ModelRole:
    """A key that settings offer for all agents of a namespace."""

    key: str
    label: str
    description: str


MODEL_ROLES = (
    ModelRole("generation", "Generation", "Main prose writing"),
    ModelRole("librarian", "Librarian", "Background analysis and summaries"),
    ModelRole("character-chat", "Character Chat", "In-character conversations"),
    ModelRole("directions", "Directions", "Story direction suggestions"),
)


def fallback_chain(role: str) -> tuple[str, ...]:
    """The keys that are asked for this role, the nearest first: itself, what is left of it without its last segment,
    and so on; at the end `generation`.
    """
    chain = [role]
    while "." in chain[-1]:
        chain.append(chain[-1].rpartition(".")[0])
    return tuple(chain) if chain[-1] == GENERATION else (*chain, GENERATION)


def normalized_overrides(overrides: Mapping[str, Item]) -> Mapping[str, Item]:
    """The overrides under their present keys, in their order. Of an old and a present key, the present one counts."""
    normalized: dict[str, Item] = {}
    for key, override in overrides.items():
        present = OLD_KEYS.get(key, key)
        if present == key or present not in normalized:
            normalized[present] = override
    return normalized
