"""The recorded choices of models, made with providers as they lie on disk, before and after their keys were moved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.configured_models import ConfiguredModels
from actors.provider_files import CONFIG_FILE
from actors.providers import ProvidersActor, PutProvider
from blocks.context import AgentBlockContext
from blocks.model_resolution import NoModelError
from blocks.story import StoryMeta
from tests.actors.test_providers import KEY, MAIN, providers_in
from tests.blocks.recorded import cases


def resolved(actor: ProvidersActor, given: dict[str, Any]) -> dict[str, Any]:
    """What was recorded of a choice."""
    settings = given["settings"] if given["storyGiven"] and given["storyExists"] else {}
    try:
        found = ConfiguredModels(actor.providers).of(given["role"] or "generation", settings)
    except NoModelError:
        return {"error": "no-provider"}
    return {
        "providerId": found.provider_id,
        "modelId": found.model_id,
        "temperature": found.temperature,
        "providerName": found.provider.name,
        "baseURL": found.provider.base_url,
        "headers": dict(found.provider.custom_headers),
    }


@cases("resolve_model")
async def test_recorded(case: dict[str, Any], tmp_path: Path) -> None:
    given = case["input"]
    config = given["globalConfig"]
    if config is not None:
        (tmp_path / CONFIG_FILE).write_text(config if isinstance(config, str) else json.dumps(config))
    for _ in range(2):
        async with providers_in(tmp_path) as actor:
            assert resolved(actor, given) == case["expected"]


async def test_a_choice_follows_the_providers_at_once_and_its_error_names_what_was_left_out(tmp_path: Path) -> None:
    broken = {"id": "bad", "name": "B", "baseURL": "nonsense", "apiKey": KEY}
    await trio.Path(tmp_path / CONFIG_FILE).write_text(json.dumps({"providers": [broken]}))
    async with providers_in(tmp_path) as actor:
        models = ConfiguredModels(actor.providers)
        context = AgentBlockContext(story=StoryMeta(name="A Tale"))
        assert models.id_of("librarian.chat", context) is None
        with pytest.raises(NoModelError, match="Left out: provider 'bad' is not valid: baseURL") as caught:
            models.of("librarian.chat", {"modelOverrides": {"librarian": {"providerId": "bad"}}})
        assert KEY not in str(caught.value)
        await actor.ask(PutProvider("main", MAIN))
        assert models.id_of("librarian.chat", context) == "m-1"
