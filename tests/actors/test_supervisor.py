"""Ordered start, ordered end, and no half engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
import trio
import trio.testing

from actors.actor import Actor, Message, handles
from actors.supervisor import STOP_SECONDS, Supervisor


@dataclass(frozen=True, slots=True)
class Wait(Message[None]):
    event: trio.Event


class Noting(Actor[None]):
    name: ClassVar[str] = "low"
    rank: ClassVar[int] = 1

    def __init__(self, notes: list[str], *, fail: bool = False) -> None:
        super().__init__(None)
        self._notes = notes
        self._fail = fail

    async def prepare(self) -> None:
        if self._fail:
            raise OSError(f"{self.name} cannot start")
        self._notes.append(f"start {self.name}")

    async def release(self) -> None:
        self._notes.append(f"end {self.name}")

    @handles(Wait)
    async def wait(self, message: Wait) -> None:
        await message.event.wait()


class High(Noting):
    name: ClassVar[str] = "high"
    rank: ClassVar[int] = 2


@pytest.fixture
def notes() -> list[str]:
    return []


async def test_actors_start_from_the_bottom_up_and_end_from_the_top_down(notes: list[str]) -> None:
    supervisor = Supervisor([High(notes), Noting(notes)])
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        assert notes == ["start low", "start high"]
        supervisor.stop()
        supervisor.stop()
    assert notes == ["start low", "start high", "end high", "end low"]


async def test_an_actor_that_cannot_start_fails_the_start_and_ends_the_others(notes: list[str]) -> None:
    supervisor = Supervisor([High(notes, fail=True), Noting(notes)])
    with pytest.RaisesGroup(pytest.RaisesExc(OSError, match="high cannot start")):
        await supervisor.run()
    assert notes == ["start low", "end high", "end low"]


async def test_an_actor_that_does_not_end_is_cancelled_after_its_time(
    notes: list[str], autojump_clock: trio.testing.MockClock
) -> None:
    high, low = High(notes), Noting(notes)
    supervisor = Supervisor([high, low])
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        await high.tell(Wait(trio.Event()))
        await trio.testing.wait_all_tasks_blocked()
        started = trio.current_time()
        supervisor.stop()
    assert trio.current_time() - started == STOP_SECONDS
    assert sorted(notes[2:]) == ["end high", "end low"]


async def test_statistics_name_every_actor_from_the_top_down(notes: list[str]) -> None:
    supervisor = Supervisor([Noting(notes), High(notes)])
    assert [figures.name for figures in supervisor.statistics()] == ["high", "low"]
