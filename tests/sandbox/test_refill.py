"""When a used spare is replaced: after the answer, not beside a lease that waits, and not once the runtime closes."""

from __future__ import annotations

import pytest
import trio

from sandbox.runtime import REFILL_DELAY_SECONDS, CodeRuntime
from tests.sandbox.conftest import PATIENCE_SECONDS, SHORT, lives, until

pytestmark = pytest.mark.slow


async def warm_runtime(nursery: trio.Nursery) -> CodeRuntime:
    runtime = CodeRuntime()
    await nursery.start(runtime.run)
    await runtime.warm()
    return runtime


async def test_a_used_spare_is_replaced_a_moment_after_the_lease_has_ended(nursery: trio.Nursery) -> None:
    runtime = await warm_runtime(nursery)
    async with runtime.lease(SHORT) as lease:
        await lease.run("return 1")
    ended = trio.current_time()
    for _ in range(5):
        await trio.lowlevel.checkpoint()
        assert runtime.status().spares == 0
    await until(lambda: runtime.status().spares == 1)
    assert trio.current_time() - ended >= REFILL_DELAY_SECONDS


async def test_a_lease_right_behind_another_starts_its_own_process_and_one_spare_comes(nursery: trio.Nursery) -> None:
    runtime = await warm_runtime(nursery)
    for _ in range(2):
        async with runtime.lease(SHORT) as lease:
            assert (await lease.run("return 1")).value == 1
            assert runtime.status().spares == 0
    await until(lambda: runtime.status().spares == 1)
    await trio.sleep(2 * REFILL_DELAY_SECONDS)
    assert runtime.status().spares == 1


async def test_a_runtime_that_closes_before_the_spare_is_replaced_starts_nothing_more() -> None:
    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            runtime = await warm_runtime(nursery)
            async with runtime.lease(SHORT) as lease:
                await lease.run("return 1")
            processes = runtime.status().runners
            nursery.cancel_scope.cancel()
    assert runtime.status().runners == ()
    assert not [process for process in processes if lives(process)]
