"""Calls of a program that read run side by side; one that changes something runs alone, and the order is kept."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from actors.call_lane import CallLane, CallTurn


class Stage:
    """Calls that run until they are let go, and a note of who runs."""

    def __init__(self, parallel: int = 10) -> None:
        self.lane = CallLane(parallel)
        self.running: list[int] = []
        self.began: list[int] = []
        self.go: list[trio.Event] = []

    def submit(self, nursery: trio.Nursery, kinds: Sequence[bool]) -> None:
        for shared in kinds:
            number = len(self.go)
            self.go.append(trio.Event())
            nursery.start_soon(self._call, number, self.lane.enter(shared=shared))

    async def _call(self, number: int, turn: CallTurn) -> None:
        async with turn:
            self.running.append(number)
            self.began.append(number)
            await self.go[number].wait()
            self.running.remove(number)


READ, WRITE = True, False


async def test_calls_that_read_run_side_by_side() -> None:
    stage = Stage()
    async with trio.open_nursery() as nursery:
        stage.submit(nursery, [READ, READ, READ])
        await trio.testing.wait_all_tasks_blocked()
        assert sorted(stage.running) == [0, 1, 2]
        nursery.cancel_scope.cancel()


async def test_a_call_that_writes_waits_for_those_before_it_and_holds_back_those_behind_it() -> None:
    stage = Stage()
    async with trio.open_nursery() as nursery:
        stage.submit(nursery, [READ, READ, WRITE, READ])
        await trio.testing.wait_all_tasks_blocked()
        assert sorted(stage.running) == [0, 1]
        stage.go[0].set()
        await trio.testing.wait_all_tasks_blocked()
        assert stage.running == [1]
        stage.go[1].set()
        await trio.testing.wait_all_tasks_blocked()
        assert stage.running == [2]
        stage.go[2].set()
        await trio.testing.wait_all_tasks_blocked()
        assert stage.running == [3]
        stage.go[3].set()


async def test_no_more_run_at_once_than_the_lane_lets() -> None:
    stage = Stage(parallel=2)
    async with trio.open_nursery() as nursery:
        stage.submit(nursery, [READ, READ, READ])
        await trio.testing.wait_all_tasks_blocked()
        assert sorted(stage.running) == [0, 1]
        stage.go[1].set()
        await trio.testing.wait_all_tasks_blocked()
        assert sorted(stage.running) == [0, 2]
        nursery.cancel_scope.cancel()


async def test_a_call_that_is_cancelled_while_it_waits_leaves_the_queue() -> None:
    lane = CallLane()
    first, second, third = lane.enter(shared=WRITE), lane.enter(shared=WRITE), lane.enter(shared=WRITE)
    async with first:
        with trio.move_on_after(0) as scope:
            async with second:
                pytest.fail("the turn of the second came while the first one ran")
        assert scope.cancelled_caught
        assert not third.come.is_set()
    assert third.come.is_set()


def test_a_lane_lets_at_least_one_call_run() -> None:
    with pytest.raises(ValueError, match="at least one"):
        CallLane(0)


@given(st.lists(st.booleans(), max_size=12), st.integers(1, 4), st.randoms(use_true_random=False))
async def test_writes_run_alone_and_in_order_whatever_ends_first(
    kinds: list[bool], parallel: int, random: object
) -> None:
    stage = Stage(parallel)
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            stage.submit(nursery, kinds)
            for _ in kinds:
                await trio.testing.wait_all_tasks_blocked()
                assert len(stage.running) <= parallel
                assert len(stage.running) == 1 or all(kinds[number] for number in stage.running)
                chosen = random.choice(stage.running)  # pyright: ignore[reportAttributeAccessIssue]
                stage.go[chosen].set()
    for position, number in enumerate(stage.began):
        if not kinds[number]:
            assert sorted(stage.began[:position]) == list(range(number))
