"""A process that has escaped from the harness and writes what it likes. It is a script here, which speaks for deno."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import trio

from sandbox.lease import Lease
from sandbox.namespace import JsonValue, Namespace
from sandbox.result import FailureKind
from sandbox.runner import Runner, RunnerPlan
from tests.sandbox.conftest import PATIENCE_SECONDS, SHORT, lives, until

pytestmark = pytest.mark.slow

START = """
import json, sys, time, os
def say(**frame):
    sys.stdout.write(json.dumps(frame) + "\\n")
    sys.stdout.flush()
def call(id, name="echo", run=1, ns="tools"):
    say(t="call", run=run, id=id, ns=ns, name=name, args=id)
def done(run=1, value=1):
    say(t="done", run=run, ok=True, value=value, unawaited=0)
say(t="ready", deno="2")
json.loads(sys.stdin.readline())
"""


@dataclass(frozen=True, slots=True)
class ScriptPlan(RunnerPlan):
    """Starts a Python script in the place of deno."""

    script: str = ""

    def command(self) -> Sequence[str]:
        return [sys.executable, "-I", "-S", "-c", START + self.script]


@dataclass
class Heard:
    """What came to a host function, and why the process was killed."""

    calls: list[JsonValue]
    kills: list[FailureKind]

    async def echo(self, argument: JsonValue) -> JsonValue:
        self.calls.append(argument)
        return argument

    @property
    def tools(self) -> Namespace:
        return Namespace("tools", {"echo": self.echo})


@asynccontextmanager
async def leased(
    nursery: trio.Nursery,
    script: str,
    killed_for: Callable[[FailureKind], None],
    wall_seconds: float = SHORT.wall_seconds,
) -> AsyncGenerator[Lease]:
    runner = Runner(ScriptPlan(Path(), (), 0, 0, script), {})
    nursery.start_soon(runner.serve)
    assert await runner.booted()
    lease = Lease(runner, replace(SHORT, memory_bytes=1 << 40, wall_seconds=wall_seconds), killed_for)
    try:
        yield lease
    finally:
        lease.close()


@pytest.mark.parametrize(
    ("script", "kind", "message"),
    [
        ("print('no json')", "worker-exit", "broke the rules: a frame is no JSON"),
        ("print('[' * 200000)", "worker-exit", "broke the rules: a frame is no JSON"),
        ("say(t='done', run=1, ok='yes')", "worker-exit", "broke the rules: the field ok is neither true nor false"),
        ("say(t='eval')", "worker-exit", "broke the rules: a frame is of no known type"),
        ("while True: sys.stdout.write('x' * 65536)", "output-limit", "more than 4,194,304 bytes at once"),
        ('while True: print(\'{"t":"ready","deno":"2"}\' + \' \' * 60000)', "output-limit", "67,108,864 bytes in all"),
        ("for i in range(1, 5000): call(i)", "call-limit", "more than 1,000 calls (calls)"),
        ("sys.exit(7)", "worker-exit", "ended (exit code 7)"),
        ("os.close(1); time.sleep(60)", "worker-exit", "ended (signal 9)"),
        ("print('words', file=sys.stderr); os.abort()", "worker-exit", "ended (signal 6): words"),
        ("print('Fatal: out of memory', file=sys.stderr); os.abort()", "memory-limit", "out of memory"),
        ("time.sleep(60)", "timeout", "longer than 1 seconds"),
    ],
)
async def test_a_process_that_breaks_the_rules_is_ended_and_the_run_says_so(
    nursery: trio.Nursery, script: str, kind: str, message: str
) -> None:
    heard = Heard([], [])
    wall_seconds = SHORT.wall_seconds if kind == "timeout" else PATIENCE_SECONDS
    with trio.fail_after(PATIENCE_SECONDS):
        async with leased(nursery, script, heard.kills.append, wall_seconds) as lease:
            result = await lease.run("", [heard.tools])
        await until(lambda: not lives(lease.runner.process_id))
    assert result.error is not None
    assert result.error.kind == kind
    assert message in result.error.message
    assert heard.kills == [kind]


async def test_only_listed_functions_are_called_and_each_id_once_and_only_for_runs_that_go_on(
    nursery: trio.Nursery,
) -> None:
    heard = Heard([], [])
    script = """
call(1, run=2)
call(1, name="__init__")
answers = [json.loads(sys.stdin.readline())]
call(2, ns="__builtins__")
answers.append(json.loads(sys.stdin.readline()))
call(3); call(3); call(2); call(4)
for _ in range(2): answers.append(json.loads(sys.stdin.readline()))
done(run=7, value="forged")
done(value=answers)
done(value="again")
time.sleep(60)
"""
    with trio.fail_after(PATIENCE_SECONDS):
        async with leased(nursery, script, heard.kills.append) as lease:
            result = await lease.run("", [heard.tools])
    assert heard.calls == [3, 4]
    assert result.error is None
    assert isinstance(result.value, list)
    refused, elsewhere, *rest = result.value
    assert refused == {"t": "ret", "id": 1, "ok": False, "e": "tools.__init__ is not there any more"}
    assert elsewhere == {"t": "ret", "id": 2, "ok": False, "e": "__builtins__.echo is not there any more"}
    assert sorted(map(str, rest)) == [str({"t": "ret", "id": n, "ok": True, "v": n}) for n in (3, 4)]


async def test_more_log_than_is_kept_is_dropped_though_the_process_goes_on_sending(nursery: trio.Nursery) -> None:
    heard = Heard([], [])
    script = 'for _ in range(100): say(t="log", run=1, level="log", s="x" * 1000, full=False)\ndone()\ntime.sleep(60)'
    with trio.fail_after(PATIENCE_SECONDS):
        async with leased(nursery, script, heard.kills.append) as lease:
            result = await lease.run("", [])
    assert result.logs_cut
    assert sum(len(line.text) for line in result.logs) <= SHORT.log_chars
    assert result.value == 1


async def test_a_process_that_does_not_read_holds_up_nobody_but_itself(nursery: trio.Nursery) -> None:
    async def big(_: JsonValue) -> JsonValue:
        return "x" * 5_000_000

    script = "for i in range(1, 100): call(i, name='big')\ntime.sleep(60)"
    with trio.fail_after(PATIENCE_SECONDS):
        async with leased(nursery, script, Heard([], []).kills.append) as lease:
            result = await lease.run("", [Namespace("tools", {"big": big})])
    assert result.error is not None
    assert result.error.kind == "timeout"
