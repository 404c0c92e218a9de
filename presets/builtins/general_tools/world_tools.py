"""The tools on the set of worlds. Owns how a world is described to a model."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from engine.commands import CreateWorld, DeleteWorld, ListWorlds, SwitchWorld
from engine.engine import WorldInfo
from engine.world_name import MAX_WORLD_NAME_CHARACTERS
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.schema import ToolArguments, ToolResult
from protocol.tool import ToolCall

_ID_HELP = "Id of the world, such as 'world-2'."


class CreateWorldArguments(ToolArguments):
    """The new world."""

    name: str = Field(description="A name that no other world has.", min_length=1, max_length=MAX_WORLD_NAME_CHARACTERS)
    activate: bool = Field(True, description="false makes the world and stays in the present one.")


class SwitchWorldArguments(ToolArguments):
    """Which world."""

    id: str = Field(description=_ID_HELP, min_length=1, max_length=100)


class DeleteWorldArguments(ToolArguments):
    """Which world, said twice."""

    id: str = Field(description=_ID_HELP, min_length=1, max_length=100)
    confirm_name: str = Field(
        description="The exact name of that world, to make sure that it is the one.",
        max_length=MAX_WORLD_NAME_CHARACTERS,
    )


class WorldResult(ToolResult):
    """A world. `revision` counts its changes."""

    id: str
    name: str
    active: bool
    revision: int
    created_at: datetime


class WorldsResult(ToolResult):
    """The world that the call was about, and all worlds as they are now."""

    world: WorldResult
    worlds: tuple[WorldResult, ...]
    changed: bool = Field(description="False when nothing had to be done.")


async def create_world(app: App, arguments: CreateWorldArguments, call: ToolCall) -> WorldsResult:
    """Body of `space_app_create_world`."""
    done = await app.execute(CreateWorld(arguments.name, activate=arguments.activate))
    return await _described(app, done.result, changed=done.changed)


async def switch_world(app: App, arguments: SwitchWorldArguments, call: ToolCall) -> WorldsResult:
    """Body of `space_app_switch_world`."""
    done = await app.execute(SwitchWorld(arguments.id))
    return await _described(app, done.result, changed=done.changed)


async def delete_world(app: App, arguments: DeleteWorldArguments, call: ToolCall) -> WorldsResult:
    """Body of `space_app_delete_world`."""
    done = await app.execute(DeleteWorld(arguments.id, arguments.confirm_name))
    return await _described(app, done.result, changed=done.changed)


async def _described(app: App, world: WorldInfo, *, changed: bool) -> WorldsResult:
    worlds = (await app.execute(ListWorlds())).result
    return WorldsResult(world=_result(world), worlds=tuple(map(_result, worlds)), changed=changed)


def _result(world: WorldInfo) -> WorldResult:
    return WorldResult(
        id=world.id, name=world.name, active=world.active, revision=world.revision, created_at=world.created_at
    )


def adapters() -> tuple[ToolAdapter, ...]:
    """Every adapter of this topic."""
    return (
        typed_adapter(
            id="app.create-world",
            mcp_name="space_app_create_world",
            title="Create world",
            description="Make a new, empty world and go into it. The result lists all worlds.",
            arguments=CreateWorldArguments,
            result=WorldsResult,
            run=create_world,
            destroys=False,
        ),
        typed_adapter(
            id="app.switch-world",
            mcp_name="space_app_switch_world",
            title="Switch world",
            description="Go into another world: everything that is drawn or read afterwards is in that one.",
            arguments=SwitchWorldArguments,
            result=WorldsResult,
            run=switch_world,
            destroys=False,
            idempotent=True,
        ),
        typed_adapter(
            id="app.delete-world",
            mcp_name="space_app_delete_world",
            title="Delete world",
            description=(
                "Delete a world with everything in it, which undo does not bring back. Deleting the active world "
                "makes its neighbour active; the last world cannot be deleted."
            ),
            arguments=DeleteWorldArguments,
            result=WorldsResult,
            run=delete_world,
        ),
    )
