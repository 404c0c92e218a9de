"""The world tells where what was changed is seen, or that it does not know."""

from __future__ import annotations

import pytest

from actors.space import Space
from engine.commands import CreateWorld
from engine.drawing.insert import InsertBox
from engine.errors import ConflictError
from engine.graph.nodes import AddNode
from engine.marks import MOST_MARKS
from tests.actors.fakes import running


def rectangle(x: float = 0.0) -> InsertBox:
    return InsertBox(kind="rectangle", x=x, y=0, width=2, height=1)


async def test_marks_are_of_the_surface_and_the_activity_that_the_user_is_at(space: Space) -> None:
    async with running(space):
        await space.app.execute(rectangle())
        await space.app.execute(AddNode(title="A node"))
        taken = await space.app.take_marks(0)
        assert ([mark.label for mark in taken.marks], taken.surface, taken.complete) == (["rectangle"], "canvas", True)
        assert (taken.world.id, taken.world.revision) == ("world-1", 2)
        await space.app.patch_context({"activity": "graph"})
        assert [mark.label for mark in (await space.app.take_marks(0)).marks] == ["A node"]
        scene = await space.app.take_marks(0, "scene")
        assert (scene.marks, scene.surface) == ((), "scene")
        with pytest.raises(ConflictError, match="ballroom"):
            await space.app.take_marks(0, "ballroom")


async def test_of_a_revision_that_is_not_known_there_are_no_marks(space: Space) -> None:
    async with running(space):
        await space.app.execute(rectangle())
        there = await space.app.take_marks(1)
        assert (there.marks, there.complete) == ((), True)
        to_come = await space.app.take_marks(99)
        assert (to_come.marks, to_come.complete) == ((), False)


async def test_of_very_many_changes_the_newest_are_marked(space: Space) -> None:
    async with running(space):
        for number in range(MOST_MARKS):
            await space.app.execute(rectangle(number))
        assert (await space.app.take_marks(0)).complete
        await space.app.execute(rectangle(-1))
        taken = await space.app.take_marks(0)
        assert (len(taken.marks), taken.complete) == (MOST_MARKS, False)
        assert taken.marks[0].id == f"object-{MOST_MARKS + 1}"


async def test_marks_are_of_the_active_world(space: Space) -> None:
    async with running(space):
        await space.app.execute(rectangle())
        made = await space.app.execute(CreateWorld("yard", activate=True))
        taken = await space.app.take_marks(0)
        assert (taken.world.id, taken.marks, taken.complete) == (made.result.id, (), True)


async def test_the_key_of_a_picture_is_known_before_it_is_taken(space: Space) -> None:
    async with running(space):
        before = space.app.picture_key()
        assert (await space.app.capture_svg()).key == before
        await space.app.execute(rectangle())
        after = space.app.picture_key()
        assert (before.revision, after.revision) == (0, 1)
        assert (await space.app.capture_svg()).key == after
        await space.app.patch_context({"activity": "graph"})
        assert space.app.picture_key().domain == "graph"
        assert (await space.app.capture_glb("scene")).key == space.app.picture_key("scene")
        with pytest.raises(ConflictError, match="ballroom"):
            space.app.picture_key("ballroom")
