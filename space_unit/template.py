"""The unit that `space unit new` writes: small, whole, with a test that passes. Owns its words."""

from __future__ import annotations

from collections.abc import Mapping

from engine.units.manifest import MANIFEST, check_unit_name

_MANIFEST = """\
title = "{title}"
description = "Says hello, and counts whom it has greeted."
"""

_UNIT = '''\
"""{title}: what it contributes stands in this file. See docs/units.md of Space."""

from typing import Annotated

from pydantic import BaseModel, Field

from space_unit import Call, ToolError, preset, tool


class Greeting(BaseModel):
    text: str
    count: int = Field(description="How often this world has been greeted.")


@tool
async def greet(call: Call, name: Annotated[str, Field(description="Who is greeted.")]) -> Greeting:
    """Greet somebody. The world counts the greetings, and undo takes one back."""
    if not name.strip():
        raise ToolError("name is empty; say who is to be greeted")
    count = await call.state.get("count", 0) + 1
    await call.state.set("count", count)
    return Greeting(text=f"Hello, {{name}}!", count=count)


tools = preset(
    "{name}",
    tools=[greet],
    contexts=[{{"surface": "any"}}],
    risk="normal",
    prompt="{tool_name} greets people by name.",
)
'''

_TEST = '''\
"""`space unit test {name}` runs these. A test is a function without parameters, async or not."""

from space_unit import ToolError
from space_unit.testing import call_for_tests

from ..unit import greet


async def test_it_greets_by_name_and_counts() -> None:
    call = call_for_tests()
    assert (await greet(call, "Ada")).text == "Hello, Ada!"
    assert (await greet(call, "Ada")).count == 2


async def test_a_greeting_needs_a_name() -> None:
    try:
        await greet(call_for_tests(), " ")
    except ToolError as error:
        assert "empty" in str(error)
    else:
        raise AssertionError("it greeted nobody")
'''


def template_files(name: str) -> Mapping[str, bytes]:
    """The files of a new unit. Raises `InvalidUnitError` for a name that is none."""
    check_unit_name(name)
    words = {
        "name": name,
        "title": name.replace("-", " ").capitalize(),
        "tool_name": f"space_{name.replace('-', '_')}_greet",
    }
    texts = {MANIFEST: _MANIFEST, "unit.py": _UNIT, "tests/test_unit.py": _TEST}
    return {path: text.format(**words).encode() for path, text in texts.items()}
