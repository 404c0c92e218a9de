"""What the loaders know of a node from outside: read through the app, before the command that shows it.

Owns which ids need a loader. A file is looked at, never opened: its content needs the preset for reading files.
"""

from __future__ import annotations

from functools import partial

from engine.graph.foreign import ReadForeignNode
from engine.graph.keys import Key, parse_key
from engine.graph.nodes import IsShown, Loaded
from engine.graph.workspace_node import workspace_node
from presets.app import App


async def load(app: App, text: str, name: str = "id", *, refresh: bool = False) -> tuple[str, Loaded | None]:
    """The id in its one form, and what its loader knows of it.

    None where the world has the node already (and `refresh` is not set), or where only the world itself could have it.
    Raises `EngineError` for an id that is none, and when its loader finds nothing.
    """
    key = parse_key(text, name)
    if key.origin == "file":
        return await _entry(app, key, refresh=refresh)
    if key.origin == "world" and (refresh or not await _is_shown(app, key.text)):
        return key.text, (await app.execute(ReadForeignNode(key))).result
    return key.text, None


async def _entry(app: App, key: Key, *, refresh: bool) -> tuple[str, Loaded | None]:
    # A node whose file is gone stays what it was.
    if not refresh and await _is_shown(app, key.text):
        return key.text, None
    loaded = workspace_node(await app.in_thread(partial(app.files.entry, key.rest)))
    return loaded.key, loaded


async def _is_shown(app: App, key: str) -> bool:
    return (await app.execute(IsShown(key))).result
