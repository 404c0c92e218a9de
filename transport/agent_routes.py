"""The REST routes of agents: list, look at, copy and remove them, and choose the form in which a session has its tools.

Owns paths, bodies and codes; errors are `application/problem+json` (see `transport.problem`). Holds no state. The
folders are read again for every answer, so what a person has just written is what they see.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import trio
from quart import Blueprint, Response, request

from actors.agents import Agents, FollowCapabilities, ReadAgents, presentation_of
from actors.blocks import UseBlocks
from actors.sessions import AnnounceTo, PresentSession
from actors.space import Space
from engine.errors import ConflictError, EngineError, ForbiddenError, InvalidArgumentError
from presets.agents.definition import (
    COMPOSITION_FILE,
    AgentDefinition,
    NumberedRow,
    Trust,
    UnusableAgent,
)
from presets.agents.plain_file import PlainFileError, read_plain_file
from presets.agents.roster import folder_of_links
from presets.agents.rows import AnyRow
from presets.agents.yaml_file import MAX_FILE_BYTES
from presets.sdk import Sdk, SdkBudget, SdkLevel
from presets.suggestions import quoted
from protocol.session import Audience
from protocol.tool_list import EMPTY_TOOL_LIST, ToolList
from transport.agent_folders import check_new_id, copy_agent, remove_agent
from transport.agent_view import audience_named
from transport.instructions import instructions
from transport.json_body import json_object, json_response
from transport.problem import RequestProblemError

PLAIN_TEXT = "text/plain"

UNBOUNDED_TOKENS = 2**40
"""More than any SDK has, for a level that is asked for."""

_BUDGETS = {
    SdkLevel.FULL: SdkBudget(full=UNBOUNDED_TOKENS),
    SdkLevel.NO_RESULT_DOCS: SdkBudget(full=-1, no_result_docs=UNBOUNDED_TOKENS),
    SdkLevel.NO_FIELD_DOCS: SdkBudget(full=-1, no_field_docs=UNBOUNDED_TOKENS),
    SdkLevel.CATALOGUE: SdkBudget(full=-1, no_field_docs=-1),
}
"""With which budget a set of tools comes out at that level, however large it is."""


def agent_routes(space: Space) -> Blueprint:
    """Every route of agents."""
    routes = Blueprint("agents", __name__)
    limits = space.options.limits

    @routes.get("/api/agents")
    async def get_agents() -> Response:
        agents = await _read(space)
        return json_response(
            {
                "default": agents.default,
                "default_problem": default_problem(agents),
                "presentation": space.options.agents.presentation.value,
                "user_folder": None if space.options.agents.user_root is None else str(space.options.agents.user_root),
                "agents": [_row(space, agents, agent) for agent in (*agents.roster.agents, *agents.roster.unusable)],
                "problems": list(agents.roster.problems),
            }
        )

    @routes.post("/api/agents")
    async def post_agent() -> Response:
        source, agent_id, name = _copy_asked_for(await json_object(limits))
        found = _found(agents := await _read(space), source)
        root = _user_root(space)
        check_new_id(agent_id)
        if agents.roster.get(agent_id) is not None or agent_id in agents.roster.aliases:
            raise ConflictError(f"there is an agent {agent_id!r} already; choose another id")
        links = found.trust is Trust.SHIPPED
        await _on_disk(partial(copy_agent, _folder(found), root, agent_id, name, links_lead_out=links))
        if space.own_blocks.keeps_files:
            await space.own_blocks.ask(UseBlocks(lambda store: store.configs.take_along(found.id, agent_id)))
            await space.agents.ask(FollowCapabilities())
        agents = await _read(space)
        return json_response(_row(space, agents, _found(agents, agent_id)), 201)

    @routes.get("/api/agents/<agent_id>")
    async def get_agent(agent_id: str) -> Response:
        return json_response(await _detail(space, agent_id))

    @routes.delete("/api/agents/<agent_id>")
    async def delete_agent(agent_id: str) -> Response:
        found = _found(agents := await _read(space), agent_id)
        if found.trust is not Trust.USER:
            raise ForbiddenError(f"agent {found.id!r} ships with Space and cannot be removed; only your own can be")
        row = _row(space, agents, found)
        await _on_disk(partial(remove_agent, _user_root(space) / found.id))
        kept: str | None = None
        # A folder of a user's may have the id of an agent that ships with Space, whose configuration it is then.
        still_there = (await _read(space)).roster.get(found.id) is not None
        if space.own_blocks.keeps_files and not still_there:
            done = await space.own_blocks.ask(UseBlocks(lambda store: store.configs.set_aside(None, found.id)))
            kept = done.result
        return json_response({**row, "configuration_kept_as": kept})

    @routes.get("/api/agents/<agent_id>/sdk")
    async def get_sdk(agent_id: str) -> Response:
        audience = await audience_named(space, agent_id)
        sdk = space.programs.sdk_of(space.tools.of(audience).capabilities)
        what = request.args.get("what", "prompt")
        if what not in ("prompt", "declarations"):
            raise InvalidArgumentError(f"what must be 'prompt' or 'declarations', not {quoted(what)}")
        level = _level(request.args.get("level"))
        if level is not None and level is not sdk.level:
            sdk = Sdk.of((tool.tool for tool in sdk.tools), budget=_BUDGETS[level])
        return _text_response(sdk.prompt if what == "prompt" else sdk.declarations)

    @routes.get("/api/agents/<agent_id>/prompt")
    async def get_prompt(agent_id: str) -> Response:
        audience = await audience_named(space, agent_id)
        return _text_response(await instructions(space, audience) or "")

    @routes.put("/api/sessions/<session_id>/presentation")
    async def put_presentation(session_id: str) -> Response:
        body = await json_object(limits)
        wanted = body.get("presentation")
        if set(body) != {"presentation"} or not isinstance(wanted, str | None):
            raise InvalidArgumentError(
                'the body must be {"presentation": "code"}, with "native", "code", "both", or null for the agent\'s own'
            )
        return json_response(await _present(space, session_id, wanted))

    return routes


def default_problem(agents: Agents) -> str | None:
    """Why clients that name no agent get none; None where they get one."""
    try:
        agents.view(agents.canonical(""))
    except EngineError as error:
        return str(error)
    return None


async def _read(space: Space) -> Agents:
    """The agents as their folders say now, and as their tools are made from until the next wait."""
    await space.agents.ask(ReadAgents())
    return space.agents.agents.value


def _copy_asked_for(body: dict[str, Any]) -> tuple[str, str, str | None]:
    source, agent_id, name = body.get("from"), body.get("id"), body.get("name")
    if not isinstance(source, str) or not isinstance(agent_id, str) or not isinstance(name, str | None):
        raise InvalidArgumentError('the body must be {"from": "standard", "id": "my-agent"}, and may have a "name"')
    unknown = body.keys() - {"from", "id", "name"}
    if unknown:
        raise InvalidArgumentError(f"the body has a member {min(unknown)!r:.40}; there are from, id, name")
    return source, agent_id, name


def _found(agents: Agents, agent_id: str) -> AgentDefinition | UnusableAgent:
    """The agent of that id, usable or not. Raises `UnknownAgentError`."""
    return agents.roster.get(agent_id) or agents.roster.resolve(agent_id)


def _user_root(space: Space) -> Path:
    root = space.options.agents.user_root
    if root is None:
        raise ConflictError("this engine has no folder for agents of the user's own")
    return root


def _folder(agent: AgentDefinition | UnusableAgent) -> Path:
    """The agent's folder; an unusable one may name the file at fault instead."""
    return agent.path if agent.path.name == agent.id else agent.path.parent


async def _on_disk(step: partial[Any]) -> None:
    """Carry out a change of folders to its end. What the disk refuses is said as it is."""
    try:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(step)
    except OSError as error:
        where = "" if error.filename is None else f" ({error.filename})"
        raise ConflictError(f"the agent's folder cannot be changed: {error.strerror or error}{where}") from None


def _row(space: Space, agents: Agents, agent: AgentDefinition | UnusableAgent) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": agent.id,
        "names": {},
        "descriptions": {},
        "order": None,
        "trust": agent.trust.value,
        "path": str(_folder(agent)),
        "default": agent.id == agents.canonical(""),
        "usable": isinstance(agent, AgentDefinition),
        "mode": None,
        "mode_source": None,
        "tools": [],
        "capability_count": 0,
        "unusable": None,
    }
    if isinstance(agent, UnusableAgent):
        fault = {"file": str(agent.path), "row": agent.row, "reason": agent.reason}
        # One that has the id of a usable agent does not touch it, and is not the default either.
        return {**row, "default": row["default"] and agent.id not in agents.views, "unusable": fault}
    view = agents.views[agent.id]
    tools = space.tools.of(Audience(agent.id))
    return {
        **row,
        "names": dict(agent.names),
        "descriptions": dict(agent.descriptions),
        "order": agent.order,
        "mode": view.mode.value,
        "mode_source": view.mode_source,
        "tools": _names(tools.offered),
        "capability_count": len(tools.capabilities),
    }


async def _detail(space: Space, agent_id: str) -> dict[str, Any]:
    found = _found(await _read(space), agent_id)
    folder = _folder(found)
    text = await trio.to_thread.run_sync(_composition_text, folder, folder_of_links(folder, found.trust))
    agents = space.agents.agents.value
    agent = _found(agents, agent_id)
    usable = isinstance(agent, AgentDefinition)
    capabilities = space.tools.of(Audience(agent.id)).capabilities if usable else EMPTY_TOOL_LIST
    return {
        **_row(space, agents, agent),
        "capabilities": _names(capabilities),
        "prompt_blocks": list(agent.prompt_blocks) if usable else [],
        "composition": {
            "text": text,
            "rows": [_composed(number, row) for number, row in enumerate(agent.rows, 1)] if usable else [],
        },
    }


def _composition_text(folder: Path, inside: Path | None) -> str | None:
    """The file as it is, for people; None where it cannot be read, or is no file that a composition could be."""
    try:
        data = read_plain_file(folder / COMPOSITION_FILE, MAX_FILE_BYTES, inside=inside)
    except (OSError, PlainFileError):
        return None
    return data.decode("utf-8-sig", "replace")


def _composed(number: int, row: AnyRow) -> dict[str, Any]:
    """A row as its file writes it, with its number and title."""
    said = row.model_dump(mode="json", exclude_defaults=True)
    fields = type(row).model_fields
    members = {str(fields[name].validation_alias or name): value for name, value in said.items()}
    return {"number": number, "title": NumberedRow(number, row).title, "row": row.KIND, **members}


def _level(text: str | None) -> SdkLevel | None:
    if text is None:
        return None
    try:
        return SdkLevel(text)
    except ValueError:
        raise InvalidArgumentError(f"there is no level {quoted(text)}; there are {', '.join(SdkLevel)}") from None


async def _present(space: Space, session_id: str, wanted: str | None) -> dict[str, Any]:
    """Give a session its tools in another form, and tell its client when that changes its list."""
    presentation = presentation_of(wanted)
    reason = space.programs.no_runtime_because()
    if presentation is not None and presentation.runs_programs and reason is not None:
        raise ConflictError(f"presentation {presentation.value!r} needs the code runtime: {reason}")
    presented = await space.sessions.ask(PresentSession(session_id, wanted))
    if presented is None:
        raise RequestProblemError(404, "Not found", f"there is no session {quoted(session_id)}; `/status` lists them")
    audience = presented.session.audience
    try:
        tools = space.tools.of(audience)
        changed = not space.tools.of(presented.before).looks_like(tools)
    except EngineError:
        # Its agent cannot be used at the moment. The form is noted and holds when the agent comes back.
        tools, changed = None, False
    if changed:
        await space.sessions.tell(AnnounceTo(session_id))
    if tools is not None and tools.mode.runs_programs:
        space.programs.begin_warming()
    return {
        "id": session_id,
        "agent": audience.agent,
        "presentation": audience.presentation,
        "mode": None if tools is None else tools.mode.value,
        "tools": [] if tools is None else _names(tools.offered),
        "list_changed": changed,
    }


def _names(tools: ToolList) -> list[str]:
    return [entry.definition.name for entry in tools]


def _text_response(text: str) -> Response:
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    # A schema of somebody else's may hold half a character, which UTF-8 has no form for.
    data = text.encode("utf-8", "replace")
    return Response(data, content_type=f"{PLAIN_TEXT}; charset=utf-8", headers=headers)
