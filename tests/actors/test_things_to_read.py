"""What Space brings along to be read, watched and asked for by name, from end to end in an engine that runs."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.context import EditCapabilities, PatchContext, SetOverride
from actors.mcp_sync import RefusedToolsError
from actors.resolution import CapabilityEdit
from actors.space import Space, SpaceOptions, built_in_capabilities
from actors.world import Execute
from engine.commands import SwitchWorld
from presets.adapters import ToolAdapter
from presets.agents.roster import UnknownAgentError
from presets.app import App
from presets.definition import PresetDefinition
from presets.interactions import InteractiveRun
from protocol.interaction import Interaction
from protocol.resource import ResourceNotFoundError
from protocol.session import Audience
from protocol.tool import JsonObject, ToolError, ToolOutcome
from tests.actors.capabilities import RECTANGLE
from tests.actors.fakes import MemoryStore, engine_of, running
from tests.presets.item_samples import AnsweringCall, item_preset, prompt, resource

STANDARD, MINIMAL = Audience("standard"), Audience("minimal")


@pytest.fixture
async def space(tmp_path: Path) -> AsyncGenerator[Space]:
    made = Space(engine_of(), MemoryStore(), SpaceOptions(workspace=tmp_path))
    async with running(made, built_in_capabilities()):
        yield made


async def read(space: Space, uri: str, audience: Audience = STANDARD) -> Any:
    """What a client of that audience reads: a value where it is JSON, else the content."""
    prepared = space.offers.of(audience).resources.prepare(uri)
    assert prepared is not None, uri
    (content,) = (await prepared.read(prepared.uri, prepared.values, AnsweringCall())).contents
    assert content.uri == uri
    return json.loads(content.text) if content.mime_type == "application/json" else content  # pyright: ignore[reportAttributeAccessIssue]


async def say(space: Space, name: str, audience: Audience = STANDARD, **arguments: str) -> str:
    """The text of a prompt."""
    definition = space.offers.of(audience).prompts.get(name)
    assert definition is not None, name
    outcome = await definition.run(arguments, AnsweringCall())
    return "\n\n".join(getattr(message.content, "text", "") for message in outcome.messages)


async def test_the_resources_that_space_brings_along_are_listed(space: Space) -> None:
    offer = space.offers.of(STANDARD)
    assert offer.resources.uris == (
        "space://agents",
        "space://context",
        "space://presets",
        "space://view.png",
        "space://view.svg",
        "space://worlds",
    )
    assert offer.resources.template_texts == ("space://agents/{id}", "space://programs/{id}", "space://world/{id}")
    assert space.offers.of(MINIMAL).resources.uris == offer.resources.uris, "they destroy nothing"


async def test_what_they_say_is_how_things_stand(space: Space) -> None:
    context = await read(space, "space://context")
    assert context["context"]["surface"] == "canvas"
    assert "drawing-shape-tools" in [preset["name"] for preset in context["active_presets"]]
    worlds = await read(space, "space://worlds")
    assert [world["id"] for world in worlds] == ["world-1", "world-2"]
    await space.app.execute(RECTANGLE)
    world = await read(space, "space://world/world-1")
    assert (world["active"], world["records"]["drawing-object"]) == (True, 1)
    presets = {row["name"]: row for row in await read(space, "space://presets")}
    assert presets["general-resources"]["resource_ids"][0] == "general.context"
    agents = {row["id"]: row for row in await read(space, "space://agents")}
    assert agents["minimal"]["risk_ceiling"] == "normal"
    minimal = await read(space, "space://agents/minimal")
    assert minimal["rows"][0] == {"number": 1, "row": "risk-ceiling", "risk": "normal"}


async def test_the_picture_is_read_as_bytes_and_the_drawing_as_text(space: Space) -> None:
    await space.app.execute(RECTANGLE)
    picture = await read(space, "space://view.png")
    assert base64.b64decode(picture.blob).startswith(b"\x89PNG")
    drawing = await read(space, "space://view.svg")
    assert drawing.text.startswith("<svg")


@pytest.mark.parametrize("uri", ["space://world/world-9", "space://agents/nobody", "space://programs/program-0"])
async def test_what_turns_out_not_to_exist_is_not_there(space: Space, uri: str) -> None:
    with pytest.raises(ResourceNotFoundError):
        await read(space, uri)


async def test_a_surface_that_shows_nothing_says_so(space: Space) -> None:
    await space.context.ask(PatchContext({"surface": "elsewhere"}))
    with pytest.raises(ToolError, match="nothing to show"):
        await read(space, "space://view.svg")


async def test_names_of_templates_are_completed(space: Space) -> None:
    templates = space.offers.of(STANDARD).resources.templates.by_key
    completed = {
        uri: (await templates[uri].completers["id"](typed, {})).values
        for uri, typed in (("space://world/{id}", "WORLD-2"), ("space://agents/{id}", "stan"))
    }
    assert completed == {"space://world/{id}": ("world-2",), "space://agents/{id}": ("standard",)}
    argument = space.offers.of(STANDARD).prompts.prompts.by_key["space_context"].argument("agent")
    assert argument is not None
    assert argument.completer is not None
    assert (await argument.completer("min", {})).values == ("minimal",)


async def test_the_prompt_of_the_context_is_that_of_who_asks(space: Space) -> None:
    standard, minimal = await say(space, "space_context"), await say(space, "space_context", MINIMAL)
    assert "Now: activity=drawing" in standard
    assert "space_app_switch_surface" in standard
    assert standard != minimal
    assert await say(space, "space_context", agent="minimal") == minimal
    with pytest.raises(UnknownAgentError, match="there is no agent 'nobody'"):
        await say(space, "space_context", agent="nobody")


async def test_each_active_preset_that_says_something_is_a_prompt_and_follows_the_context(space: Space) -> None:
    before = space.offers.of(STANDARD).prompts
    assert "space_preset_drawing-shape-tools" in before.names
    assert "Look at it after you" in await say(space, "space_preset_general-view-tools")
    await space.context.ask(PatchContext({"surface": "scene"}))
    after = space.offers.of(STANDARD).prompts
    assert "space_preset_drawing-shape-tools" not in after.names
    assert after.revision > before.revision
    await space.context.ask(SetOverride("general-resources", "off"))
    assert space.offers.of(STANDARD).resources.uris == ()
    assert "space_context" not in space.offers.of(STANDARD).prompts.names


async def test_who_watches_is_told_of_what_the_user_does_and_of_nothing_else(space: Space) -> None:
    uris = ("space://context", "space://world/world-1", "space://world/world-2", "space://view.svg", "space://agents")
    with space.changes.watch(STANDARD, uris) as watch:
        await space.app.execute(RECTANGLE)
        told = set(await watch.next())
        with trio.move_on_after(0.1):
            told |= await watch.next()
        assert told == {"space://context", "space://world/world-1", "space://view.svg"}, "the new shape is selected"
        await space.world.ask(Execute(SwitchWorld("world-1")))
        with trio.move_on_after(0.1) as nothing:
            await watch.next()
        assert nothing.cancelled_caught, "it was in that world already"


@pytest.mark.slow
async def test_a_program_that_has_ended_is_told_of_and_read_whole(space: Space) -> None:
    with space.changes.watch(STANDARD) as watch:
        outcome = await space.programs.run_program(STANDARD, "this is no program", "try", AnsweringCall(forms=False))
        assert outcome.is_error
        (record,) = space.programs.log.latest()
        uri = f"space://programs/{record.id}"
        watch.add(uri)
        space.app.touch(uri)
        assert await watch.next() == {uri}
    assert (await read(space, uri))["code"] == "this is no program"
    with pytest.raises(ResourceNotFoundError, match="this agent has no program"):
        await read(space, uri, MINIMAL)
    assert (space.changes.is_there(STANDARD, uri), space.changes.is_there(MINIMAL, uri)) == (True, False)
    completed = {
        who: (await space.offers.of(who).resources.templates.by_key["space://programs/{id}"].completers["id"]("", {}))
        for who in (STANDARD, MINIMAL)
    }
    assert (completed[STANDARD].values, completed[MINIMAL].values) == ((record.id,), ())


def small(*, tool: ToolAdapter) -> CapabilityEdit:
    """One preset of every kind, of a deployment that keeps no prefix."""
    preset: PresetDefinition = item_preset("all", tools=(tool.id,), resources=("t.r",), prompts=("t.p",))
    return CapabilityEdit(
        add_adapters=(tool,),
        add_presets=(preset,),
        add_resource_adapters=(resource("t.r", "test://static"),),
        add_prompt_adapters=(prompt("t.p", "test_prompt"),),
    )


def greeting() -> ToolAdapter:
    def make_run(app: App) -> InteractiveRun:
        async def run(arguments: JsonObject, call: Interaction) -> ToolOutcome:
            app.touch("test://static")
            return ToolOutcome.text(f"{sorted(capability.value for capability in call.client.known)}")

        return run

    return ToolAdapter(id="t.t", mcp_name="test_tool", description="Tests.", input_schema={}, make_run=make_run)


async def test_a_deployment_may_register_all_kinds_under_names_of_its_own(tmp_path: Path) -> None:
    made = Space(engine_of(), MemoryStore(), SpaceOptions(workspace=tmp_path, tool_prefix=None))
    async with running(made, small(tool=greeting())) as space:
        offer = space.offers.of(STANDARD)
        assert (offer.tools.offered.names, offer.resources.uris) == (("test_tool",), ("test://static",))
        assert offer.prompts.names == ("test_prompt",)
        entry = offer.tools.offered.get("test_tool")
        assert entry is not None
        with space.changes.watch(STANDARD, ("test://static",)) as watch:
            outcome = await entry.definition.run({}, AnsweringCall())
            assert getattr(outcome.content[0], "text", "") == "['elicitation.form']"
            assert await watch.next() == {"test://static"}


async def test_a_change_of_what_exists_is_whole_for_all_kinds(space: Space) -> None:
    before = space.offers.of(STANDARD)
    nameless = CapabilityEdit(
        add_presets=(item_preset("nameless", resources=("t.r",), prompts=("t.p",)),),
        add_resource_adapters=(resource("t.r", "test://static", name=" "),),
        add_prompt_adapters=(prompt("t.p", "test_prompt"),),
    )
    with pytest.raises(RefusedToolsError):
        await space.context.ask(EditCapabilities(nameless))
    after = space.offers.of(STANDARD)
    assert (after.resources, after.prompts) == (before.resources, before.prompts)
    row = next(iter(await read(space, "space://presets")))
    assert row["name"] != "nameless"
