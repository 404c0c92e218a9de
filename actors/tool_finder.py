"""The fixed pair for clients that do not follow a changing list of tools: one finds a tool, the other calls it by name.

Owns schemas and words of the pair, and its bodies. It is in no registry: the projection adds it for an agent whose
scope declares it (row `tool-finder`). A call through it is a call of the tool that it names: the same list, the same
reasons, the same guards, the same check of arguments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from mcp_types import ToolAnnotations

from actors.agent_tools import AgentToolLists
from actors.call_gate import CallRefusedError, WhyNot, pass_gate
from actors.calls import run_tool
from actors.logged_call import logged_of
from presets.interactions import interaction_of
from presets.presentation import CALL_TOOL_NAME, FIND_TOOLS_NAME
from presets.sdk import Sdk, search
from protocol.client_capabilities import TASKS_EXTENSION, Capability
from protocol.result import structure_problem
from protocol.session import Audience
from protocol.tool import JsonObject, NotRunError, TaskSupport, ToolCall, ToolDefinition, ToolError, ToolOutcome
from protocol.tool_list import ToolEntry, ToolFace, ToolList

TOOL_FINDER_OWNER = "tool-finder"
"""The owner of the pair."""

MOST_FOUND = 10
"""Tools in one answer, each with its schema; who needs others has to say what is looked for."""

_FIND_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "maxLength": 500,
            "description": "What you want to do, in a few words. Left out: the first ones by name.",
        }
    },
    "additionalProperties": False,
}

_CALL_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "description": f"The tool, as {FIND_TOOLS_NAME} names it."},
        "arguments": {"type": "object", "description": "Its arguments, as its input_schema wants them."},
    },
    "required": ["name"],
    "additionalProperties": False,
}

_LOOKS_LIKE_A_NAME = re.compile(r"[A-Za-z0-9.-]+_[A-Za-z0-9_.-]+")
"""A query that is the name of a tool, and no word that is looked for."""

_FIND_DESCRIPTION = f"""\
Find tools that can be called now, with their schemas. What is offered changes with what the user is doing, so look \
again when a tool is not there any more; asked for its exact name, the answer says why. Call what you find with \
{CALL_TOOL_NAME}."""

_CALL_DESCRIPTION = f"""\
Call a tool by its name, whether or not it stands in your list. Find it with {FIND_TOOLS_NAME}, which gives its \
schema. Where it cannot be called now, the answer says why."""


class ToolFinder:
    """Makes the pair. `sdk_of` gives what tools are searched in."""

    def __init__(self, sdk_of: Callable[[ToolList], Sdk]) -> None:
        self._sdk_of = sdk_of
        self._reached: tuple[AgentToolLists, WhyNot] | None = None
        self._faces: dict[tuple[str, bool, bool], ToolFace] = {}

    def connect(self, lists: AgentToolLists, why_not: WhyNot) -> None:
        """Say where the tools of an audience are found, and who explains why one is not among them."""
        self._reached = lists, why_not

    def pair(self, audience: Audience, capabilities: ToolList) -> tuple[ToolEntry, ToolEntry]:
        """Both tools for an audience with these capabilities."""
        destroys = any(entry.definition.destroys for entry in capabilities)
        reaches_out = any(entry.definition.reaches_out for entry in capabilities)

        goes_on = any(entry.definition.task_support is not TaskSupport.FORBIDDEN for entry in capabilities)

        async def find(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
            return await self._find(audience, arguments.get("query", ""))

        async def call_it(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
            return await self._call(audience, arguments["name"], arguments.get("arguments", {}), call)

        finds = ToolDefinition(
            name=FIND_TOOLS_NAME,
            title="Find tools",
            description=_FIND_DESCRIPTION,
            input_schema=_FIND_SCHEMA,
            run=find,
            owner=TOOL_FINDER_OWNER,
            source="tool-finder.find-tools",
            annotations=ToolAnnotations(
                title="Find tools",
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=False,
            ),
        )
        calls = ToolDefinition(
            name=CALL_TOOL_NAME,
            title="Call a tool",
            description=_CALL_DESCRIPTION,
            input_schema=_CALL_SCHEMA,
            run=call_it,
            owner=TOOL_FINDER_OWNER,
            source="tool-finder.call-tool",
            task_support=TaskSupport.OPTIONAL if goes_on else TaskSupport.FORBIDDEN,
            # What can be said of any tool that may be called through it.
            annotations=ToolAnnotations(
                title="Call a tool",
                read_only_hint=False,
                destructive_hint=destroys,
                idempotent_hint=False,
                open_world_hint=reaches_out,
            ),
        )
        return (
            self._entry(finds, destroys=False, reaches_out=False),
            self._entry(calls, destroys=destroys, reaches_out=reaches_out),
        )

    def _entry(self, definition: ToolDefinition, *, destroys: bool, reaches_out: bool) -> ToolEntry:
        key = (definition.name, destroys, reaches_out)
        face = self._faces.get(key)
        if face is None:
            face = self._faces[key] = ToolFace.of(definition)
        return ToolEntry(definition, face)

    async def _find(self, audience: Audience, query: str) -> ToolOutcome:
        lists, why_not = self._reach()
        capabilities = lists.of(audience).capabilities
        found = [hit["name"] for hit in search(self._sdk_of(capabilities).tools, query, limit=MOST_FOUND)]
        entries = [entry for name in found if (entry := capabilities.get(name)) is not None]
        shown = [
            {
                "name": entry.definition.name,
                "description": entry.definition.description,
                "input_schema": entry.definition.input_schema,
            }
            for entry in entries
        ]
        answer: dict[str, object] = {"tools": shown, "offered": len(capabilities)}
        asked = query.strip()
        if _LOOKS_LIKE_A_NAME.fullmatch(asked) and capabilities.get(asked) is None:
            # Whoever names a tool has seen the name somewhere, and would look for it again and again.
            answer["not_callable"] = {
                "name": asked,
                "reason": lists.of(audience).why_hidden(asked) or await why_not(asked),
            }
        return ToolOutcome.text(json.dumps(answer, ensure_ascii=False))

    async def _call(self, audience: Audience, name: str, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        lists, why_not = self._reach()
        if name in (FIND_TOOLS_NAME, CALL_TOOL_NAME):
            raise NotRunError(f"{name} is called directly, not through {CALL_TOOL_NAME}")
        logged = logged_of(call)
        if logged is not None:
            logged.calls_by_name(name, arguments)
        try:
            prepared = await pass_gate(lists, why_not, audience, name, arguments, from_program=False)
        except CallRefusedError as refused:
            raise NotRunError(str(refused)) from None
        client = interaction_of(call).client
        if prepared.entry.definition.task_support is TaskSupport.REQUIRED and Capability.TASKS not in client:
            raise NotRunError(f"{name} goes on as a task, and this client knows none; it needs {TASKS_EXTENSION}")
        outcome = await run_tool(prepared, call)
        if outcome.is_error or outcome.input_required is not None:
            return outcome
        problem = structure_problem(prepared.entry, outcome)
        if problem is not None:
            raise ToolError(f"{name} ran, but its result is malformed; this is a bug of the tool. {problem}")
        # Its structure is told in its text as well; the schema of this tool promises none.
        return ToolOutcome(outcome.content)

    def _reach(self) -> tuple[AgentToolLists, WhyNot]:
        if self._reached is None:
            raise RuntimeError("the pair is called before the engine has started")
        return self._reached
