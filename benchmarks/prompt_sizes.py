"""How many tokens a model reads before a word is said: each agent, each form of the tools, few tools and many.

Owns the tables. The texts are made by `benchmarks.prompts`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mcp_types import ToolAnnotations

from benchmarks.prompts import AGENTS, PLACES, BuiltIns, listed
from benchmarks.table import Figure, Requirement, Row
from benchmarks.tokens import TOKENIZER, count_tokens
from presets.sdk import SdkLevel
from protocol.tool import JsonObject, ToolCall, ToolDefinition, ToolOutcome
from protocol.tool_list import ToolList

LEAST_SAVED = 85.0
"""Percent of the prompt that the catalogue saves at a hundred tools, compared with their schemas."""

MANY_TOOLS = Path(__file__).parent / "data" / "gitlab_tools.json"
"""What a real server of more than a hundred tools lists; see the README beside it."""

FORMS = ("native", *(level.value for level in SdkLevel))


@dataclass(frozen=True)
class InEachForm:
    """The tokens of one list of tools in each form, and the level that Code Mode takes by itself."""

    name: str
    count: int
    tokens: Mapping[str, int]
    taken: SdkLevel


def measure() -> list[Row]:
    """The rows of the table. Needs nothing that runs."""
    forms = in_each_form()
    many = forms[-1]
    saved = 100 * (1 - many.tokens[SdkLevel.CATALOGUE.value] / many.tokens["native"])
    return [
        Figure(f"prompt in tokens ({TOKENIZER}), instructions included", value=_columns(AGENTS)),
        *(Figure(f"  {place}", value=_columns(sizes)) for place, sizes in of_agents().items()),
        Figure("the same tools in each form, and what Code Mode takes by itself", value=_columns((*FORMS, "taken"))),
        *(
            Figure(f"  {one.name}, {one.count} tools", value=_columns((*one.tokens.values(), one.taken)))
            for one in forms
        ),
        Requirement(f"prompt saved by the catalogue at {many.count} tools", saved, LEAST_SAVED, " %", at_least=True),
    ]


def of_agents() -> dict[str, tuple[int, ...]]:
    """By place, the tokens of the prompt of each of `AGENTS`."""
    built_ins = BuiltIns()
    return {
        place.name: tuple(count_tokens(built_ins.seen(agent, place).prompt.text) for agent in AGENTS)
        for place in PLACES
    }


def in_each_form() -> list[InEachForm]:
    """The tools of each place, and last the long list."""
    built_ins = BuiltIns()
    lists = {place.name: built_ins.seen("standard", place).tools.capabilities for place in PLACES}
    lists["a server of others"] = many_tools()
    return [
        InEachForm(
            name,
            len(tools),
            {form: count_tokens(text) for form, text in built_ins.forms(tools).items()},
            built_ins.level_of(tools),
        )
        for name, tools in lists.items()
    ]


def many_tools() -> ToolList:
    """The tools of that server, which nobody can call here."""
    tools = cast("list[Mapping[str, Any]]", json.loads(MANY_TOOLS.read_text(encoding="utf-8")))
    return listed(
        ToolDefinition(
            name=tool["name"],
            title=None,
            description=tool["description"],
            input_schema=tool["inputSchema"],
            output_schema=None,
            run=_not_here,
            annotations=ToolAnnotations.model_validate(tool.get("annotations", {})),
            owner="benchmarks",
            source=tool["name"],
        )
        for tool in tools
    )


async def _not_here(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    raise NotImplementedError


def _columns(values: Iterable[int | str]) -> str:
    return "".join(f"{value if isinstance(value, str) else f'{value:,}':>15}" for value in values)
