"""The agents that ship with Space: four, whole and readable in their files, and each with what it promises."""

from __future__ import annotations

import pytest

from presets.adapters import ToolAdapterRegistry
from presets.agents.definition import Trust
from presets.agents.mounting import UNITS_GROUP, check_agent, mount
from presets.agents.roster import SHIPPED_ROOT, Roster
from presets.agents.rows import PresetGroupsRow, ToolPresentationRow
from presets.context import ContextSnapshot
from presets.overrides import NO_OVERRIDES, Overrides
from presets.presentation import RUN_CODE_NAME, Presentation
from presets.projection import AgentTools, project
from presets.registry import PresetRegistry
from presets.resolution import resolve
from presets.scope import Scope
from presets.tool_definitions import tool_definitions
from tests.presets.agents.folders import BUILTINS, KNOWN
from tests.presets.samples import DRAWING, GRAPH, SCENE, app
from tests.presets.scope_samples import labelled, listed, run_code

ROSTER = Roster.load()
ADAPTERS = ToolAdapterRegistry()
for _group in BUILTINS:
    for _adapter in _group.adapters():
        ADAPTERS.register(_adapter)
PRESETS = PresetRegistry(preset for group in BUILTINS for preset in group.presets())
EVERYTHING_ON = Overrides(dict.fromkeys(PRESETS, "on"))
PLACES = {"drawing": DRAWING, "graph": GRAPH, "scene": SCENE}
LOOK = {"drawing": "space_drawing_inspect", "graph": "space_graph_inspect", "scene": "space_scene_inspect"}


def test_there_are_four_in_this_order_and_all_are_usable():
    assert [agent.id for agent in ROSTER.agents] == ["standard", "code", "minimal", "creative"]
    assert (ROSTER.unusable, ROSTER.problems) == ((), ())
    assert all(agent.trust is Trust.SHIPPED for agent in ROSTER.agents)
    assert [check_agent(agent, known=KNOWN) for agent in ROSTER.agents] == [None] * 4


@pytest.mark.parametrize("agent_id", ["standard", "code", "minimal", "creative"])
def test_each_has_name_and_description_in_english_and_chinese(agent_id: str):
    agent = ROSTER.resolve(agent_id)
    assert set(agent.names) == set(agent.descriptions) == {"en", "zh"}
    assert len(set(agent.names.values()) | set(agent.descriptions.values())) == 4


def test_code_is_standard_row_for_row_and_exactly_one_row_more():
    standard, code = ROSTER.resolve("standard").rows, ROSTER.resolve("code").rows
    assert code == (*standard, ToolPresentationRow(mode=Presentation.CODE))


def test_the_file_of_code_differs_from_that_of_standard_in_that_row_only():
    standard, code = (
        [
            line
            for line in (SHIPPED_ROOT / agent / "composition.yml").read_text().splitlines()
            if line[:1] not in ("#", "")
        ]
        for agent in ("standard", "code")
    )
    assert code == [*standard, "- row: tool-presentation", "  mode: code"]


def test_creative_is_standard_with_the_units():
    standard, creative = ROSTER.resolve("standard").rows, ROSTER.resolve("creative").rows
    assert standard[0] == PresetGroupsRow(groups="all", except_=(UNITS_GROUP,))
    assert creative == (PresetGroupsRow(groups="all"), *standard[1:])
    tools = listed(labelled("space_make_unit", "unit-tools", UNITS_GROUP), labelled("space_draw", "shapes", "drawing"))
    offered: dict[str, tuple[str, ...]] = {}
    for agent_id in ("standard", "creative"):
        scope = Scope.deployment().child("agent", agent_id)
        with mount(ROSTER.resolve(agent_id), scope, known=KNOWN):
            offered[agent_id] = project(tools, scope.view(), run_code, 1).offered.names
    assert offered == {"standard": ("space_draw",), "creative": ("space_draw", "space_make_unit")}


@pytest.mark.parametrize("place", PLACES)
def test_standard_and_creative_have_whatever_the_user_turned_on(place: str):
    everything = seen("standard", PLACES[place], EVERYTHING_ON)
    assert everything.offered.names == everything.registered.names
    assert "space_app_run_bash" in everything.offered.names
    assert seen("creative", PLACES[place], EVERYTHING_ON).offered.names == everything.offered.names


@pytest.mark.parametrize("place", PLACES)
def test_code_may_do_what_standard_may_and_shows_one_tool(place: str):
    standard, code = seen("standard", PLACES[place]), seen("code", PLACES[place])
    assert code.capabilities.names == standard.capabilities.names
    assert code.offered.names == (RUN_CODE_NAME,)


@pytest.mark.parametrize("place", PLACES)
def test_minimal_looks_finds_calls_and_takes_back_everywhere_with_at_most_nine_tools(place: str):
    tools = seen("minimal", PLACES[place])
    names = tools.offered.names
    assert len(names) <= 9
    assert {"space_app_capture_view", LOOK[place], "space_app_switch_surface", "space_app_set_activity"} <= set(names)
    assert [name for name in names if name.endswith("_undo")]
    assert [name for name in names if "_insert_" in name or "_add_" in name]


def test_minimal_names_no_tool_that_is_nowhere_offered():
    offered = {name for place in PLACES.values() for name in seen("minimal", place).offered.names}
    allowed = next(row for row in ROSTER.resolve("minimal").rows if row.KIND == "restrict")
    assert offered == set(getattr(allowed, "allow"))  # noqa: B009


def test_minimal_stays_minimal_whatever_is_turned_on():
    for place in PLACES.values():
        more = set(seen("minimal", place, EVERYTHING_ON).offered.names)
        assert more <= set().union(*(seen("minimal", other).offered.names for other in PLACES.values()))
        assert not any(name.startswith(("space_app_run", "space_app_write")) for name in more)


def seen(agent_id: str, context: ContextSnapshot, overrides: Overrides = NO_OVERRIDES) -> AgentTools:
    """What an agent sees of the built-in tools in a context."""
    definitions = tool_definitions(resolve(PRESETS, context, overrides), ADAPTERS, app())
    scope = Scope.deployment().child("agent", agent_id)
    with mount(ROSTER.resolve(agent_id), scope, known=KNOWN):
        return project(listed(*definitions), scope.view(), run_code, 1)
