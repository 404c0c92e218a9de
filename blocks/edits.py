"""The changes that a user can make to a config. Owns what each does; every one gives a new config, valid as a whole.

What is asked comes as parsed JSON, and is checked before anything is changed: the paths of an error are those in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from blocks.block import ContextBlock
from blocks.config import AgentBlockConfig, BlockOverride, CustomBlockDefinition, is_custom_id
from blocks.given import (
    demand_none,
    issues_of_block_order,
    issues_of_custom_block,
    issues_of_override,
    unknown_members,
)
from blocks.issue import InvalidBlockDataError, Issue
from blocks.json_value import plain
from blocks.placement import Standing, insertion_index
from engine.errors import NotFoundError

Defaults: TypeAlias = Sequence[ContextBlock]
"""The blocks that the agent has by default, as far as they are known: they tell where in an order a new one goes."""


PATCHED = ("overrides", "blockOrder", "disabledTools", "disableAutoAnalysis")
"""What `patch_config` takes."""


def add_custom_block(config: AgentBlockConfig, raw: object, defaults: Defaults = ()) -> AgentBlockConfig:
    """Add a custom block, given as the JSON of its definition.

    Where there is a block order, the id goes to the place in it that the definition's `order` gives it among `defaults`
    and the other custom blocks; without one there is still none, and the block sorts by its `order`. Raises
    `InvalidBlockDataError`.
    """
    added = CustomBlockDefinition.from_json(raw)
    demand_none(issues_of_custom_block(_object(raw)))
    block_order = config.block_order
    if block_order:
        standings = [Standing(one.id, one.role, one.order) for one in (*defaults, *config.custom_blocks)]
        index = insertion_index(standings, Standing(added.id, added.role, added.order), block_order)
        block_order = (*block_order[:index], added.id, *block_order[index:])
    return _with(config, custom_blocks=(*config.custom_blocks, added), block_order=block_order)


def update_custom_block(config: AgentBlockConfig, block_id: str, raw: object) -> AgentBlockConfig:
    """Change fields of the custom block with that id, the first where there are several.

    Its id stays. Switching it on or off works on the override too, so that the block is then on or off. Raises
    `NotFoundError` for an unknown id and `InvalidBlockDataError`.
    """
    changes = _object(raw)
    if changes.get("id", block_id) != block_id:
        message = f"cannot be changed; it is {block_id!r}. Delete the block and make another one"
        raise InvalidBlockDataError([Issue(("id",), "invalid_value", message)])
    index = next((at for at, one in enumerate(config.custom_blocks) if one.id == block_id), None)
    if index is None:
        known = ", ".join(repr(one.id) for one in config.custom_blocks) or "none"
        raise NotFoundError(f"there is no custom block {block_id[:80]!r}; there are {known}")
    demand_none(issues_of_custom_block(changes))
    updated = CustomBlockDefinition.from_json({**config.custom_blocks[index].to_json(), **changes})
    blocks = (*config.custom_blocks[:index], updated, *config.custom_blocks[index + 1 :])
    overrides = dict(config.overrides)
    if "enabled" in changes and config.override(block_id).enabled is not None:
        overrides[block_id] = _merged(config.override(block_id), {"enabled": updated.enabled})
    return _with(config, custom_blocks=blocks, overrides=overrides)


def delete_custom_block(config: AgentBlockConfig, block_id: str) -> AgentBlockConfig:
    """Take a custom block away, with its override and its places in the order. One that is not there changes nothing.

    Raises `NotFoundError` for an id that no custom block can have: what a builtin block has is patched.
    """
    if not is_custom_id(block_id):
        raise NotFoundError(
            f"{block_id[:80]!r} is not the id of a custom block; to undo what was changed about a builtin block, "
            "set its override to null"
        )
    return _with(
        config,
        custom_blocks=tuple(one for one in config.custom_blocks if one.id != block_id),
        overrides={key: override for key, override in config.overrides.items() if key != block_id},
        block_order=tuple(one for one in config.block_order if one != block_id),
    )


def patch_overrides(config: AgentBlockConfig, raw: object) -> AgentBlockConfig:
    """Change overrides, given as `{id: {field: value}}`.

    A field that is null is removed, as is an override that is null or has nothing left; what is not named stays.
    Switching a custom block on or off works on its definition too, so that it is then on or off. Raises
    `InvalidBlockDataError`.
    """
    overrides = dict(config.overrides)
    switched: dict[str, bool] = {}
    issues: list[Issue] = []
    for block_id, fields in _object(raw).items():
        if fields is None:
            overrides.pop(block_id, None)
            continue
        try:
            changes = _object(fields)
            demand_none(issues_of_override(changes))
            merged = _merged(overrides.get(block_id, BlockOverride()), changes)
        except InvalidBlockDataError as error:
            issues.extend(error.under(block_id).issues)
            continue
        overrides[block_id] = merged
        if not merged.model_fields_set:
            del overrides[block_id]
        if changes.get("enabled") is not None and merged.enabled is not None:
            switched[block_id] = merged.enabled
    if issues:
        raise InvalidBlockDataError(issues)
    blocks = tuple(
        one.model_copy(update={"enabled": switched.get(one.id, one.enabled)}) for one in config.custom_blocks
    )
    return _with(config, custom_blocks=blocks, overrides=overrides)


def set_enabled(config: AgentBlockConfig, block_id: str, enabled: bool) -> AgentBlockConfig:
    """The editor's switch: afterwards the block is on or off, whichever of the two switches of it was set how."""
    if config.custom_block(block_id) is not None:
        return update_custom_block(config, block_id, {"enabled": enabled})
    return patch_overrides(config, {block_id: {"enabled": None if enabled else False}})


def set_block_order(config: AgentBlockConfig, raw: object) -> AgentBlockConfig:
    """Replace the block order by that list; an empty one clears it. Raises `InvalidBlockDataError`."""
    return _replaced(config, "blockOrder", raw)


def set_disabled_tools(config: AgentBlockConfig, raw: object) -> AgentBlockConfig:
    """Replace the list of tools that the agent must not have. Raises `InvalidBlockDataError`."""
    return _replaced(config, "disabledTools", raw)


def set_auto_analysis_disabled(config: AgentBlockConfig, raw: object) -> AgentBlockConfig:
    """Turn the analysis after each generation off, or on again. Raises `InvalidBlockDataError`."""
    return _replaced(config, "disableAutoAnalysis", raw)


def patch_config(config: AgentBlockConfig, raw: object) -> AgentBlockConfig:
    """All that `raw` says of `PATCHED`, or nothing of it where any is wrong: overrides are merged, the rest replaced.

    Raises `InvalidBlockDataError` with every issue, also for any other key: custom blocks are changed one by one.
    """
    changes = _object(raw)
    issues = [*unknown_members(changes, PATCHED), *issues_of_block_order(changes.get("blockOrder"))]
    for key in PATCHED:
        if key not in changes:
            continue
        try:
            if key == "overrides":
                config = patch_overrides(config, changes[key])
            else:
                config = _replaced(config, key, changes[key])
        except InvalidBlockDataError as error:
            issues.extend((error.under(key) if key == "overrides" else error).issues)
    if issues:
        raise InvalidBlockDataError(issues)
    return config


def _replaced(config: AgentBlockConfig, key: str, raw: object) -> AgentBlockConfig:
    return AgentBlockConfig.from_json({**config.to_json(), key: raw})


def _merged(override: BlockOverride, changes: Mapping[str, Any]) -> BlockOverride:
    fields = {**override.to_json(), **changes}
    return BlockOverride.from_json({key: value for key, value in fields.items() if value is not None})


def _object(raw: object) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise InvalidBlockDataError([Issue((), "invalid_type", "must be an object")])
    return cast("Mapping[str, Any]", raw)


def _with(config: AgentBlockConfig, **parts: object) -> AgentBlockConfig:
    """The config with these parts, checked like any other, so that no edit can make one that is not valid."""
    fields = AgentBlockConfig.model_fields
    return AgentBlockConfig.from_json(
        {**config.to_json(), **{fields[name].alias or name: plain(part) for name, part in parts.items()}}
    )
