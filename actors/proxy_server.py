"""The MCP server of one unit: kept there, followed and called for as long as the unit is loaded. Owns its life.

A server that goes is started or reached again, ever more slowly. Its tools stay offered meanwhile, so that the list of
tools holds still, and calls are refused with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial

import structlog
import trio
from mcp import MCPError
from mcp_types import TextContent, Tool

from actors.errors import ActorError, ActorStoppedError
from actors.process_groups import ProcessGroups
from actors.proxy_connection import ProxyConnection
from actors.proxy_log import ProxyLog
from actors.proxy_target import ProxyServerError, ProxyTarget
from actors.unit_kind import UnitHost, UnitLoadError
from actors.units import ReportTrouble, UnitsActor
from engine.errors import ConflictError, EngineError
from presets.interactions import InteractiveRun
from protocol.interaction import Interaction
from protocol.jsonrpc import encode
from protocol.tool import JsonObject, ToolError, ToolOutcome
from space_unit.contribution import EMPTY, Contribution
from space_unit.proxy_settings import ProxySettings
from space_unit.proxy_tools import plan_proxy

FIRST_WAIT_SECONDS = 1.0
"""Before a server that has gone is started again; each further time it is twice as long."""

LONGEST_WAIT_SECONDS = 60.0
"""The most that is waited: a server that is switched on by hand is there within a minute."""

HEALTHY_SECONDS = 30.0
"""A server that was there for so long has recovered, and the next wait is short again."""

QUIET_SECONDS = 0.2
"""After so long without another word of change the tools are listed anew: several changes become one."""

LONGEST_UNQUIET_SECONDS = 2.0
"""They are listed then at the latest, and no more often, whatever the server says."""

LEAVE_SECONDS = 1.0
"""How long a connection may take to end in good order, before it is cut."""

_log = structlog.stdlib.get_logger("units")


class LoadedProxy:
    """One state of the server's tools, as it serves. See `LoadedUnit`."""

    def __init__(self, server: ProxyServer, contribution: Contribution) -> None:
        self.contribution = contribution
        self._server = server

    def retire(self) -> None:
        """See `LoadedUnit`."""
        self._server.retired(self)


class ProxyServer:
    """The server of one load of a unit. `run` keeps it, from the start until every `LoadedProxy` is retired."""

    def __init__(
        self,
        unit: str,
        settings: ProxySettings,
        target: ProxyTarget,
        host: UnitHost,
        units: UnitsActor,
        groups: ProcessGroups,
    ) -> None:
        self._unit = unit
        self._settings = settings
        self._target = target
        self._host = host
        self._units = units
        self._groups = groups
        self._log = ProxyLog(host.log, target.secrets)
        self._connection: ProxyConnection | None = None
        self._tools: tuple[Tool, ...] | None = None
        self._serving: LoadedProxy | None = None
        self._loads: set[LoadedProxy] = set()
        self._calls = 0
        self._away = "it has not answered yet"
        self._stale = False
        self._given = trio.Event()
        self._scope = trio.CancelScope()
        self._ending = False
        self.first = trio.Event()
        """Set when the first try to reach the server has come to an end, good or bad."""
        self.gone = trio.Event()
        """Set when nothing of the server is left."""
        self.refusal: str | None = None
        """Why there is no use in trying on; set before `first`."""

    # Loads

    def load(self) -> LoadedProxy:
        """The server as it is now, for somebody who retires it. Called once.

        Raises `UnitLoadError` for one that cannot be started, which is gone then.
        """
        if self.refusal is not None:
            raise UnitLoadError(f"unit {self._unit!r}: its server could not be started: {self.refusal}")
        loaded = LoadedProxy(self, EMPTY if self._serving is None else self._serving.contribution)
        self._serving = loaded
        self._loads.add(loaded)
        self._given.set()
        return loaded

    def retired(self, loaded: LoadedProxy) -> None:
        """That load serves no more. With the last one the server goes, once the calls in flight have ended."""
        self._loads.discard(loaded)
        self._settle()

    def abandon(self) -> None:
        """Give the server up at once."""
        self._ending = True
        self._scope.cancel()

    def _settle(self) -> None:
        if self._loads or self._calls or self._ending:
            return
        self._ending = True
        if self._connection is None:
            self._scope.cancel()
            return
        self._connection.leave()
        self._scope.deadline = trio.current_time() + LEAVE_SECONDS

    # Life

    async def run(self) -> None:
        """Keep the server. Returns when it is gone; cancelling ends it as well. Raises nothing else."""
        try:
            with self._scope:
                await self._keep()
        except Exception:  # noqa: BLE001 - see below
            # The boundary of a server: a bug here must not take the engine along.
            _log.exception("proxy_failed", unit=self._unit)
            self._away = "keeping it has failed, which is a fault of Space; reload the unit"
            self._log.say(self._away)
            self.refusal = self._away
        except BaseExceptionGroup as group:
            # Cancelled while something broke, which is of no interest any more.
            _, rest = group.split(Exception)
            assert rest is not None  # noqa: S101 - a group of errors alone is an `Exception`
            raise rest from None
        finally:
            self._connection = None
            self.first.set()
            self.gone.set()

    async def _keep(self) -> None:
        wait = FIRST_WAIT_SECONDS
        while True:
            started = trio.current_time()
            try:
                await self._serve()
            except ProxyServerError as error:
                self._away = self._log.clean(str(error))
            if self._ending:
                return
            if not self._loads and not self.first.is_set() and self._target.url is None:
                self.refusal = self._away + self._last_words()
                return
            if trio.current_time() - started >= HEALTHY_SECONDS:
                wait = FIRST_WAIT_SECONDS
            self._log.say(f"its server is away: {self._away}; the next try is in {wait:g} s{self._last_words()}")
            self.first.set()
            with trio.move_on_after(wait):
                await self._report(self._away)
                await trio.sleep_forever()
            wait = min(wait * 2, LONGEST_WAIT_SECONDS)

    async def _serve(self) -> None:
        """Connect, and be there until the connection ends. Raises `ProxyServerError` when it does not end by itself."""
        connection = ProxyConnection(self._target, self._groups, self._log)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._tell_of_silence)
                await nursery.start(connection.run)
                # From here on calls go through, and `retired` asks it to leave.
                self._connection = connection
                self._away = "it has answered, and not listed its tools yet"
                if self._ending:
                    connection.leave()
                await self._adopt(connection)
                self._log.say(f"its server is there: {connection.greeting}")
                self.first.set()
                nursery.start_soon(self._follow, connection)
                await connection.closed.wait()
                nursery.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            matched, rest = group.split(ProxyServerError)
            if rest is not None or matched is None:
                raise rest or group from None
            raise _first(matched) from group
        finally:
            self._connection = None
        raise ProxyServerError(connection.reason)

    async def _adopt(self, connection: ProxyConnection) -> None:
        """Offer what the server lists now, where that is something else than before, or it was away."""
        tools = await connection.list_tools()
        if tools == self._tools and not self._stale:
            return
        plan = await trio.to_thread.run_sync(
            partial(plan_proxy, self._unit, self._settings, tools, self._body), abandon_on_cancel=True
        )
        for note in plan.notes:
            self._log.say(note)
        self._tools = tools
        made = LoadedProxy(self, plan.contribution)
        if not self._loads and not self.first.is_set():
            self._serving = made  # nobody has it yet; `load` gives it out
            return
        await self._replace(made)

    async def _replace(self, made: LoadedProxy) -> None:
        await self._placed()
        before = self._serving
        assert before is not None  # noqa: S101 - it was given out before anything could change
        self._loads.add(made)
        self._serving = made
        try:
            await self._host.replace(before, made)
            self._stale = False
        except (EngineError, ActorError) as error:
            self._serving = before
            self.retired(made)
            if not isinstance(error, ConflictError) or before in self._loads:
                said = f"the tools of its server have changed, and the change is refused: {error}"
                self._log.say(said)
                await self._show(said)
        except BaseException:
            self.retired(made)
            raise

    async def _follow(self, connection: ProxyConnection) -> None:
        """List the tools anew when the server says that they have changed."""
        while True:
            await connection.changed.wait()
            with trio.move_on_after(LONGEST_UNQUIET_SECONDS):
                while connection.changed.is_set():
                    connection.changed = trio.Event()
                    await trio.sleep(QUIET_SECONDS)
            try:
                await self._adopt(connection)
            except ProxyServerError as error:
                self._log.say(f"its tools may have changed: {error}")
            await trio.sleep(QUIET_SECONDS)

    # Telling

    async def _placed(self) -> None:
        """Wait until the unit serves: before that, nobody knows of it who could be told."""
        rows = self._units.rows.subscribe()
        while self._serving is None or not any(held.loaded is self._serving for held in self._units.state.values()):
            await rows.next()

    async def _report(self, problem: str) -> None:
        """Show in the unit's row that its server is away."""
        await self._show(f"its server is away: {problem}; it is tried again by itself, and calls are refused meanwhile")

    async def _show(self, said: str) -> None:
        """Show in the unit's row what is wrong."""
        await self._placed()
        serving = self._serving
        row = next((row for row in self._units.rows.value if row.name == self._unit), None)
        if serving is None or row is None or row.problem == said:
            return
        # Before it is shown: whatever becomes of this task, the next connection takes it back.
        self._stale = True
        report = f"{said}{self._last_words()}"
        try:
            await self._units.ask(ReportTrouble(serving, said, report))
        except ActorStoppedError:
            return
        except (EngineError, ActorError) as error:
            self._log.say(f"this could not be shown: {error}")

    async def _tell_of_silence(self) -> None:
        """Say so where the unit serves before its server has answered at all."""
        await self._given.wait()
        await self._placed()
        if self._tools is None:
            await self._report(self._away)

    def _last_words(self) -> str:
        tail = self._log.tail.strip()
        return f"; it printed last:\n{tail}" if tail else ""

    # Calls

    def _body(self, tool: str) -> InteractiveRun:
        async def run(arguments: JsonObject, call: Interaction) -> ToolOutcome:
            with self._in_use():
                return await self._call(tool, arguments, call)

        return run

    @contextmanager
    def _in_use(self) -> Generator[None]:
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            self._settle()

    async def _call(self, tool: str, arguments: JsonObject, call: Interaction) -> ToolOutcome:
        connection = self._connection
        if connection is None or connection.closed.is_set():
            why = self._away if connection is None else self._log.clean(connection.reason)
            raise ToolError(
                f"the MCP server of unit {self._unit!r} is away: {why}. Nothing was done. It is tried again by itself; "
                "try later, or tell the user."
            )
        try:
            result = await connection.call(tool, arguments, self._settings.call_seconds, _Rising(call.progress))
        except ProxyServerError as error:
            raise ToolError(self._log.clean(f"the MCP server of unit {self._unit!r}: {error}")) from error
        except MCPError as error:
            said = self._log.clean(str(error)) or "it gave no reason"
            raise ToolError(f"the MCP server of unit {self._unit!r} refused the call: {said}") from error
        content, structured = tuple(result.content), result.structured_content
        if result.is_error:
            return ToolOutcome(content, None, is_error=True)
        if not self._declares_output(tool):
            if not content and structured is not None:
                content = (TextContent(type="text", text=encode(structured).decode()),)
            return ToolOutcome(content)
        return ToolOutcome(content, structured)

    def _declares_output(self, tool: str) -> bool:
        return any(tool == one.name and one.output_schema is not None for one in self._tools or ())


class _Rising:
    """Progress as it may be passed on: rising, and one word at a time; what comes faster is left out."""

    def __init__(self, tell: Callable[..., object]) -> None:
        self._tell = tell
        self._done = float("-inf")
        self._busy = False

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        if self._busy or progress <= self._done:
            return
        self._done, self._busy = progress, True
        try:
            await self._tell(progress, total, message)  # pyright: ignore[reportGeneralTypeIssues]
        finally:
            self._busy = False


def _first(group: BaseExceptionGroup[ProxyServerError]) -> ProxyServerError:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
