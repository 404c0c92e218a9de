"""The REST routes of block configurations: of the agents of a story, and of Space's own under paths of the same form.

Owns paths, bodies and codes; see `transport.block_http` for revisions and errors. Holds no state. Scripts run in the
task of the request, so a client that goes away ends them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from quart import Blueprint, Response, request

from actors.agents import FollowCapabilities
from actors.blocks import BlocksActor, UseBlocks
from actors.space import Space
from blocks.agents import AgentBlockDefinition
from blocks.block import ContextBlock
from blocks.config import AgentBlockConfig, new_custom_id
from blocks.edits import Defaults, add_custom_block, delete_custom_block, patch_config, update_custom_block
from blocks.exchange import CONFIGS_KEY, ImportedConfig, export_bundle, export_config, import_bundle, import_config
from blocks.issue import InvalidBlockDataError, Issue
from blocks.script import ScriptFailure, ScriptOutcome, ScriptText, is_blank
from blocks.store.config_files import Edit, Place
from blocks.store.documents import SetAside
from engine.errors import ConflictError
from presets.presentation import RUN_CODE_NAME
from transport.block_http import base_revisions, block_blueprint, block_response, check_query, demand_no_base, place_of
from transport.json_body import json_object, json_response
from transport.problem import RequestProblemError

PREVIEW_UTF16_UNITS = 200
"""How much of a block's content `contentPreview` has."""

SCRIPT_AGENT = "generation.writer"
"""The agent in whose context a script of a story is evaluated, unless the request names another."""

NOT_SWITCHED_OFF = (
    f"{RUN_CODE_NAME!r} is the form in which an agent has its tools, and no tool among them: give the agent another "
    "presentation (`native`), or switch off the tools that its programs call"
)

USER_MESSAGE_NOTE = (
    "A client over MCP gets the system message as its instructions; the protocol has no place for the user message. "
    "The prompt `space_context` has both. Give a block the role `system` where the model has to read it."
)

_STORY = "/api/stories/<story>"
_OF_STORY = f"{_STORY}/agent-blocks"
_OF_SPACE = "/api/agent-blocks"


def agent_block_routes(space: Space) -> Blueprint:
    """Every route of block configurations."""
    routes = block_blueprint("agent-blocks")
    limits = space.options.limits
    prompts = space.block_prompts

    def blocks_of(place: Place) -> BlocksActor:
        """Who has the configurations of that place."""
        return space.own_blocks if place is None else space.blocks

    def checked(place: Place, config: AgentBlockConfig, *path: str) -> AgentBlockConfig:
        """The configuration. Raises `InvalidBlockDataError` where it switches off what is no tool among others."""
        if place is None and RUN_CODE_NAME in config.disabled_tools:
            where = (*path, "disabledTools", config.disabled_tools.index(RUN_CODE_NAME))
            raise InvalidBlockDataError([Issue(where, "invalid_value", NOT_SWITCHED_OFF)])
        return config

    async def edit(
        story: str | None,
        agent: str,
        change: Edit,
        status: int = 200,
        met: tuple[SetAside, ...] = (),
        *,
        tools_said: bool = False,
    ) -> Response:
        """Change a configuration. `met` are broken files that the request has met before; with `tools_said` the answer
        warns of tools that the agent does not have.
        """
        place, base = _place(story), base_revisions()
        definition = await prompts.definition(place, agent)
        name = definition.agent_name
        done = await blocks_of(place).ask(
            UseBlocks(
                lambda store: store.configs.edit(place, name, lambda config: checked(place, change(config)), base)
            )
        )
        config = done.result
        await follow(place)
        # The answer for agents of stories is a configuration and nothing else, as it is recorded.
        more = _unknown_tools(definition, config.value) if tools_said and place is None else {}
        return block_response(
            {**config.value.to_json(), **more},
            revision=config.revision,
            set_aside=(*met, *done.set_aside),
            status=status,
        )

    async def follow(place: Place) -> None:
        """Let an agent of Space have the tools that its configuration leaves it, before anybody hears of the change."""
        if place is None:
            await space.agents.ask(FollowCapabilities())

    @routes.get(_OF_SPACE)
    async def get_agents() -> Response:
        """Both families: a client that has no story yet sees what there will be."""
        own = [_agent_row(one, "space") for one in await prompts.space_agents()]
        return json_response([*(_agent_row(one, "story") for one in prompts.story_agents.list()), *own])

    @routes.get(_OF_STORY)
    async def get_story_agents(story: str) -> Response:
        place = place_of(story)
        await space.blocks.ask(UseBlocks(lambda store: store.stories.folder(place)))
        return json_response([_agent_row(one, "story") for one in prompts.story_agents.list()])

    @routes.get(f"{_OF_STORY}/<agent>")
    @routes.get(f"{_OF_SPACE}/<agent>")
    async def get_agent(agent: str, story: str | None = None) -> Response:
        prepared = await prompts.prepare(_place(story), agent, _model_id())
        body = {
            **_agent_row(prepared.definition, "space" if story is None else "story"),
            "config": prepared.config.value.to_json(),
            "builtinBlocks": [_builtin_row(block) for block in prepared.default_blocks],
            **_unknown_tools(prepared.definition, prepared.config.value),
        }
        return block_response(body, revision=prepared.config.revision, set_aside=prepared.set_aside)

    @routes.get(f"{_OF_STORY}/<agent>/preview")
    @routes.get(f"{_OF_SPACE}/<agent>/preview")
    async def get_preview(agent: str, story: str | None = None) -> Response:
        prepared = await prompts.prepare(_place(story), agent, _model_id())
        compiled = await prompts.compile(prepared)
        body = {
            "messages": [{"role": one.role, "content": one.content} for one in compiled.messages],
            **compiled.report.to_json(),
            "tools": [tool.name for tool in compiled.tools],
            "modelId": prepared.context.model_id,
            "revision": prepared.config.revision,
        }
        if story is None and any(one.role == "user" for one in compiled.messages):
            body["note"] = USER_MESSAGE_NOTE
        return block_response(body, set_aside=prepared.set_aside)

    @routes.get(f"{_OF_STORY}/<agent>/export-config")
    @routes.get(f"{_OF_SPACE}/<agent>/export-config")
    async def get_export(agent: str, story: str | None = None) -> Response:
        place = _place(story)
        definition = await prompts.definition(place, agent)
        done = await blocks_of(place).ask(UseBlocks(lambda store: store.configs.read(place, definition.agent_name)))
        config = done.result
        return block_response(
            export_config(definition, config.value), revision=config.revision, set_aside=done.set_aside
        )

    @routes.post(f"{_OF_STORY}/<agent>/import-config")
    @routes.post(f"{_OF_SPACE}/<agent>/import-config")
    async def post_import(agent: str, story: str | None = None) -> Response:
        place, base, body = _place(story), base_revisions(), await json_object(limits)
        name = (await prompts.definition(place, agent)).agent_name
        imported = _imported(body)
        checked(place, imported.config)
        done = await blocks_of(place).ask(
            UseBlocks(lambda store: store.configs.edit(place, name, lambda _: imported.config, base))
        )
        await follow(place)
        warning = _script_warning(f"{name}: {script}" for script in imported.scripts)
        return block_response({"ok": True, **warning}, revision=done.result.revision, set_aside=done.set_aside)

    @routes.patch(f"{_OF_STORY}/<agent>/config")
    @routes.patch(f"{_OF_SPACE}/<agent>/config")
    async def patch(agent: str, story: str | None = None) -> Response:
        body = await json_object(limits)
        return await edit(story, agent, partial(patch_config, raw=body), tools_said="disabledTools" in body)

    @routes.post(f"{_OF_STORY}/<agent>/custom")
    @routes.post(f"{_OF_SPACE}/<agent>/custom")
    async def post_custom(agent: str, story: str | None = None) -> Response:
        body = await json_object(limits)
        if body.get("id") is None:
            body["id"] = new_custom_id()
        prepared = await prompts.prepare(_place(story), agent)
        change = partial(_with_new_block, raw=body, defaults=prepared.default_blocks)
        return await edit(story, agent, change, 201, prepared.set_aside)

    @routes.put(f"{_OF_STORY}/<agent>/custom/<block>")
    @routes.put(f"{_OF_SPACE}/<agent>/custom/<block>")
    async def put_custom(agent: str, block: str, story: str | None = None) -> Response:
        body = await json_object(limits)
        return await edit(story, agent, partial(update_custom_block, block_id=block, raw=body))

    @routes.delete(f"{_OF_STORY}/<agent>/custom/<block>")
    @routes.delete(f"{_OF_SPACE}/<agent>/custom/<block>")
    async def delete_custom(agent: str, block: str, story: str | None = None) -> Response:
        return await edit(story, agent, partial(delete_custom_block, block_id=block))

    @routes.post(f"{_OF_STORY}/<agent>/reset")
    @routes.post(f"{_OF_SPACE}/<agent>/reset")
    async def post_reset(agent: str, story: str | None = None) -> Response:
        place, base = _place(story), base_revisions()
        name = (await prompts.definition(place, agent)).agent_name
        done = await blocks_of(place).ask(UseBlocks(lambda store: store.configs.reset(place, name, base)))
        config = done.result
        await follow(place)
        return block_response(config.value.to_json(), revision=config.revision, set_aside=done.set_aside)

    @routes.post(f"{_STORY}/blocks/eval-script")
    @routes.post("/api/blocks/eval-script")
    async def post_script(story: str | None = None) -> Response:
        default = space.agents.agents.value.default if story is None else SCRIPT_AGENT
        body = await json_object(limits)
        prepared = await prompts.prepare(_place(story), _text(body, "agent", default))
        outcome = await prompts.evaluate(prepared, _text(body, "content"))
        return block_response(_evaluated(outcome), set_aside=prepared.set_aside)

    @routes.get(f"{_STORY}/export-configs")
    @routes.get("/api/export-configs")
    async def get_bundle(story: str | None = None) -> Response:
        place, names = _place(story), await agent_names(story)
        done = await blocks_of(place).ask(
            UseBlocks(lambda store: {name: store.configs.read(place, name).value for name in names})
        )
        return block_response(export_bundle(done.result), set_aside=done.set_aside)

    @routes.post(f"{_STORY}/import-configs")
    @routes.post("/api/import-configs")
    async def post_bundle(story: str | None = None) -> Response:
        place, body = _place(story), await json_object(limits)
        names = await agent_names(story)
        demand_no_base("a bundle of configurations")
        imported = import_bundle(body, names)
        for name, one in imported.items():
            checked(place, one.config, CONFIGS_KEY, name)
        configs = {name: one.config for name, one in imported.items()}
        done = await blocks_of(place).ask(UseBlocks(lambda store: store.configs.replace_all(place, configs)))
        await follow(place)
        scripts = (f"{name}: {script}" for name, one in imported.items() for script in one.scripts)
        return block_response({"ok": True, **_script_warning(scripts)}, set_aside=done.set_aside)

    async def agent_names(story: str | None) -> list[str]:
        """The agents of the family. Raises `NotFoundError` for the story."""
        if story is None:
            return [one.agent_name for one in await prompts.space_agents()]
        place = place_of(story)
        await space.blocks.ask(UseBlocks(lambda store: store.stories.folder(place)))
        return list(prompts.story_agents)

    return routes


def _place(story: str | None) -> Place:
    if story is None:
        check_query("modelId")
        return None
    return place_of(story)


def _model_id() -> str | None:
    return request.args.get("modelId") or None


def _unknown_tools(definition: AgentBlockDefinition, config: AgentBlockConfig) -> dict[str, Any]:
    """A warning of tools that are switched off and that the agent does not have, at least not now."""
    known = {tool.name for tool in definition.available_tools}
    unknown = sorted({name for name in config.disabled_tools if name not in known})
    if not unknown:
        return {}
    warning = (
        "disabledTools names tools that this agent does not have now; they are kept, for the case that it gets them"
    )
    return {"warning": warning, "unknownTools": unknown}


def _with_new_block(config: AgentBlockConfig, raw: dict[str, Any], defaults: Defaults) -> AgentBlockConfig:
    changed = add_custom_block(config, raw, defaults)
    if config.custom_block(raw["id"]) is not None:
        raise ConflictError(f"there is a custom block {raw['id']!r} already; choose another id, or change that one")
    return changed


def _imported(envelope: dict[str, Any]) -> ImportedConfig:
    """The config that came in. The paths of an error are those within it, as they are for every other change of one."""
    if envelope.get("config") is None:
        raise RequestProblemError(422, "Invalid value", 'the body must be {"config": {…}}, as `export-config` gives it')
    try:
        return import_config(envelope)
    except InvalidBlockDataError as error:
        raise InvalidBlockDataError([replace(issue, path=issue.path[1:]) for issue in error.issues]) from None


def _agent_row(definition: AgentBlockDefinition, family: str) -> dict[str, Any]:
    return {
        "agentName": definition.agent_name,
        "displayName": definition.display_name,
        "description": definition.description,
        "family": family,
        "availableTools": [tool.name for tool in definition.available_tools],
    }


def _builtin_row(block: ContextBlock) -> dict[str, Any]:
    units = block.content.encode("utf-16-le", "surrogatepass")[: PREVIEW_UTF16_UNITS * 2]
    return {
        "id": block.id,
        "role": block.role,
        "order": block.order,
        "source": block.source,
        "content": block.content,
        "contentPreview": units.decode("utf-16-le", "ignore"),
    }


def _evaluated(outcome: ScriptOutcome) -> dict[str, Any]:
    match outcome:
        case ScriptText(text):
            return {"result": None if is_blank(text) else text, "error": None}
        case ScriptFailure(message, line):
            return {"result": None, "error": message, **({} if line is None else {"line": line})}
        case _:
            return {"result": None, "error": None}


def _script_warning(scripts: Iterable[str]) -> dict[str, Any]:
    named = list(scripts)
    if not named:
        return {}
    warning = "What came in holds scripts, which run whenever a prompt is made. Read them before you rely on them."
    return {"warning": warning, "scripts": named}


def _text(body: dict[str, Any], name: str, default: str | None = None) -> str:
    value = body.get(name, default)
    if not isinstance(value, str):
        raise InvalidBlockDataError([Issue((name,), "invalid_type", "must be a text")])
    return value
