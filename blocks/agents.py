"""Agents whose prompt is made of blocks: what one is, and the registry of them. Owns both; makes no prompt itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from blocks.block import ContextBlock
from blocks.context import AgentBlockContext, ToolOffer
from engine.errors import InvalidArgumentError, NotFoundError

_AGENT_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*")

MAX_AGENT_NAME_LENGTH = 100
"""Characters: the name is part of a file's name, which most file systems limit to 255 bytes."""


class UnknownAgentError(NotFoundError):
    """Raised when a name names no registered agent. The text names those that there are."""


def is_agent_name(text: str) -> bool:
    """Whether an agent can have that name: words of `a-z`, `0-9` and dashes, joined by dots. So it is also safe in a
    path.
    """
    return len(text) <= MAX_AGENT_NAME_LENGTH and _AGENT_NAME.fullmatch(text) is not None


def _as_it_is(context: AgentBlockContext) -> AgentBlockContext:
    return context


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentBlockDefinition:
    """An agent: how it is shown, which blocks it has by default, and which tools there are for it.

    `create_default_blocks` is pure; it leaves out blocks that would say nothing. `available_tools` is what a run of it
    usually offers: for the editor. `stand_ins` puts examples into a context for a preview, where a run would have
    what it is asked to do. Raises `InvalidArgumentError` for a name that no agent can have.
    """

    agent_name: str
    display_name: str
    description: str
    create_default_blocks: Callable[[AgentBlockContext], Sequence[ContextBlock]]
    available_tools: tuple[ToolOffer, ...] = ()
    stand_ins: Callable[[AgentBlockContext], AgentBlockContext] = _as_it_is

    def __post_init__(self) -> None:
        if not is_agent_name(self.agent_name):
            raise InvalidArgumentError(
                f"an agent cannot be named {self.agent_name[:80]!r}: words of a-z, 0-9 and dashes, joined by dots, "
                "such as 'librarian.chat'"
            )


class AgentBlockRegistry:
    """Agents by name, in the order in which they were first registered."""

    def __init__(self, definitions: Iterable[AgentBlockDefinition] = ()) -> None:
        self._definitions: dict[str, AgentBlockDefinition] = {}
        for definition in definitions:
            self.register(definition)

    def register(self, definition: AgentBlockDefinition) -> None:
        """Add an agent, or replace the one of that name in its place."""
        self._definitions[definition.agent_name] = definition

    def get(self, agent_name: str) -> AgentBlockDefinition | None:
        """The agent of that name, or None."""
        return self._definitions.get(agent_name)

    def require(self, agent_name: str) -> AgentBlockDefinition:
        """The agent of that name. Raises `UnknownAgentError`."""
        definition = self._definitions.get(agent_name)
        if definition is None:
            known = ", ".join(self._definitions) or "none"
            raise UnknownAgentError(f"there is no agent {agent_name[:80]!r}; there are: {known}")
        return definition

    def list(self) -> tuple[AgentBlockDefinition, ...]:
        """Every agent, in order of registration."""
        return tuple(self._definitions.values())

    def __contains__(self, agent_name: object) -> bool:
        return agent_name in self._definitions

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)
