"""Hostile programs against real runners, each with a neighbour that must not notice."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import trio

from sandbox.result import RunResult
from sandbox.runner import Runner
from sandbox.runtime import CodeRuntime
from tests.sandbox.conftest import PATIENCE_SECONDS, SHORT, TOOLS, lives, open_descriptors

DATA = Path(__file__).parents[1] / "data"
CASES = (
    json.loads((DATA / "hostile.json").read_text())["cases"]
    + json.loads((DATA / "hostile_more.json").read_text())["cases"]
)

SECRET = "the-secret-of-the-host"
TRACES = (SECRET, "root:x:", "uid=", "CONNECTED")
"""What an answer would show when something had been read, run or reached."""

MEASURED_LATE_BYTES = 64 * 1024**2
"""What deno's own files take of the resident memory, which the kernel's limit does not count."""

NEIGHBOUR = """
let sum = 0;
for (let i = 0; i < 6; i++) {
  sum += (await tools.echo({i})).i;
  await new Promise(r => setTimeout(r, 3));
}
console.log('fine');
return sum;
"""


@dataclass
class Doorbell:
    """A listener that counts who connects to it."""

    port: int = 0
    rings: int = 0
    listeners: Sequence[trio.SocketListener] = field(default_factory=list)

    async def serve(self, task_status: trio.TaskStatus[None]) -> None:
        self.listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.port = self.listeners[0].socket.getsockname()[1]
        task_status.started()
        await trio.serve_listeners(self._count, list(self.listeners))

    async def _count(self, stream: trio.SocketStream) -> None:
        self.rings += 1
        await stream.aclose()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
async def test_a_hostile_program_harms_only_itself(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPACE_TEST_SECRET", SECRET)
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    before = open_descriptors()
    runtime, doorbell = CodeRuntime(spares=0), Doorbell()
    results: dict[str, RunResult] = {}
    runners: list[Runner] = []

    async def run(name: str, program: str, wall_seconds: float) -> None:
        async with runtime.lease(replace(SHORT, wall_seconds=wall_seconds)) as lease:
            runners.append(lease.runner)
            results[name] = await lease.run(program, [TOOLS])

    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            await nursery.start(runtime.run)
            await nursery.start(doorbell.serve)
            program: str = case["program"]
            for mark, value in (
                ("{secret_file}", str(secret)),
                ("{port}", str(doorbell.port)),
                ("{parent}", str(os.getpid())),
            ):
                program = program.replace(mark, value)
            async with trio.open_nursery() as both:
                both.start_soon(run, "hostile", program, SHORT.wall_seconds)
                both.start_soon(run, "neighbour", NEIGHBOUR, PATIENCE_SECONDS)
            nursery.cancel_scope.cancel()

    hostile, neighbour = results["hostile"], results["neighbour"]
    assert (neighbour.value, neighbour.error) == (15, None)
    assert [line.text for line in neighbour.logs] == ["fine"]
    assert hostile.error is None or hostile.error.message
    answer = repr((hostile.value, hostile.logs, hostile.error and hostile.error.message))
    assert not [trace for trace in TRACES if trace in answer]
    json.dumps(hostile.value, ensure_ascii=False, allow_nan=False).encode()
    assert doorbell.rings == 0
    assert secret.read_text() == SECRET
    assert sum(len(line.text) for line in hostile.logs) <= SHORT.log_chars
    assert hostile.cpu_seconds < SHORT.cpu_seconds + 1
    assert not [runner for runner in runners if lives(runner.process_id)]
    assert max(runner.peak_bytes for runner in runners) < SHORT.memory_bytes + MEASURED_LATE_BYTES
    assert open_descriptors() == before
    demand_expected(case.get("expect", {}), hostile)


def demand_expected(expect: dict[str, Any], result: RunResult) -> None:
    if "value" in expect:
        assert result.error is None
        assert result.value == expect["value"]
    if "kinds" in expect:
        # A loop on a busy machine may meet the wall clock first.
        kinds = {*expect["kinds"], *(("timeout",) if "cpu-limit" in expect["kinds"] else ())}
        assert (None if result.error is None else result.error.kind) in kinds, result
