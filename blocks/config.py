"""What a user has changed about the blocks of a prompt. Owns the form of it and its rules; nothing here applies it.

A config is checked as a whole: one wrong value, and none of it is taken.
"""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from blocks.block import Role
from blocks.json_value import JsonValue, Listed, Mapped, Number, Text, not_null, whole_text

ContentMode = Literal["override", "prepend", "append"]
"""`override` replaces the content; the other two put the text on a line of its own before or after it."""

CustomBlockType = Literal["simple", "script"]
"""`simple` is text, taken as it is; `script` is the body of a JavaScript function of `ctx` that returns text."""

MAX_NAME_LENGTH = 100
"""Code points of a custom block's name: it is shown in one line, and its slug goes into the prompt."""

_ID_CHARACTERS = string.ascii_lowercase + string.digits

_NEW_ID_LENGTH = 8

_CUSTOM_ID = re.compile(r"cb-[a-z0-9]{4,12}")


def is_custom_id(block_id: str) -> bool:
    """Whether that is an id that a custom block can have, such as `cb-a1b2c3`."""
    return _CUSTOM_ID.fullmatch(block_id) is not None


def new_custom_id() -> str:
    """An id for a custom block that nobody else has chosen: one of a trillion."""
    return f"cb-{''.join(secrets.choice(_ID_CHARACTERS) for _ in range(_NEW_ID_LENGTH))}"


def _custom_id(value: str) -> str:
    if not is_custom_id(value):
        raise PydanticCustomError("id_format", "must be 'cb-' and 4 to 12 of a-z and 0-9, such as 'cb-a1b2c3'")
    return value


def _no_overrides() -> Mapping[str, BlockOverride]:
    return MappingProxyType({})


class BlockOverride(JsonValue):
    """What is changed about one block. Each field may be missing; `content_mode` may also be null, which is the same.

    `custom_content` without a mode does nothing, and is kept. With the mode `override` an empty one blanks the block;
    with the other two it does nothing.
    """

    enabled: Annotated[bool | None, BeforeValidator(not_null)] = None
    order: Annotated[Number | None, BeforeValidator(not_null)] = None
    content_mode: ContentMode | None = None
    custom_content: Annotated[Text | None, BeforeValidator(not_null)] = None

    def _written(self) -> Sequence[str]:
        return tuple(name for name in type(self).model_fields if name in self.model_fields_set)


class CustomBlockDefinition(JsonValue):
    """A block that a user has made. `order` counts where the config has no `block_order`."""

    id: Annotated[Text, AfterValidator(_custom_id)]
    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH), AfterValidator(whole_text)]
    role: Role
    order: Number = 0
    enabled: bool = True
    type: CustomBlockType
    content: Text


class BlockConfig(JsonValue):
    """Custom blocks, overrides by block id, and the ids of blocks in the order that the user wants.

    Ids need not name anything that exists: a block may be there only at times.
    """

    custom_blocks: Listed[CustomBlockDefinition] = ()
    overrides: Mapped[BlockOverride] = Field(default_factory=_no_overrides)
    block_order: Listed[Text] = ()

    def override(self, block_id: str) -> BlockOverride:
        """What is changed about that block; an empty override where nothing is."""
        return self.overrides.get(block_id, _UNCHANGED)

    def custom_block(self, block_id: str) -> CustomBlockDefinition | None:
        """The first custom block with that id, or None."""
        return next((one for one in self.custom_blocks if one.id == block_id), None)


class AgentBlockConfig(BlockConfig):
    """The config of one agent: also the tools that it must not have, by name, and a switch for `librarian.analyze`."""

    disabled_tools: Listed[Text] = ()
    disable_auto_analysis: bool = False

    @property
    def empty(self) -> bool:
        """Whether it changes nothing."""
        return self.to_json() == EMPTY_CONFIG.to_json()


_UNCHANGED = BlockOverride()

EMPTY_CONFIG = AgentBlockConfig()
"""Changes nothing."""
