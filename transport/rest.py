"""The REST routes: what a person's tools (the command line, a panel, curl) ask of the engine.

Owns paths, bodies and codes; errors are `application/problem+json` (see `transport.problem`). Holds no state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quart import Blueprint, Response, request

from actors.catalog import owners_of
from actors.context import (
    ExplainAllTools,
    ExplainTool,
    PatchContext,
    ReadPresets,
    SetContext,
    SetOverride,
)
from actors.resolution import ReadAdapters
from actors.space import Space
from engine.errors import InvalidArgumentError
from presets.adapters import ToolAdapter
from presets.annotations import annotations_of
from presets.context import FactValue
from presets.definition import Risk
from presets.explain import ToolState
from presets.presentation import RUN_CODE_NAME
from presets.projection import Unknown
from presets.scope_view import deny_reason
from presets.suggestions import no_such_tool
from protocol.limits import Limits
from protocol.prepared_call import InvalidArguments, PreparedCall, UnknownTool, prepare_call
from protocol.tool_list import ToolEntry
from transport.agent_view import AgentEyes, asked_eyes
from transport.json_body import json_object, json_response
from transport.problem import RequestProblemError
from transport.rest_call import caller_over_rest, refusal, run_rest_call
from transport.status import EndpointFacts, status_of


def rest_routes(space: Space, facts: EndpointFacts) -> Blueprint:
    """Every REST route of the engine."""
    routes = Blueprint("rest", __name__)
    limits = space.options.limits

    @routes.get("/status")
    async def status() -> Response:
        return json_response(await status_of(space, facts))

    @routes.get("/api/context")
    async def get_context() -> Response:
        return json_response(space.context.view.value.context.facts())

    @routes.put("/api/context")
    async def put_context() -> Response:
        view = await space.context.ask(SetContext(await _facts(limits)))
        return json_response(view.context.facts())

    @routes.patch("/api/context")
    async def patch_context() -> Response:
        view = await space.context.ask(PatchContext(await _facts(limits)))
        return json_response(view.context.facts())

    @routes.get("/api/presets")
    async def get_presets() -> Response:
        view = await space.context.ask(ReadPresets())
        shown = view.to_json()
        return json_response(
            {"presets": [row.to_json() for row in view.rows], "orphaned_overrides": shown["orphaned_overrides"]}
        )

    @routes.put("/api/presets/<path:name>/override")
    async def put_override(name: str) -> Response:
        body = await json_object(limits)
        state = body.get("state")
        if not isinstance(state, str) or set(body) != {"state"}:
            raise InvalidArgumentError('the body must be {"state": "on"}, with "on", "off" or "auto"')
        await space.context.ask(SetOverride(name, state))
        view = await space.context.ask(ReadPresets())
        row = next((row.to_json() for row in view.rows if row.name == name), None)
        return json_response(row if row is not None else {"name": name, "override_state": state})

    @routes.get("/api/tools")
    async def get_tools() -> Response:
        eyes = await asked_eyes(space)
        tools = space.catalog.tools.value
        explanations = await space.context.ask(ExplainAllTools(owners_of(tools)))
        adapters = await space.resolution.ask(ReadAdapters())
        if eyes is None:
            rows, revision = [explanation.to_json() for explanation in explanations], tools.revision
        else:
            own = eyes.run_code_row()
            rows = [*([] if own is None else [own]), *map(eyes.row, explanations)]
            revision = eyes.tools.offered.revision
        described = [{**row, **_words(adapters.get(row["mcp_name"]))} for row in rows]
        return json_response({"revision": revision, "tools": described})

    @routes.get("/api/tools/<path:name>")
    async def get_tool(name: str) -> Response:
        eyes = await asked_eyes(space)
        row = await _explain(space, name, eyes)
        wanted = row["mcp_name"] or name
        entry = space.catalog.tools.value.get(wanted)
        if entry is None and eyes is not None:
            entry = eyes.tools.offered.get(wanted)
        adapter = (await space.resolution.ask(ReadAdapters())).get(wanted)
        row = {**row, **_words(adapter)}
        if entry is None:
            return json_response(
                {**row, "definition": None if adapter is None else _definition_of(adapter, row["risk"])}
            )
        return json_response({**row, "definition": _definition(entry)})

    @routes.post("/api/tools/<path:name>/call")
    async def call_tool(name: str) -> Response:
        arguments = await json_object(limits) if await request.get_data() else {}
        return await _call(space, name, arguments, await asked_eyes(space))

    @routes.get("/api/prompt-fragments")
    async def get_prompt_fragments() -> Response:
        resolution = space.context.view.value.resolution
        return json_response({"prompt_fragments": resolution.to_json()["prompt_fragments"]})

    return routes


async def _call(space: Space, name: str, arguments: Mapping[str, Any], eyes: AgentEyes | None) -> Response:
    """Call a tool through the same gate as MCP: the list of this moment, its schema, its guards, and their reasons."""
    agent = None if eyes is None else eyes.agent
    try:
        prepared = await _pass(space, name, arguments, eyes)
    except _NotRunError as refused:
        space.call_log.refused(caller_over_rest(agent), name, arguments, str(refused))
        return json_response(refusal(str(refused)))
    except RequestProblemError as unknown:
        space.call_log.refused(caller_over_rest(agent), name, arguments, unknown.detail)
        raise
    return json_response(await run_rest_call(space.call_log, prepared, agent))


class _NotRunError(Exception):
    """Raised for a call that may not run."""


async def _pass(space: Space, name: str, arguments: Mapping[str, Any], eyes: AgentEyes | None) -> PreparedCall:
    """The call, ready to run. Raises `_NotRunError`, and as `_explain` for an unknown tool."""
    prepared = prepare_call(space.catalog.tools.value if eyes is None else eyes.tools.offered, name, arguments)
    match prepared:
        case UnknownTool():
            raise _NotRunError((await _explain(space, name, eyes))["reason"])
        case InvalidArguments():
            raise _NotRunError(str(prepared))
        case PreparedCall():
            denied = None if eyes is None else deny_reason(eyes.tools.view, name, prepared.arguments)
            if denied is not None:
                raise _NotRunError(denied)
            return prepared


async def _explain(space: Space, name: str, eyes: AgentEyes | None) -> dict[str, Any]:
    """Why the tool is offered or not, as JSON. An unknown one is 404, with the explanation's members."""
    if eyes is not None and name == RUN_CODE_NAME:
        row = eyes.run_code_row()
        if row is None:
            raise RequestProblemError(404, "Unknown tool", eyes.no_run_code())
        return row
    match None if eyes is None else eyes.tools.decide_call(name):
        case Unknown(meant=str(meant)):
            raise RequestProblemError(404, "Unknown tool", no_such_tool(name, (meant,)))
        case _:
            pass
    explanation = await space.context.ask(ExplainTool(name, owners_of(space.catalog.tools.value)))
    if explanation.state is ToolState.UNKNOWN:
        raise RequestProblemError(404, "Unknown tool", explanation.reason, **explanation.to_json())
    return explanation.to_json() if eyes is None else eyes.row(explanation)


def _words(adapter: ToolAdapter | None) -> dict[str, str | None]:
    """What a tool says of itself, offered or not; nothing for one that has no adapter, as `space_run_code` has none."""
    if adapter is None:
        return {"title": None, "description": None}
    return {"title": adapter.title, "description": adapter.description}


def _definition_of(adapter: ToolAdapter, risk: str | None) -> dict[str, Any]:
    """What a tool that is not offered would be: a person reads it before they turn it on."""
    annotations = annotations_of(adapter, Risk.NORMAL if risk is None else Risk(risk))
    return {
        "name": adapter.mcp_name,
        "title": adapter.title,
        "description": adapter.description,
        "input_schema": adapter.input_schema,
        "output_schema": adapter.output_schema,
        "annotations": annotations.model_dump(mode="json", by_alias=True, exclude_none=True),
        "owner": None,
        "source": adapter.id,
    }


def _definition(entry: ToolEntry) -> dict[str, Any]:
    definition = entry.definition
    return {
        "name": definition.name,
        "title": definition.title,
        "description": definition.description,
        "input_schema": definition.input_schema,
        "output_schema": definition.output_schema,
        "annotations": None
        if definition.annotations is None
        else definition.annotations.model_dump(mode="json", by_alias=True, exclude_none=True),
        "owner": definition.owner,
        "source": definition.source,
    }


async def _facts(limits: Limits) -> dict[str, FactValue | None]:
    """The body as facts of a context: plain values, or null for none."""
    facts = await json_object(limits)
    for name, value in facts.items():
        if value is not None and not isinstance(value, str | bool | int | float):
            raise InvalidArgumentError(f"fact {name!r} must be a text, a number, true, false or null")
    return facts
