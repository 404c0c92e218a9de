"""Prompts made of blocks over a running engine: what Space's own agents read, hooks, models, and scripts that go on."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.agents import FollowCapabilities
from actors.block_prompts import model_chosen_of
from actors.blocks import UseBlocks
from actors.context import PatchContext
from actors.space import Space, SpaceOptions, built_in_capabilities
from blocks.apply import Audience
from blocks.block import ContextBlock
from blocks.context import AgentBlockContext
from blocks.edits import add_custom_block, patch_config
from blocks.manipulation import replace_block_content
from blocks.providers import read_providers
from blocks.script import ScriptText
from blocks.store.story_files import StoryPlace
from blocks.story import StoryMeta
from engine.drawing.insert import InsertBox
from engine.errors import NotFoundError
from presets.agents.definition import UnusableAgentError
from presets.agents.roster import UnknownAgentError
from protocol.session import Audience as SessionAudience
from tests.actors.fakes import MemoryStore, engine_of, running

HERE = StoryPlace("tale")
SCRIPT = {"id": "cb-aaaa", "name": "Who", "role": "user", "type": "script"}


@pytest.fixture
async def space(tmp_path: Path) -> AsyncGenerator[Space]:
    """An engine with all its tools and the story `tale`."""
    made = Space(engine_of(), MemoryStore(), SpaceOptions(workspace=tmp_path, data=tmp_path / "data"))
    async with running(made, built_in_capabilities()) as space:
        await space.blocks.ask(UseBlocks(lambda store: store.stories.create({"name": "A Tale", "id": "tale"})))
        yield space


async def blocks_of(space: Space, agent: str) -> dict[str, str]:
    return {block.id: block.content for block in (await space.block_prompts.compile_space_agent(agent)).blocks}


async def test_the_blocks_of_an_agent_of_space_follow_the_engine(space: Space) -> None:
    found = await blocks_of(space, "standard")
    assert list(found) == ["instructions", "tools", "preset-prompts", "context", "world"]
    assert found["world"] == "The world is 'home' (world-1), at revision 0. There are other worlds: 'garden'."
    await space.app.execute(InsertBox(kind="rectangle", x=0, y=0, width=2, height=1))
    found = await blocks_of(space, "standard")
    assert "selection" in found
    assert "at revision 1" in found["world"]
    await space.context.ask(PatchContext({"surface": "scene"}))
    assert "scene-object-tools (5)" in (await blocks_of(space, "standard"))["tools"]


async def test_an_agent_that_writes_programs_is_told_the_rule_and_no_list(space: Space) -> None:
    tools = (await blocks_of(space, "code"))["tools"]
    assert tools.startswith("Only `space_run_code` can be called directly.")
    assert "space_drawing_inspect" not in tools


async def test_a_config_of_an_agent_of_space_changes_what_its_model_reads(space: Space) -> None:
    changes: dict[str, Any] = {
        "overrides": {
            "instructions": {"contentMode": "override", "customContent": "Draw."},
            "world": {"enabled": False},
        },
        "blockOrder": ["context", "instructions"],
        "disabledTools": ["space_drawing_insert_shape"],
    }
    edit = partial(patch_config, raw=changes)
    await space.blocks.ask(UseBlocks(lambda store: store.configs.edit(None, "standard", edit)))
    compiled = await space.block_prompts.compile_space_agent("standard")
    (message,) = compiled.messages
    assert message.content.startswith("[@block=context]\nNow: ")
    assert "\n\n[@block=instructions]\nDraw.\n\n[@block=tools]\n" in message.content
    assert "space_drawing_insert_shape" not in message.content.partition("[@block=preset-prompts]")[0]
    assert "space_drawing_insert_shape" not in [tool.name for tool in compiled.tools]
    assert "world" in await blocks_of(space, "code")


async def test_an_agent_that_there_is_not_is_named(space: Space, tmp_path: Path) -> None:
    with pytest.raises(UnknownAgentError):
        await space.block_prompts.compile_space_agent("nope")
    with pytest.raises(NotFoundError, match="nope"):
        await space.block_prompts.prepare(HERE, "nope")
    with pytest.raises(NotFoundError, match="story"):
        await space.block_prompts.prepare(StoryPlace("gone"), "nope")


async def test_an_engine_without_a_data_folder_has_prompts_as_they_come(tmp_path: Path) -> None:
    made = Space(engine_of(), MemoryStore(), SpaceOptions(workspace=tmp_path))
    async with running(made, built_in_capabilities()) as space:
        assert "context" in await blocks_of(space, "standard")


async def test_a_tool_that_is_switched_off_for_one_agent_is_hidden_from_that_agent_alone(space: Space) -> None:
    edit = partial(patch_config, raw={"disabledTools": ["space_drawing_inspect"]})
    await space.blocks.ask(UseBlocks(lambda store: store.configs.edit(None, "standard", edit)))
    await space.agents.ask(FollowCapabilities())
    standard, creative = (space.tools.of(SessionAudience(name)) for name in ("standard", "creative"))
    assert standard.capabilities.get("space_drawing_inspect") is None
    assert "switched off in its editor" in (standard.why_hidden("space_drawing_inspect") or "")
    assert creative.capabilities.get("space_drawing_inspect") is not None
    definition = await space.block_prompts.definition(None, "standard")
    assert "space_drawing_inspect" in [tool.name for tool in definition.available_tools]


async def test_an_unusable_agent_is_refused_with_its_reason(space: Space) -> None:
    """Nothing of the four that ship is unusable here, so this one is taken from an engine without tools."""
    made = Space(engine_of(), MemoryStore(), SpaceOptions(workspace=space.options.workspace))
    async with running(made) as bare:
        with pytest.raises(UnusableAgentError):
            await bare.block_prompts.compile_space_agent("minimal")


async def test_hooks_of_plugins_see_the_blocks_after_the_users_changes(space: Space) -> None:
    seen: list[str] = []

    def before_blocks(blocks: tuple[ContextBlock, ...]) -> tuple[ContextBlock, ...]:
        seen.extend(block.id for block in blocks)
        return replace_block_content(blocks, "instructions", "From the plugin.")

    space.block_prompts.hooks.register("tests", before_blocks=before_blocks)
    edit = partial(patch_config, raw={"overrides": {"author-input": {"enabled": False}}})
    await space.blocks.ask(UseBlocks(lambda store: store.configs.edit(HERE, "generation.writer", edit)))
    compiled = await space.block_prompts.compile(await space.block_prompts.prepare(HERE, "generation.writer"))
    assert "author-input" not in seen
    first = compiled.report.blocks[0].to_json()
    assert first["changes"][-1] == {"kind": "hook", "detail": "tests"}


async def test_tags_of_fragments_stand_for_them_in_a_preview(space: Space) -> None:
    fragment = {"type": "knowledge", "name": "Magic $& rules", "id": "kn-ab12", "content": "$1 & <@kn-ab12>"}
    block = {**SCRIPT, "type": "simple", "content": "Mind: <@kn-ab12> <@kn-ab12:short>"}
    await space.blocks.ask(UseBlocks(lambda store: store.fragments.create(HERE, fragment)))
    edit = partial(add_custom_block, raw=block)
    await space.blocks.ask(UseBlocks(lambda store: store.configs.edit(HERE, "generation.writer", edit)))
    compiled = await space.block_prompts.compile(await space.block_prompts.prepare(HERE, "generation.writer"))
    assert "Mind: ### Magic $& rules\n$1 & <@kn-ab12> Magic $& rules: " in compiled.messages[1].content


@pytest.mark.slow
async def test_a_script_is_told_of_by_people_and_not_by_the_model(space: Space) -> None:
    edit = partial(add_custom_block, raw={**SCRIPT, "content": "throw new Error('secret detail')"})
    await space.blocks.ask(UseBlocks(lambda store: store.configs.edit(HERE, "librarian.chat", edit)))
    prepared = await space.block_prompts.prepare(HERE, "librarian.chat")
    preview = await space.block_prompts.compile(prepared)
    assert "secret detail" in preview.messages[-1].content
    run = await space.block_prompts.compile(prepared, Audience.MODEL)
    assert "secret detail" not in "".join(message.content for message in run.messages)
    assert await space.block_prompts.evaluate(prepared, "return ctx.story.name") == ScriptText("A Tale")


def test_the_model_of_a_preview_is_the_one_that_a_run_would_take() -> None:
    provider = {"id": "p", "name": "P", "baseURL": "http://localhost", "apiKey": "k", "defaultModel": "small"}
    providers = read_providers({"providers": [provider], "defaultProviderId": "p"})
    settings = {"modelOverrides": {"librarian": {"providerId": "p", "modelId": "large"}}}
    context = AgentBlockContext(story=StoryMeta(name="x", settings=settings))
    chosen = model_chosen_of(lambda: providers)
    assert (chosen("librarian.chat", context), chosen("directions.suggest", context)) == ("large", "small")
    assert model_chosen_of(lambda: read_providers(None))("librarian.chat", context) is None


async def test_an_agent_of_space_never_waits_for_a_story(space: Space) -> None:
    reached, opened = threading.Event(), threading.Event()

    def slow(_: object) -> None:
        reached.set()
        opened.wait(10)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(space.blocks.ask, UseBlocks(slow))
        assert await trio.to_thread.run_sync(reached.wait, 5)
        try:
            with trio.fail_after(5):
                assert "instructions" in await blocks_of(space, "standard")
                await space.agents.ask(FollowCapabilities())
        finally:
            opened.set()
