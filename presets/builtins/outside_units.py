"""The tools with which an agent from outside develops units, where there is no engine to work in. Owns which they are.

They are the tools of `presets.builtins.units`, less those that the document does not give to outsiders, and on from the
start: whoever starts a server for them wants them. One differs: a file can begin a unit, since there is no other tool
that does. Source: remote-mcp, "External Unit MCP Server".
"""

from __future__ import annotations

from dataclasses import replace

from engine.errors import NotFoundError
from engine.units.manifest import MANIFEST
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins import units
from presets.builtins.unit_tools import change_tools
from presets.builtins.unit_tools.change_tools import ChangedResult, CreateSourceArguments
from presets.builtins.unit_tools.results import file_results, unit_result
from presets.definition import DefaultState, PresetDefinition
from presets.interactions import InteractiveRun
from protocol.tool import ToolCall

OUTSIDE_TOOLS = (
    "unit.resolve",
    "unit.inspect",
    "unit.read-source",
    "unit.apply-patch",
    "unit.create-source",
    "unit.run-tests",
    "unit.reload",
    "unit.read-log",
    "unit.snapshot",
    "unit.list",
)
"""The ten, by their ids, in the document's order."""

ENTRY = "unit.py"
"""What a unit of Python begins with."""

GUIDE = """\
You develop units: folders that bring tools to Space. space_unit_list names them, and says which cannot be loaded and \
why; space_unit_inspect shows the files of one, space_unit_read_source a file.

To make a new unit, call space_unit_create_source with a name that is not taken (small letters, digits, dashes) and \
the path unit.py. It says what the unit contributes:

from typing import Annotated
from pydantic import Field
from space_unit import Call, ToolError, preset, tool

@tool
async def roll(call: Call, count: Annotated[int, Field(ge=1, description="How many dice.")] = 1) -> list[int]:
    \"\"\"Roll dice with six sides.\"\"\"
    ...

dice = preset("dice", tools=[roll], contexts=[{"surface": "any"}], prompt="Dice decide.")

Types are pydantic's, the docstring is what a model reads, each tool stands in exactly one preset, and the preset is \
named as the unit. In unit dice the tool becomes space_dice_roll. call.state keeps JSON in the user's world (await \
call.state.get("last", default), .set("last", value)); raise ToolError for what cannot be done.

Tests are functions test_..., async or not, without parameters, in tests/test_unit.py. They import `from ..unit import \
roll`, and `call_for_tests` of space_unit.testing gives them a call: `await roll(call_for_tests(), count=2)`.

Work in small steps: read, change with space_unit_apply_patch (a unified diff, or old and new), run the tests, read \
what failed. Every change is loaded at once, on trial; one that does not load is taken back whole, and the error says \
why. What is written runs with all that the user can do: write only what the user asked for. The tools of a unit \
cannot be called here; an engine that serves the same folder offers them within a second."""


async def create_source(app: App, arguments: CreateSourceArguments, call: ToolCall) -> ChangedResult:
    """Body of `space_unit_create_source`: as that of the engine, and for a name that no unit has it begins one."""
    if any(row.name == arguments.unit_id for row in app.units.rows()):
        return await change_tools.create_source(app, arguments, call)
    if arguments.path not in (ENTRY, MANIFEST):
        try:
            app.units.row(arguments.unit_id)
        except NotFoundError as error:
            raise NotFoundError(f"{error} To begin a new one, create its {ENTRY} first.") from error
    made = await app.units.create(arguments.unit_id, {MANIFEST: "", arguments.path: arguments.source})
    return ChangedResult(
        unit=unit_result(made.row),
        files=file_results(made.files),
        deleted=made.deleted,
        snapshot=made.snapshot,
        reloaded=made.reloaded,
    )


def adapters(app: App) -> tuple[ToolAdapter, ...]:
    """The adapters of the ten, which work on the units of `app`, whichever engine offers them."""
    known = {adapter.id: adapter for adapter in units.adapters()}
    known["unit.create-source"] = typed_adapter(
        id="unit.create-source",
        mcp_name="space_unit_create_source",
        title="Create unit source",
        description=(
            "Add a file to a unit and load it again, or begin a new unit with its unit.py. A file that is there is "
            "never overwritten. What does not load is taken back whole, and the error says why."
        ),
        arguments=CreateSourceArguments,
        result=ChangedResult,
        run=create_source,
    )
    return tuple(_bound_to(app, known[tool_id]) for tool_id in OUTSIDE_TOOLS)


def presets() -> tuple[PresetDefinition, ...]:
    """The presets, in order of registration: those of an engine, on, and with the ten alone."""
    found: list[PresetDefinition] = []
    for preset in units.presets():
        kept = tuple(tool_id for tool_id in preset.tool_ids if tool_id in OUTSIDE_TOOLS)
        # All is said once, by the first of them; the others speak of tools that are not here.
        prompt = None if found else GUIDE
        found.append(
            preset.model_copy(
                update={"tool_ids": kept, "default_state": DefaultState.AUTO, "system_prompt": prompt},
            )
        )
    return tuple(found)


def _bound_to(app: App, adapter: ToolAdapter) -> ToolAdapter:
    def make_run(_: App) -> InteractiveRun:
        return adapter.make_run(app)

    return replace(adapter, make_run=make_run)
