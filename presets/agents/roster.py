"""The roster: every agent there is, usable or not, from the folders that ship with Space and from the user's.

Owns the reading of those folders, whose id wins, and the order. A broken folder costs its own agent and no other.
Source: tool-presentation, "Consequences" (the roster of four); the user's agents lie in the data folder.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from engine.errors import NotFoundError
from presets.agents.composition import InvalidCompositionError, parse_composition
from presets.agents.definition import (
    COMPOSITION_FILE,
    METADATA_FILE,
    AgentDefinition,
    Trust,
    UnusableAgent,
    UnusableAgentError,
)
from presets.agents.metadata import read_metadata
from presets.agents.yaml_file import YamlFileError, read_yaml
from presets.suggestions import close_names, did_you_mean, quoted

SHIPPED_ROOT = Path(__file__).parent / "shipped"
"""The folder of the agents that ship with Space."""

DEFAULT_AGENT = "standard"
"""The agent of whoever names none."""

AGENT_ALIASES: Mapping[str, str] = MappingProxyType({})
"""Former id → present id. A shipped agent that gets another id leaves its old one here: configurations keep it."""

MAX_AGENTS = 500
"""Folders of one root that are read. More are not agents that somebody wrote."""

AGENT_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""What the id of an agent is made of: it is a folder's name, a part of an address and the name of a file."""


class UnknownAgentError(NotFoundError):
    """Raised for an id that names no agent. The text offers close ids, or all of them."""


@dataclass(frozen=True, slots=True)
class Roster:
    """Every agent. `agents` can be used, in the order in which people see them: those that ship with Space first, in
    each part by their order and then by id. `unusable` are listed with their reasons; one may have the id of a usable
    agent, which it then does not touch. `problems` says what was not even read.
    """

    agents: tuple[AgentDefinition, ...] = ()
    unusable: tuple[UnusableAgent, ...] = ()
    problems: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=lambda: AGENT_ALIASES)

    @classmethod
    def load(
        cls,
        shipped_root: Path = SHIPPED_ROOT,
        user_root: Path | None = None,
        aliases: Mapping[str, str] = AGENT_ALIASES,
    ) -> Roster:
        """Read both roots as they are now. A root that does not exist holds nothing. Never raises for what lies there.

        Reads files: call it off the event loop.
        """
        shipped = _read_root(shipped_root, Trust.SHIPPED)
        taken = {agent.id for agent in shipped.agents} | {agent.id for agent in shipped.unusable}
        user = _Root() if user_root is None else _read_root(user_root, Trust.USER, taken, aliases)
        return cls(
            tuple(sorted((*shipped.agents, *user.agents), key=_place)),
            tuple(sorted((*shipped.unusable, *user.unusable), key=lambda agent: agent.id)),
            (*shipped.problems, *user.problems),
            MappingProxyType(dict(aliases)),
        )

    def canonical(self, agent_id: str) -> str:
        """The present id behind a former one; any other id is its own."""
        seen: set[str] = set()
        while agent_id not in seen and not self._has(agent_id) and agent_id in self.aliases:
            seen.add(agent_id)
            agent_id = self.aliases[agent_id]
        return agent_id

    def get(self, agent_id: str) -> AgentDefinition | UnusableAgent | None:
        """The agent of that id or former id, usable or not; None where there is none."""
        wanted = self.canonical(agent_id)
        return next((agent for agent in (*self.agents, *self.unusable) if agent.id == wanted), None)

    def resolve(self, agent_id: str = DEFAULT_AGENT) -> AgentDefinition:
        """The usable agent of that id or former id. Raises `UnknownAgentError` or `UnusableAgentError`."""
        match self.get(agent_id):
            case AgentDefinition() as agent:
                return agent
            case UnusableAgent() as agent:
                raise UnusableAgentError(agent)
            case None:
                ids = [agent.id for agent in self.agents]
                close = did_you_mean(close_names(agent_id, ids)) or f" There are: {', '.join(ids) or '(none)'}."
                raise UnknownAgentError(f"there is no agent {quoted(agent_id)}.{close}")

    def checked(self, check: Callable[[AgentDefinition], UnusableAgent | None]) -> Roster:
        """The same roster, in which each usable agent that `check` gives a reason for is unusable."""
        found = [(agent, check(agent)) for agent in self.agents]
        failed = [unusable for _, unusable in found if unusable is not None]
        return replace(
            self,
            agents=tuple(agent for agent, unusable in found if unusable is None),
            unusable=tuple(sorted((*self.unusable, *failed), key=lambda agent: agent.id)),
        )

    def _has(self, agent_id: str) -> bool:
        return any(agent.id == agent_id for agent in (*self.agents, *self.unusable))


@dataclass(frozen=True, slots=True)
class _Root:
    agents: tuple[AgentDefinition, ...] = ()
    unusable: tuple[UnusableAgent, ...] = ()
    problems: tuple[str, ...] = ()


def _read_root(
    root: Path, trust: Trust, taken: set[str] | None = None, aliases: Mapping[str, str] | None = None
) -> _Root:
    try:
        with os.scandir(root) as entries:
            folders = sorted(entry.name for entry in entries if _may_be_folder(entry))
    except FileNotFoundError:
        return _Root()
    except OSError as error:
        return _Root(problems=(f"the agents in {root} cannot be read: {error.strerror or error}",))
    agents: list[AgentDefinition] = []
    unusable: list[UnusableAgent] = []
    problems: list[str] = []
    if len(folders) > MAX_AGENTS:
        problems.append(f"{root} has {len(folders)} folders; the first {MAX_AGENTS} by name are read")
    for name in folders[:MAX_AGENTS]:
        path = root / name
        if AGENT_ID.fullmatch(name) is None:
            if not name.startswith(".") and _is_there(path / COMPOSITION_FILE):
                problems.append(
                    f"{path} is no agent: its name, which is the agent's id, may have small letters and digits, and "
                    "'-' between them"
                )
            continue
        if refusal := _whose(name, taken or set(), aliases or {}):
            unusable.append(UnusableAgent(id=name, path=path, trust=trust, reason=refusal))
            continue
        match _read_agent(path, trust):
            case AgentDefinition() as agent:
                agents.append(agent)
            case UnusableAgent() as agent:
                unusable.append(agent)
    return _Root(tuple(agents), tuple(unusable), tuple(problems))


def _whose(name: str, taken: set[str], aliases: Mapping[str, str]) -> str | None:
    """Why the user's folder cannot have this name, since nobody may stand in for an agent that ships with Space."""
    if name in taken:
        return f"the id {name!r} belongs to an agent that ships with Space; give the folder another name"
    if aliases.get(name) in taken:
        return f"{name!r} is the former id of {aliases[name]!r}, which ships with Space; give the folder another name"
    return None


def _read_agent(path: Path, trust: Trust) -> AgentDefinition | UnusableAgent:
    file = path / COMPOSITION_FILE
    inside = folder_of_links(path, trust)
    try:
        rows = parse_composition(read_yaml(file, inside=inside))
    except YamlFileError as error:
        return UnusableAgent(id=path.name, path=file, trust=trust, reason=str(error))
    except InvalidCompositionError as error:
        first, *others = error.faults
        more = "".join(f"; row {fault.row}: {fault.reason}" for fault in others)
        return UnusableAgent(id=path.name, path=file, trust=trust, row=first.row, reason=first.reason + more)
    shown = read_metadata(path / METADATA_FILE, inside=inside)
    return AgentDefinition(
        id=path.name,
        path=path,
        trust=trust,
        rows=rows,
        names=shown.names,
        descriptions=shown.descriptions,
        order=shown.order,
    )


def folder_of_links(path: Path, trust: Trust) -> Path | None:
    """The folder that links in an agent's folder may not lead out of; None where they may.

    What a user's folder holds is shown to whoever asks for the agent. What ships with Space may be installed as links.
    """
    return path if trust is Trust.USER else None


def _may_be_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # It will be read all the same, and then says why it cannot be.
        return True


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _place(agent: AgentDefinition) -> tuple[bool, float, str]:
    return (agent.trust is not Trust.SHIPPED, math.inf if agent.order is None else agent.order, agent.id)
