"""The reserved name: nobody registers it, or what could be mistaken for it, in any deployment."""

from __future__ import annotations

import pytest

from engine.errors import InvalidArgumentError
from presets.presentation import RESERVED_NAMES, RUN_CODE_NAME, Presentation
from protocol.tool_registry import ReservedNameError, ToolRegistry
from tests.presets.samples import adapter, adapters, tool

TAKEN = [
    "space_run_code",
    "SPACE_RUN_CODE",
    "Space_Run_Code",
    "space-run-code",
    "space.run_code",
    "run_code",
    "Run.Code",
]


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("prefix", ["space_", None])
def test_no_registry_that_keeps_the_name_registers_it(name: str, prefix: str | None):
    registry = ToolRegistry(prefix, RESERVED_NAMES)
    with pytest.raises(ReservedNameError, match="is reserved for the tool that runs a program in Code Mode"):
        registry.register(tool(name), now=0)
    assert len(registry.snapshot()) == 0


@pytest.mark.parametrize("name", TAKEN)
def test_no_adapter_may_have_the_name(name: str):
    with pytest.raises(InvalidArgumentError, match=r"tool adapter 'a\.b', MCP name .* is reserved for the tool"):
        adapters(adapter("a.b", name))


@pytest.mark.parametrize("name", ["space_run_codes", "space_run", "space_run_code_2", "space_runcode"])
def test_names_that_only_come_near_are_free(name: str):
    assert ToolRegistry("space_", RESERVED_NAMES).register(tool(name), now=0).names == (name,)
    assert adapters(adapter("a.b", name)).named(name)


def test_what_can_be_mistaken_says_for_what():
    with pytest.raises(InvalidArgumentError, match="the name can be mistaken for 'space_run_code', which is reserved"):
        adapters(adapter("a.b", "space-run-code"))


def test_only_native_does_without_programs():
    assert [mode.runs_programs for mode in Presentation] == [False, True, True]
    assert RUN_CODE_NAME in RESERVED_NAMES


@pytest.mark.parametrize("name", ["space_find_tools", "space_call_tool", "space.call-tool"])
def test_nobody_has_the_names_of_the_pair_either(name: str):
    with pytest.raises(ReservedNameError, match="is reserved for the pair that finds and calls tools"):
        ToolRegistry("space_", RESERVED_NAMES).register(tool(name), now=0)
