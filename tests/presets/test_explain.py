"""Explaining a tool: one state, one sentence, and what can be done about it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from presets.adapters import ToolAdapterRegistry
from presets.context import ContextSnapshot
from presets.definition import DefaultState, OverrideState, PresetDefinition, Risk
from presets.explain import Explanation, ToolState, explain, known_tools
from presets.overrides import Overrides
from presets.registry import PresetRegistry
from presets.resolution import Resolution, resolve
from tests.presets.samples import DRAWING, EXAMPLES, IN_DRAWING, SCENE, adapter, adapters, preset
from tests.presets.test_resolution import CONTEXTS, OVERRIDES, PRESETS


class Surroundings:
    """What a tool is explained from, with the context and overrides of the moment."""

    def __init__(self, *presets: PresetDefinition, extra: ToolAdapterRegistry | None = None) -> None:
        self.registry = PresetRegistry(presets)
        ids = {tool_id for one in presets for tool_id in one.tool_ids}
        self.adapters = adapters(*map(adapter, sorted(ids))) if extra is None else extra
        self.owners: dict[str, str] = {}
        self.resolution: Resolution | None = None

    def explain(self, tool: str, context: ContextSnapshot = SCENE, **said: str) -> Explanation:
        overrides = Overrides(said)
        return explain(
            tool,
            registry=self.registry,
            adapters=self.adapters,
            context=context,
            overrides=overrides,
            resolution=self.resolution or resolve(self.registry, context, overrides),
            owners=self.owners,
        )


DRAW = preset("draw", "draw.undo", contexts=[IN_DRAWING])
SHELL = preset("shell", "app.run", default_state=DefaultState.OFF, risk=Risk.SHELL)


def test_a_tool_of_an_active_preset_is_shown_with_its_preset():
    seen = Surroundings(DRAW).explain("space_draw_undo", DRAWING)
    assert (seen.state, seen.preset, seen.owners) == (ToolState.SHOWN, "draw", ("agent-presets:draw",))
    assert seen.reason == "Tool 'space_draw_undo' is offered now: preset 'draw' is active because it fits this context."


def test_a_tool_that_the_user_turned_on_says_so():
    assert "the user turned it on" in Surroundings(SHELL).explain("app.run", shell="on").reason


@pytest.mark.parametrize("asked", ["space_draw_undo", "draw.undo"])
def test_a_tool_may_be_asked_for_by_mcp_name_or_by_id(asked: str):
    seen = Surroundings(DRAW).explain(asked)
    assert (seen.tool, seen.mcp_name, seen.tool_id) == (asked, "space_draw_undo", "draw.undo")


def test_a_hidden_tool_names_the_contexts_that_show_it():
    seen = Surroundings(DRAW).explain("space_draw_undo")
    assert seen.state is ToolState.HIDDEN
    assert [dict(pattern) for pattern in seen.shown_in] == [IN_DRAWING]
    assert "hidden in this context (activity=none, surface=scene)" in seen.reason
    assert "offered with surface=canvas and activity=drawing" in seen.reason


def test_a_sentence_names_few_contexts_and_the_details_all():
    many = preset("many", contexts=[{"activity": f"a{number}"} for number in range(9)])
    seen = Surroundings(many).explain("many.tool")
    assert "activity=a2 (and 6 more)" in seen.reason
    assert len(seen.shown_in) == 9


def test_a_tool_that_the_user_turned_off_is_off_and_auto_brings_it_back():
    seen = Surroundings(DRAW).explain("space_draw_undo", DRAWING, draw="off")
    assert seen.state is ToolState.OFF
    assert "the user turned preset 'draw' off" in seen.reason
    assert seen.remedy is not None
    assert seen.remedy.state is OverrideState.AUTO


def test_a_risky_tool_says_how_the_user_may_turn_it_on():
    seen = Surroundings(SHELL).explain("space_app_run")
    assert (seen.state, seen.risk) == (ToolState.RISK, Risk.SHELL)
    assert "because of its risk (shell)" in seen.reason
    assert seen.shown_in == ()
    assert seen.reason.endswith("`space preset on shell`.")
    assert seen.remedy is not None
    assert seen.remedy.to_json() == {
        "command": "space preset on shell",
        "method": "PUT",
        "path": "/api/presets/shell/override",
        "body": {"state": "on"},
    }


def test_an_odd_name_is_quoted_for_shell_and_route():
    odd = preset("my preset/x", default_state=DefaultState.OFF)
    seen = Surroundings(odd, extra=adapters(adapter("my preset/x.tool", "space_x"))).explain("space_x")
    assert seen.remedy is not None
    assert seen.remedy.command == "space preset on 'my preset/x'"
    assert seen.remedy.path == "/api/presets/my%20preset%2Fx/override"


@pytest.mark.parametrize(
    ("asked", "close"),
    [("space_draw_und", "space_draw_undo"), ("draw_undo", "space_draw_undo"), ("draw.udno", "draw.undo")],
)
def test_an_unknown_tool_gets_close_names(asked: str, close: str):
    seen = Surroundings(DRAW).explain(asked)
    assert seen.state is ToolState.UNKNOWN
    assert close in seen.suggestions
    assert f"Did you mean '{seen.suggestions[0]}'" in seen.reason


@pytest.mark.parametrize("asked", ["space_nope", "space_foo", "space_x"])
def test_a_name_that_has_only_the_beginning_of_all_names_in_common_gets_no_close_ones(asked: str):
    assert Surroundings(DRAW).explain(asked).suggestions == ()


@pytest.mark.parametrize("asked", ["", "x" * 1_000_000, "\ud800", "a\nb", "space_" * 20])
def test_any_name_gets_a_short_answer(asked: str):
    seen = Surroundings(DRAW).explain(asked)
    assert seen.state is ToolState.UNKNOWN
    assert len(seen.reason) < 400
    assert "\n" not in seen.reason


def test_a_tool_whose_preset_went_away_is_hidden_everywhere():
    around = Surroundings(DRAW)
    around.registry.unregister("draw")
    seen = around.explain("space_draw_undo")
    assert (seen.state, seen.shown_in) == (ToolState.HIDDEN, ())
    assert "no registered preset offers it" in seen.reason


def test_a_tool_that_nothing_implements_is_unknown_and_names_the_preset():
    seen = Surroundings(preset("p", "ghost.tool", contexts=[IN_DRAWING]), extra=adapters()).explain("ghost.tool")
    assert (seen.state, seen.presets) == (ToolState.UNKNOWN, ("p",))
    assert "listed by preset 'p', but no adapter" in seen.reason


def test_a_tool_of_another_owner_is_shown_with_that_owner():
    around = Surroundings(DRAW)
    around.owners = {"space_ping": "manual", "space_draw_undo": "agent-presets"}
    seen = around.explain("space_ping")
    assert (seen.state, seen.owners) == (ToolState.SHOWN, ("manual",))
    assert around.explain("space_draw_undo").state is ToolState.HIDDEN


def test_a_wanted_tool_whose_name_another_owner_has_is_colliding_and_names_both():
    around = Surroundings(DRAW)
    around.owners = {"space_draw_undo": "manual"}
    around.resolution = Resolution()
    seen = around.explain("space_draw_undo", DRAWING)
    assert (seen.state, seen.owners) == (ToolState.COLLIDING, ("manual", "agent-presets:draw"))
    assert "'manual' and 'agent-presets:draw' both claim it" in seen.reason


def test_a_name_that_no_preset_wants_now_belongs_to_who_has_it_and_the_id_still_collides():
    around = Surroundings(DRAW)
    around.owners = {"space_draw_undo": "manual"}
    assert around.explain("space_draw_undo").owners == ("manual",)
    assert around.explain("draw.undo").state is ToolState.COLLIDING


def test_two_presets_that_list_one_tool_collide_over_it():
    around = Surroundings(DRAW, preset("other", "draw.undo"))
    around.resolution = Resolution()
    seen = around.explain("draw.undo", DRAWING)
    assert (seen.state, seen.owners) == (ToolState.COLLIDING, ("agent-presets:draw", "agent-presets:other"))


def test_two_tools_of_one_name_collide_over_it():
    around = Surroundings(
        preset("p", "old"), preset("q", "new"), extra=adapters(adapter("old", "space_x"), adapter("new", "space_x"))
    )
    around.resolution = Resolution()
    seen = around.explain("space_x")
    assert (seen.state, seen.owners) == (ToolState.COLLIDING, ("agent-presets:p", "agent-presets:q"))


def test_what_is_offered_stays_shown_when_a_rival_is_refused():
    around = Surroundings(DRAW, extra=adapters(adapter("draw.undo", "space_x"), adapter("new", "space_x")))
    around.resolution = resolve(around.registry, DRAWING, Overrides())
    around.registry.register(preset("q", "new"))
    assert around.explain("draw.undo", DRAWING).state is ToolState.SHOWN
    assert around.explain("new", DRAWING).state is ToolState.COLLIDING
    assert around.explain("space_x", DRAWING).tool_id == "draw.undo"


def test_a_preset_that_lists_a_tool_twice_collides_with_itself():
    around = Surroundings(preset("p", "same", "same"))
    around.resolution = Resolution()
    assert "'agent-presets:p' lists it twice" in around.explain("same").reason


def test_a_tool_that_another_collision_holds_back_says_so():
    around = Surroundings(preset("p", "shared"), preset("q", "shared"), SHELL)
    around.resolution = Resolution()
    seen = around.explain("app.run", shell="on")
    assert (seen.state, seen.preset, seen.remedy) == (ToolState.HIDDEN, "shell", None)
    assert "tools that collide hold the whole list back" in seen.reason


def test_a_name_is_answered_by_the_tool_that_is_shown():
    around = Surroundings(
        preset("p", "old", contexts=[IN_DRAWING]),
        preset("q", "new"),
        extra=adapters(adapter("old", "space_x"), adapter("new", "space_x")),
    )
    seen = around.explain("space_x")
    assert (seen.state, seen.tool_id) == (ToolState.SHOWN, "new")
    assert around.explain("old").state is ToolState.HIDDEN


HERE_OFF = preset("here-off", "t")
ELSEWHERE_OFF = preset("elsewhere-off", "t", contexts=[IN_DRAWING])
ELSEWHERE = preset("elsewhere", "t", contexts=[IN_DRAWING])
BY_DEFAULT = preset("by-default", "t", default_state=DefaultState.OFF)


@pytest.mark.parametrize(
    ("listing", "decides", "state"),
    [
        ((ELSEWHERE_OFF, BY_DEFAULT, ELSEWHERE, HERE_OFF), "here-off", ToolState.OFF),
        ((ELSEWHERE_OFF, BY_DEFAULT, ELSEWHERE), "elsewhere", ToolState.HIDDEN),
        ((ELSEWHERE_OFF, BY_DEFAULT), "by-default", ToolState.RISK),
        ((ELSEWHERE_OFF,), "elsewhere-off", ToolState.OFF),
    ],
)
def test_the_most_useful_reason_answers_for_a_tool_of_several_presets(
    listing: tuple[PresetDefinition, ...], decides: str, state: ToolState
):
    around = Surroundings(*listing)
    said = {one.name: "off" for one in listing if one.name.endswith("-off")}
    seen = around.explain("t", SCENE, **said)
    assert (seen.preset, seen.state) == (decides, state)
    assert seen.presets == tuple(one.name for one in listing)


def test_every_known_tool_is_listed_with_its_state():
    around = Surroundings(DRAW, SHELL, preset("p", "ghost"), extra=adapters(adapter("draw.undo"), adapter("app.run")))
    rows = known_tools(
        registry=around.registry,
        adapters=around.adapters,
        context=DRAWING,
        overrides=Overrides(),
        resolution=resolve(around.registry, DRAWING, Overrides()),
        owners={"space_ping": "manual", "space_draw_undo": "agent-presets"},
    )
    assert [(row.mcp_name, row.tool_id, row.state.value) for row in rows] == [
        (None, "ghost", "unknown"),
        ("space_app_run", "app.run", "risk"),
        ("space_draw_undo", "draw.undo", "shown"),
        ("space_ping", None, "shown"),
    ]
    assert all(json.loads(json.dumps(row.to_json())) == row.to_json() for row in rows)


@EXAMPLES
@given(presets=PRESETS, context=CONTEXTS, overrides=OVERRIDES)
def test_what_is_explained_as_shown_is_what_is_offered(
    presets: list[PresetDefinition], context: ContextSnapshot, overrides: Overrides
):
    around = Surroundings(*presets)
    resolution = resolve(around.registry, context, overrides)
    rows = known_tools(
        registry=around.registry,
        adapters=around.adapters,
        context=context,
        overrides=overrides,
        resolution=resolution,
        owners={},
    )
    assert {row.tool_id for row in rows if row.state is ToolState.SHOWN} == set(resolution.tool_ids)
    assert all(row.state in {ToolState.HIDDEN, ToolState.OFF, ToolState.RISK} for row in rows if not row.owners)
