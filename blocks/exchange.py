"""Configs on their way out and in: of one agent, or of all of a story. Owns the envelopes; what comes in is checked
whole, before any of it is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from blocks.agents import AgentBlockDefinition, is_agent_name
from blocks.config import AgentBlockConfig
from blocks.given import demand_none, issues_of_custom_block, issues_of_override, unknown_members
from blocks.issue import InvalidBlockDataError, Issue

CONFIGS_KEY = "agentBlockConfigs"
"""Where in a bundle the configs stand, by agent."""


@dataclass(frozen=True, slots=True)
class ImportedConfig:
    """A config that came in, and the names of its script blocks: code that somebody else may have written."""

    config: AgentBlockConfig
    scripts: tuple[str, ...]


def export_config(definition: AgentBlockDefinition, config: AgentBlockConfig) -> dict[str, Any]:
    """The envelope of one agent's config: `{agentName, displayName, config}`."""
    return {
        "agentName": definition.agent_name,
        "displayName": definition.display_name,
        "config": config.to_json(),
    }


def import_config(raw: object) -> ImportedConfig:
    """The config of an envelope; whose it was does not matter. Raises `InvalidBlockDataError`."""
    envelope = _object(raw, ())
    if envelope.get("config") is None:
        raise InvalidBlockDataError([Issue(("config",), "invalid_type", "is missing")])
    return _imported(envelope["config"], ("config",))


def export_bundle(configs: Mapping[str, AgentBlockConfig]) -> dict[str, Any]:
    """The bundle of the configs that change anything, by agent; an empty object where none does."""
    changing = {name: config.to_json() for name, config in configs.items() if not config.empty}
    return {CONFIGS_KEY: changing} if changing else {}


def import_bundle(raw: object, agents: Collection[str]) -> Mapping[str, ImportedConfig]:
    """The configs of a bundle by agent, to replace what these agents have; others keep theirs. Other keys are
    ignored beside the configs, as a bundle may hold more than these; without any configs only an empty one is taken.

    `agents` are those that there are; a bundle for another one is refused. Raises `InvalidBlockDataError` with
    everything that is wrong with any of them.
    """
    bundle = _object(raw, ())
    if CONFIGS_KEY not in bundle:
        demand_none(unknown_members(bundle, (CONFIGS_KEY,)))
    configs = _object(bundle.get(CONFIGS_KEY, {}), (CONFIGS_KEY,))
    imported: dict[str, ImportedConfig] = {}
    issues: list[Issue] = []
    for name, config in configs.items():
        path = (CONFIGS_KEY, name)
        if not is_agent_name(name) or name not in agents:
            known = ", ".join(agents) or "none"
            issues.append(Issue(path, "invalid_value", f"there is no agent of that name; there are: {known}"))
            continue
        try:
            imported[name] = _imported(config, path)
        except InvalidBlockDataError as error:
            issues.extend(error.issues)
    if issues:
        raise InvalidBlockDataError(issues)
    return imported


def _imported(raw: object, path: tuple[str, ...]) -> ImportedConfig:
    try:
        config = AgentBlockConfig.from_json(raw)
    except InvalidBlockDataError as error:
        raise error.under(*path) from None
    demand_none([*_issues_of_blocks(config, path), *_issues_of_overrides(config, path)])
    return ImportedConfig(config, tuple(one.name for one in config.custom_blocks if one.type == "script"))


def _issues_of_blocks(config: AgentBlockConfig, path: tuple[str, ...]) -> Iterator[Issue]:
    """What an editor would not have let into a block either."""
    seen: set[str] = set()
    for index, one in enumerate(config.custom_blocks):
        place = (*path, "customBlocks", index)
        yield from issues_of_custom_block({"name": one.name, "content": one.content}, place)
        if one.id in seen:
            yield Issue((*place, "id"), "invalid_value", f"{one.id[:80]!r} is the id of another block before")
        seen.add(one.id)


def _issues_of_overrides(config: AgentBlockConfig, path: tuple[str, ...]) -> Iterator[Issue]:
    for block_id, override in config.overrides.items():
        yield from issues_of_override({"customContent": override.custom_content}, (*path, "overrides", block_id[:80]))


def _object(raw: object, path: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise InvalidBlockDataError([Issue(path, "invalid_type", "must be an object")])
    return cast("Mapping[str, Any]", raw)
