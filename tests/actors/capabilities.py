"""Presets that the tests of the context work with, and all that an error must leave as it was."""

from __future__ import annotations

from dataclasses import dataclass

from actors.catalog import owners_of
from actors.context import ContextView, ExplainTool, ReadPresets
from actors.resolution import CapabilityEdit
from actors.space import Space
from engine.drawing.insert import InsertBox
from presets.definition import DefaultState, Risk
from presets.explain import Explanation
from tests.presets.samples import adapter, preset

CANVAS = {"surface": "canvas", "activity": "drawing", "canvas_visible": True}
GRAPH = {"surface": "canvas", "activity": "graph", "canvas_visible": True}
SCENE = {"surface": "scene", "canvas_visible": False}

RECTANGLE = InsertBox(kind="rectangle", x=0, y=0, width=2, height=1)

PLAIN = CapabilityEdit(
    add_adapters=tuple(adapter(f"a.{word}") for word in ("draw", "graph", "common", "risky", "selected")),
    add_presets=(
        preset("common", "a.common"),
        preset("draw", "a.draw", contexts=({"activity": "drawing"},), system_prompt="Draw."),
        preset("graph", "a.graph", contexts=({"activity": "graph"},)),
        preset("risky", "a.risky", default_state=DefaultState.OFF, risk=Risk.SHELL),
        preset("selected", "a.selected", contexts=({"selection_kind": "drawing-object"},)),
    ),
)
"""Presets that follow the context, and one that is off."""

HAZARDS = CapabilityEdit(
    add_adapters=(
        adapter("b.one", "space_same"),
        adapter("b.two", "space_same"),
        adapter("b.foreign"),
        adapter("b.bad", description=" "),
    ),
    add_presets=(
        preset("twice", "a.common", contexts=({"activity": "same-ids"},)),
        preset("one", "b.one", contexts=({"activity": "same-names"},)),
        preset("two", "b.two", contexts=({"activity": "same-names"},)),
        preset("foreign", "b.foreign", contexts=({"activity": "foreign"},)),
        preset("bad", "b.bad", contexts=({"activity": "bad-tool"},)),
        preset("missing", "b.missing", contexts=({"activity": "no-adapter"},)),
    ),
)
"""Presets that are fine together until the activity of their name comes."""

NEW = CapabilityEdit(add_adapters=(adapter("c.new"),), add_presets=(preset("new", "c.new"),))


def tools_of(space: Space) -> tuple[str, ...]:
    """The names that are offered now."""
    return space.catalog.tools.value.names


@dataclass(frozen=True)
class Everything:
    """All that an error must leave as it was, at one moment."""

    view: ContextView
    revision: int
    tools: tuple[str, ...]
    settings: object
    world: str
    presets: object

    @classmethod
    async def of(cls, space: Space) -> Everything:
        tools = space.catalog.tools.value
        engine = space.world.state
        view = await space.context.ask(ReadPresets())
        return cls(space.context.view.value, tools.revision, tools.names, engine.settings, engine.active_world.id, view)


async def explain(space: Space, name: str) -> Explanation:
    """Why this tool, by MCP name or tool id, is offered or not."""
    return await space.context.ask(ExplainTool(name, owners_of(space.catalog.tools.value)))
