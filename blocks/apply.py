"""A user's config is applied to the blocks of a prompt. Owns the five steps and their order; scripts run elsewhere.

The steps: add custom blocks, change contents, place by `blockOrder`, place by single orders, drop what is disabled.
Nothing that was given is changed, and the result is not sorted: compiling does that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from blocks.block import CUSTOM, ContextBlock
from blocks.change import Change, Dropped, ScriptError
from blocks.config import BlockConfig, BlockOverride, CustomBlockDefinition
from blocks.json_value import Json
from blocks.placement import Standing, placed_orders
from blocks.script import ScriptEvaluator, ScriptFailure, ScriptOther, ScriptText, is_blank


class Audience(StrEnum):
    """Who reads the compiled text. A person wants to see why a script failed; to a model that says nothing."""

    PREVIEW = "preview"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Applied:
    """The blocks, what each is made of (in the same order), what is not among them, and which scripts failed."""

    blocks: tuple[ContextBlock, ...]
    changes: tuple[tuple[Change, ...], ...]
    dropped: tuple[Dropped, ...] = ()
    script_errors: tuple[ScriptError, ...] = ()


def error_placeholder(name: str, message: str, audience: Audience) -> str:
    """What stands in the prompt for a script block of that name that failed."""
    if audience is Audience.MODEL:
        return f'[Script error in custom block "{name}"]'
    return f'[Script error in "{name}": {message}]'


async def apply_block_config(
    blocks: Sequence[ContextBlock],
    config: BlockConfig,
    context: Mapping[str, Json],
    evaluator: ScriptEvaluator,
    *,
    audience: Audience = Audience.PREVIEW,
    definition: str = "",
) -> Applied:
    """The blocks as the user wants them: those given first, then custom ones, in the order of the config.

    `context` is what scripts see, and `definition` the name of the agent that made the blocks, for the record. A
    disabled custom block is not evaluated. A script that fails leaves a placeholder in its place, and no other block is
    affected. Raises only what the evaluator raises, which is a bug.
    """
    making = _Making(config, audience)
    for block in blocks:
        making.add(block, Change("definition", definition))
    for custom in config.custom_blocks:
        await making.add_custom(custom, context, evaluator)
    making.change_contents()
    making.place()
    making.drop_disabled()
    return Applied(
        tuple(part.block for part in making.parts),
        tuple(tuple(part.changes) for part in making.parts),
        tuple(making.dropped),
        tuple(making.script_errors),
    )


@dataclass(slots=True)
class _Part:
    block: ContextBlock
    changes: list[Change]


@dataclass(slots=True)
class _Making:
    """The blocks while they are made."""

    config: BlockConfig
    audience: Audience
    parts: list[_Part] = field(default_factory=list[_Part])
    dropped: list[Dropped] = field(default_factory=list[Dropped])
    script_errors: list[ScriptError] = field(default_factory=list[ScriptError])

    def add(self, block: ContextBlock, *changes: Change) -> None:
        self.parts.append(_Part(block, list(changes)))

    async def add_custom(
        self, custom: CustomBlockDefinition, context: Mapping[str, Json], evaluator: ScriptEvaluator
    ) -> None:
        if not custom.enabled:
            self.dropped.append(Dropped(custom.id, custom.name, "definition-disabled"))
        elif self.config.override(custom.id).enabled is False:
            self.dropped.append(Dropped(custom.id, custom.name, "override-disabled"))
        elif custom.type == "simple":
            self._add_text(custom, custom.content, Change("custom"))
        else:
            await self._add_script(custom, context, evaluator)

    async def _add_script(
        self, custom: CustomBlockDefinition, context: Mapping[str, Json], evaluator: ScriptEvaluator
    ) -> None:
        match await evaluator.evaluate(custom.content, context):
            case ScriptFailure(message):
                self.script_errors.append(ScriptError(custom.id, custom.name, message))
                placeholder = error_placeholder(custom.name, message, self.audience)
                self._add_text(custom, placeholder, Change("script-error"))
            case ScriptOther(what):
                detail = f"a script block must return a string, this one returned {what}"
                self.dropped.append(Dropped(custom.id, custom.name, "script-no-text", detail))
            case ScriptText(text) if is_blank(text):
                self.dropped.append(Dropped(custom.id, custom.name, "script-blank"))
            case ScriptText(text):
                self._add_text(custom, text, Change("script"))

    def _add_text(self, custom: CustomBlockDefinition, content: str, change: Change) -> None:
        block = ContextBlock(
            id=custom.id, name=custom.name, role=custom.role, content=content, order=custom.order, source=CUSTOM
        )
        self.add(block, change)

    def change_contents(self) -> None:
        for part in self.parts:
            override = self.config.override(part.block.id)
            content = _changed(part.block.content, override)
            if content is not None:
                part.block = replace(part.block, content=content)
                part.changes.append(Change("content", override.content_mode or ""))

    def place(self) -> None:
        listed = set(self.config.block_order)
        standings = [Standing(part.block.id, part.block.role, part.block.order) for part in self.parts]
        for part, order in zip(self.parts, placed_orders(standings, self.config.block_order), strict=True):
            if part.block.id in listed:
                part.changes.append(Change("position"))
            elif order != part.block.order:
                part.changes.append(Change("neighbour"))
            part.block = replace(part.block, order=order)
            single = self.config.override(part.block.id).order
            if single is not None:
                part.block = replace(part.block, order=single)
                part.changes.append(Change("order"))

    def drop_disabled(self) -> None:
        kept: list[_Part] = []
        for part in self.parts:
            if self.config.override(part.block.id).enabled is False:
                self.dropped.append(Dropped(part.block.id, part.block.name, "override-disabled"))
            else:
                kept.append(part)
        self.parts = kept


def _changed(content: str, override: BlockOverride) -> str | None:
    """The content as the override makes it, or None where it says nothing about it."""
    text = override.custom_content
    match override.content_mode:
        case "override" if text is not None:
            return text
        case "prepend" if text:
            return f"{text}\n{content}"
        case "append" if text:
            return f"{content}\n{text}"
        case _:
            return None
