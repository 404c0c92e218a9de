"""The tools that give a whole scene as JSON and put it back, exactly: in the answer, or in a file of the workspace."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from engine.errors import InvalidArgumentError
from engine.printed import MAX_RESULT_BYTES, printed_size
from engine.scene.snapshot import TakeSnapshot
from engine.scene.state import RestoreState, parse_state, state_json
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.schema import ToolArguments, ToolResult, WriteArguments
from protocol.tool import ToolCall

STATE_SUFFIX = ".json"
"""What the name of a file of a state ends with, so that none of another kind is overwritten by mistake."""

_ENVELOPE_BYTES = 500
"""What an answer has besides the state."""

StatePath = Annotated[str, Field(min_length=6, max_length=1000, pattern=r"\.json$")]


class GetStateArguments(ToolArguments):
    """Where to put it."""

    path: StatePath | None = Field(
        None, description="A .json file of the workspace to write; needed for scenes too large for an answer."
    )


class GetStateResult(ToolResult):
    """The state, or the file that it was written to; and how much is in it."""

    state: dict[str, Any] | None = None
    path: str | None = None
    size_bytes: int
    body_count: int
    terrain_count: int
    light_count: int
    revision: int


class RestoreStateArguments(WriteArguments):
    """The scene as it shall be: one of both."""

    state: dict[str, Any] | None = Field(None, description="As space_scene_get_state gives it.")
    path: StatePath | None = Field(None, description="The file that space_scene_get_state wrote.")


class RestoreStateResult(ToolResult):
    """What the scene holds now."""

    body_count: int
    terrain_count: int
    light_count: int
    changed: bool
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """`scene.get-state` and `scene.restore-state`."""
    return (
        typed_adapter(
            id="scene.get-state",
            mcp_name="space_scene_get_state",
            title="Get the state of the scene",
            description="Give the whole scene as JSON that restores exactly, in the answer or, with path, in a file of "
            "the workspace (replacing it).",
            arguments=GetStateArguments,
            result=GetStateResult,
            run=_get_state,
            idempotent=True,
        ),
        typed_adapter(
            id="scene.restore-state",
            mcp_name="space_scene_restore_state",
            title="Restore the state of the scene",
            description="Make the scene exactly what the state says, whatever is in it now. One step to undo.",
            arguments=RestoreStateArguments,
            result=RestoreStateResult,
            run=_restore_state,
            idempotent=True,
        ),
    )


async def _get_state(app: App, arguments: GetStateArguments, call: ToolCall) -> GetStateResult:
    del call
    done = await app.execute(TakeSnapshot())
    scene = done.result
    state = await app.in_thread(partial(state_json, scene))
    text = json.dumps(state, separators=(",", ":"))
    size = len(text)  # it is ASCII
    if arguments.path is not None:
        await app.in_thread(partial(app.files.write_text, arguments.path, text))
    elif printed_size(text) + _ENVELOPE_BYTES > MAX_RESULT_BYTES:
        raise InvalidArgumentError(
            f"The state takes {size} bytes, which is too much for an answer; give path, a {STATE_SUFFIX} file of the "
            "workspace to write it to."
        )
    return GetStateResult(
        state=state if arguments.path is None else None,
        path=arguments.path,
        size_bytes=size,
        body_count=len(scene.bodies),
        terrain_count=len(scene.terrains),
        light_count=len(scene.lights),
        revision=done.revision,
    )


async def _restore_state(app: App, arguments: RestoreStateArguments, call: ToolCall) -> RestoreStateResult:
    del call
    if (arguments.state is None) == (arguments.path is None):
        raise InvalidArgumentError("Give either state, as space_scene_get_state answers it, or path.")
    state: object = arguments.state
    if arguments.path is not None:
        data = await app.in_thread(partial(app.files.read_bytes, arguments.path))
        try:
            state = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise InvalidArgumentError(f"The file {arguments.path!r:.200} holds no JSON: {error}") from error
    scene = await app.in_thread(partial(parse_state, state))
    done = await app.execute(RestoreState(scene))
    made = done.result
    return RestoreStateResult(
        body_count=made.body_count,
        terrain_count=made.terrain_count,
        light_count=made.light_count,
        changed=done.changed,
        revision=done.revision,
    )
