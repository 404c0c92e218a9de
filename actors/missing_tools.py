"""The tools that a program does not have although they exist: their names, and why each is missing.

Owns the words with which a program, its check and its searches are told. Decides nothing: the projection and the
context do. Asked when somebody wants a tool that is not there, so it costs those that are nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from actors.agent_tools import AgentToolLists
from actors.call_gate import WhyNot
from engine.errors import EngineError
from presets.suggestions import quoted
from protocol.session import Audience
from sandbox.compiler_problems import Problem

_NO_MEMBER = re.compile(r"Property '(?P<name>[^'\n]*)' does not exist on type 'Tools'\.[^\n]*\s*\Z")
"""What the checker says at last of a tool that is not declared, with the names that it suggests."""


class MissingTools:
    """What one program is told of the tools that it does not have. `names` are those of them that exist."""

    def __init__(self, lists: AgentToolLists, why_not: WhyNot, audience: Audience, names: Collection[str]) -> None:
        self._lists = lists
        self._why_not = why_not
        self._audience = audience
        self.names = frozenset(names)

    async def why(self, name: str) -> str:
        """Why the tool of that name is missing, as things stand now. Never raises."""
        try:
            tools = self._lists.of(self._audience)
        except EngineError as error:
            return str(error)
        if tools.capabilities.get(name) is not None:
            return (
                f"Tool {quoted(name)} was not offered when this program began; it is now, so the next program has it."
            )
        return tools.why_hidden(name) or await self._why_not(name)

    def kept_away(self, name: str) -> bool:
        """Whether a scope of the agent hides the tool; whoever does not say its name then never hears of it."""
        try:
            return self._lists.of(self._audience).why_hidden(name) is not None
        except EngineError:
            return True

    async def reasons(self, names: Iterable[str]) -> Mapping[str, str]:
        """The reason for each of these names that is one of a tool which exists and is missing."""
        return {name: await self.why(name) for name in dict.fromkeys(names) if name in self.names}

    async def explained(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """The problems, those of a tool that is missing with the reason in place of what looks like its name."""
        found = [(problem, _NO_MEMBER.search(problem.message)) for problem in problems]
        reasons = await self.reasons(match["name"] for _, match in found if match is not None)
        return tuple(
            problem
            if match is None or match["name"] not in reasons
            else replace(
                problem,
                message=f"{problem.message[: match.start()]}Property '{match['name']}' does not exist on type 'Tools'. "
                f"{reasons[match['name']]}",
            )
            for problem, match in found
        )
