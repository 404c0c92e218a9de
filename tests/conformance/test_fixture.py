"""What the fixture server offers, beside what is built in."""

from __future__ import annotations

from pathlib import Path

from actors.space import Space, SpaceOptions, built_in_capabilities
from protocol.session import Audience
from tests.actors.fakes import MemoryStore, engine_of, running
from tests.conformance.server import capabilities
from tests.conformance.tools import MORE_PROMPTS, MORE_TOOLS

STANDARD = Audience("standard")


async def test_everything_that_is_always_there_is_offered_and_the_rest_comes_with_its_fact(tmp_path: Path) -> None:
    own = capabilities()
    at_times = {"test_tool_at_times", "test_prompt_at_times"}
    made = Space(engine_of(), MemoryStore(), SpaceOptions(workspace=tmp_path, tool_prefix=None))
    async with running(made, built_in_capabilities(), own):
        offer = made.offers.of(STANDARD)
        tools = {entry.definition.name for entry in offer.tools.offered}
        assert {adapter.mcp_name for adapter in own.add_adapters} - tools == {"test_tool_at_times"}
        assert {adapter.name for adapter in own.add_prompt_adapters} - set(offer.prompts.prompts.by_key) == {
            "test_prompt_at_times"
        }
        uris = {*offer.resources.uris, *offer.resources.template_texts}
        assert {adapter.uri for adapter in own.add_resource_adapters} <= uris
        assert "space_drawing_inspect" in tools
        await made.app.patch_context({MORE_TOOLS: True, MORE_PROMPTS: True})
        offer = made.offers.of(STANDARD)
        names = {*(entry.definition.name for entry in offer.tools.offered), *offer.prompts.prompts.by_key}
        assert at_times <= names
