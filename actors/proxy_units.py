"""Units that stand for an MCP server: its tools under presets, contexts, risks and agents like any other's.

Owns where the servers run. What talks with them is imported when the first such unit is loaded, since it takes a
quarter of a second, which an engine without one must not wait.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, cast

import trio

from actors.process_groups import ProcessGroups
from actors.proxy_target import proxy_target
from actors.unit_kind import LOAD_SECONDS, LoadedUnit, UnitHost, UnitLoadError
from actors.units import UnitsActor
from engine.errors import EngineError
from engine.units.source import UnitSource
from space_unit.proxy_settings import PROXY, read_proxy_settings

if TYPE_CHECKING:
    from types import ModuleType

    from actors.proxy_server import ProxyServer

PATIENCE_SECONDS = 0.8 * LOAD_SECONDS
"""How long a load waits for the server. One that takes longer is loaded without tools, which come when it answers."""

_SERVER_MODULE = "actors.proxy_server"


class ProxyUnits:
    """The kind `proxy`. Servers are started by `load` and run within `run`."""

    name: ClassVar[str] = PROXY

    def __init__(self, units: UnitsActor, groups: ProcessGroups) -> None:
        self._units = units
        self._groups = groups
        self._nursery: trio.Nursery | None = None

    async def load(self, source: UnitSource, host: UnitHost) -> LoadedUnit:
        """See `UnitKind`. A server that is not there yet is loaded without tools, and its tools follow."""
        try:
            settings = read_proxy_settings(source.name, source.manifest.settings)
            target = proxy_target(source, settings, os.environ)
        except EngineError as error:
            raise UnitLoadError(str(error)) from error
        module: ModuleType = await trio.to_thread.run_sync(import_module, _SERVER_MODULE)
        made: type[ProxyServer] = cast("type[ProxyServer]", module.ProxyServer)
        if self._nursery is None:
            raise UnitLoadError(f"unit {source.name!r}: the engine is ending, and starts no more servers")
        server = made(source.name, settings, target, host, self._units, self._groups)
        self._nursery.start_soon(server.run)
        try:
            with trio.move_on_after(PATIENCE_SECONDS):
                await server.first.wait()
            return server.load()
        except BaseException:
            server.abandon()
            with trio.CancelScope(shield=True):
                await server.gone.wait()
            raise

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """See `UnitKind`."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            try:
                task_status.started()
                await trio.sleep_forever()
            finally:
                self._nursery = None
