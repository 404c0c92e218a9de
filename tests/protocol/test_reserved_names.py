"""Reserved names: kept for a purpose, together with what a client would take for the same."""

from __future__ import annotations

import pytest

from protocol.reserved_names import NOTHING_RESERVED, ReservedNames
from protocol.tool_registry import InvalidToolError, ReservedNameError, ToolRegistry
from tests.protocol.samples import NOW, tool

RESERVED = ReservedNames({"space_go": "the tool that goes"})


def test_a_registry_refuses_a_reserved_name_and_says_what_it_is_for() -> None:
    registry = ToolRegistry("space_", RESERVED)
    with pytest.raises(ReservedNameError) as caught:
        registry.register(tool("space_go"), now=NOW)
    assert str(caught.value) == "tool 'space_go': the name is reserved for the tool that goes; choose another"
    assert isinstance(caught.value, InvalidToolError)


def test_a_batch_with_a_reserved_name_changes_nothing() -> None:
    registry = ToolRegistry(None, RESERVED)
    registry.register(tool("space_old"), now=NOW)
    with pytest.raises(ReservedNameError):
        registry.apply(removals=[("space_old", "presets")], additions=[tool("space_new"), tool("Space.Go")], now=NOW)
    assert registry.snapshot().names == ("space_old",)


def test_a_registry_that_reserves_nothing_takes_every_name() -> None:
    assert ToolRegistry().register(tool("space_go"), now=NOW).names == ("space_go",)
    assert (len(NOTHING_RESERVED), list(RESERVED)) == (0, ["space_go"])


@pytest.mark.parametrize(("name", "kept"), [("SPACE-GO", "space_go"), ("space.go", "space_go"), ("space_goo", None)])
def test_a_name_is_taken_by_what_can_be_mistaken_for_it(name: str, kept: str | None) -> None:
    assert RESERVED.reserved(name) == kept
