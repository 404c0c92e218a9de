"""What a program costs inside the engine: all of `space_run_code`, the check alone, and a call beside a native one.

One `Space` in this process, without HTTP. A native call takes the way of a client's: its request begins in the sessions
actor, it runs in a task of its own, and its request ends. A nested one is made by a program that runs.
"""

from __future__ import annotations

import statistics
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import trio

from actors.session_messages import Begin, CallClaim, End, OpenSession
from actors.space import Space, SpaceOptions, built_in_capabilities
from benchmarks.mcp_client import VERSION
from benchmarks.prompts import PLACES, BuiltIns
from benchmarks.quantiles import Spread
from benchmarks.servers.space_tool import trivial_tool
from benchmarks.table import Figure, Requirement, Row
from engine.engine import Engine
from engine.store import Store
from presets.agents.roster import DEFAULT_AGENT
from presets.presentation import RUN_CODE_NAME
from protocol.decision import CallTool
from protocol.prepared_call import PreparedCall, prepare_call
from protocol.session import Audience, Session
from protocol.tool import JsonObject
from sandbox.compiler import seconds_of_checks

MOST_CHECK_MS = 25.0
"""A check in a warm checker, median, also where two sets of tools take turns."""

MOST_CALL_MS = 1.0
"""What a call may cost more from inside a program than natively, median."""

SETTLE_SECONDS = 0.05
"""Between programs, so that the next spare has started and the process of the one before is gone."""

ECHO = "space_benchmark_echo"
CONSTANT = "return 1"


@dataclass(frozen=True)
class Effort:
    """How thoroughly to measure."""

    runs: int
    checks: int
    rounds: int
    """Of calls: a program with that many, and as many native ones, in turns."""
    calls: int


def measure(folder: Path, effort: Effort) -> list[Row]:
    """The rows of the table. `folder` is for data. Raises `AssertionError` at a wrong result."""
    return trio.run(_measured, folder, effort)


async def _measured(folder: Path, effort: Effort) -> list[Row]:
    with closing(Store.open(folder, now=datetime.now(UTC))) as store:
        engine = Engine(store.load(), clock=lambda: datetime.now(UTC))
        space = Space(engine, store, SpaceOptions(workspace=folder))
        async with trio.open_nursery() as nursery:
            await nursery.start(partial(space.run, (built_in_capabilities(), trivial_tool())))
            rig = await _Rig.open(space)
            await space.programs.compiler.warm()
            await rig.run_program(CONSTANT)
            runs = [await rig.timed_program(CONSTANT) for _ in range(effort.runs)]
            alone, in_turns = await _check_seconds(space, effort.checks)
            native, nested = await _call_seconds(rig, effort)
            space.stop()
    above = statistics.median(inside - outside for inside, outside in zip(nested, native, strict=True))
    return [
        Figure(f"{RUN_CODE_NAME}, all of it: check, run, report", 1 / statistics.median(runs), Spread.of(runs)),
        Figure("  checking a program, warm", latency=Spread.of(alone)),
        Figure("  checking, two sets of tools in turns", latency=Spread.of(in_turns)),
        Figure("  a trivial tool called natively, without HTTP", latency=Spread.of(native)),
        Figure("  the same from inside a program", latency=Spread.of(nested)),
        Requirement("checking a program, median", statistics.median(alone) * 1e3, MOST_CHECK_MS, " ms"),
        Requirement("checking in turns, median", statistics.median(in_turns) * 1e3, MOST_CHECK_MS, " ms"),
        Requirement("a call from inside above a native one", above * 1e3, MOST_CALL_MS, " ms"),
    ]


class _Rig:
    """A session and its calls."""

    def __init__(self, space: Space, session: Session) -> None:
        self._space = space
        self._session = session
        self._number = 0

    @staticmethod
    async def open(space: Space) -> _Rig:
        audience = Audience(DEFAULT_AGENT, "both")
        return _Rig(space, await space.sessions.ask(OpenSession(VERSION, "benchmarks", None, audience)))

    async def call(self, name: str, arguments: JsonObject) -> JsonObject:
        """One call as a client makes it; its structured result."""
        self._number += 1
        sessions, audience = self._space.sessions, self._session.audience
        active = await sessions.ask(Begin(self._session.id, (CallClaim(self._number),), audience.agent))
        prepared = prepare_call(self._space.tools.of(audience).offered, name, arguments)
        if active is None or not isinstance(prepared, PreparedCall):
            raise AssertionError(f"{name} could not be called: {prepared}")
        call = self._space.calls.start(CallTool(self._number, self._session.id, VERSION, prepared, None), active)
        await call.done.wait()
        await sessions.ask(End(active))
        if call.outcome is None or call.outcome.is_error or call.outcome.structured is None:
            raise AssertionError(f"{name} failed: {call.outcome}")
        return call.outcome.structured

    async def run_program(self, code: str) -> JsonObject:
        """Run a program, with a spare that is ready."""
        await self._space.programs.runtime.warm()
        return await self.call(RUN_CODE_NAME, {"code": code, "description": "benchmark"})

    async def timed_program(self, code: str) -> float:
        """The seconds that a program takes, from the call to its result."""
        await self._space.programs.runtime.warm()
        await trio.sleep(SETTLE_SECONDS)
        started = time.perf_counter()
        await self.call(RUN_CODE_NAME, {"code": code, "description": "benchmark"})
        return time.perf_counter() - started


async def _check_seconds(space: Space, checks: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Seconds of checks against one set of tools, and against two in turns; every program is another."""
    built_ins = BuiltIns()
    one, other = (built_ins.declarations("standard", place) for place in (PLACES[0], PLACES[2]))
    compiler = space.programs.compiler

    def program(number: int) -> str:
        return f"const view = await tools.space_app_capture_view({{ width: {100 + number} }}); return view.revision;"

    await seconds_of_checks(compiler, [(program(0), one), (program(0), other)])
    alone = await seconds_of_checks(compiler, [(program(number), one) for number in range(checks + 1)])
    in_turns = await seconds_of_checks(
        compiler, [(program(number), other if number % 2 else one) for number in range(checks)]
    )
    return alone[1:], in_turns


async def _call_seconds(rig: _Rig, effort: Effort) -> tuple[list[float], list[float]]:
    """Of each round the seconds of a call, natively and from inside a program, one after the other.

    What a program costs besides its calls is not in it: one with a single call is taken off.
    """
    native: list[float] = []
    nested: list[float] = []
    for _ in range(effort.rounds):
        started = time.perf_counter()
        for _ in range(effort.calls):
            await rig.call(ECHO, {"text": "hello"})
        native.append((time.perf_counter() - started) / effort.calls)
        few, many = [await rig.timed_program(_calling(calls)) for calls in (1, 1 + effort.calls)]
        nested.append((many - few) / effort.calls)
    return native, nested


def _calling(calls: int) -> str:
    return f'for (let i = 0; i < {calls}; i++) await tools.{ECHO}({{ text: "hello" }});\nreturn 1;'
