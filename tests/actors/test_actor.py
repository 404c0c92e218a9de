"""The promises of the runtime, each on a virtual clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import outcome
import pytest
import trio
import trio.testing

from actors.actor import Actor, Message, _Envelope, handles
from actors.errors import ActorStoppedError, AskUpwardsError, InternalError, MailboxFullError
from engine.errors import ConflictError

DEADLINE = 5.0


@dataclass(frozen=True, slots=True)
class Add(Message[int]):
    amount: int


@dataclass(frozen=True, slots=True)
class Refuse(Message[int]):
    pass


@dataclass(frozen=True, slots=True)
class Crash(Message[int]):
    pass


@dataclass(frozen=True, slots=True)
class Hold(Message[int]):
    """Keeps the actor in its step until the event is set."""

    entered: trio.Event
    release: trio.Event


class Counting(Actor[int]):
    name: ClassVar[str] = "counting"
    rank: ClassVar[int] = 1

    @handles(Add)
    async def add(self, message: Add) -> int:
        self.state += message.amount
        return self.state

    @handles(Refuse)
    async def refuse(self, message: Refuse) -> int:
        self.state = 99
        raise ConflictError("not now")

    @handles(Crash)
    async def crash(self, message: Crash) -> int:
        self.state = 99
        raise ZeroDivisionError

    @handles(Hold)
    async def hold(self, message: Hold) -> int:
        message.entered.set()
        await message.release.wait()
        self.state += 1
        return self.state


async def test_an_ask_gives_the_reply_of_the_step(nursery: trio.Nursery) -> None:
    actor = Counting(0)
    await nursery.start(actor.run)
    assert await actor.ask(Add(2)) == 2
    assert await actor.ask(Add(3)) == 5
    actor.close()


async def test_messages_are_handled_one_at_a_time_in_order(nursery: trio.Nursery) -> None:
    actor = Counting(0)
    await nursery.start(actor.run)
    entered, release = trio.Event(), trio.Event()
    replies: list[int] = []

    async def ask(message: Message[int]) -> None:
        replies.append(await actor.ask(message))

    async with trio.open_nursery() as askers:
        askers.start_soon(ask, Hold(entered, release))
        await entered.wait()
        for amount in (10, 20):
            askers.start_soon(ask, Add(amount))
            await trio.testing.wait_all_tasks_blocked()
        assert actor.statistics().depth == 2
        release.set()
    assert sorted(replies) == [1, 11, 31]
    actor.close()


async def test_a_domain_error_goes_to_the_asker_as_itself_and_changes_nothing(nursery: trio.Nursery) -> None:
    actor = Counting(7)
    await nursery.start(actor.run)
    with pytest.raises(ConflictError, match="not now"):
        await actor.ask(Refuse())
    assert await actor.ask(Add(0)) == 7
    assert actor.statistics().refused == 1
    assert actor.statistics().failed == 0
    actor.close()


async def test_a_bug_is_an_internal_error_for_the_asker_and_changes_nothing(nursery: trio.Nursery) -> None:
    actor = Counting(7)
    await nursery.start(actor.run)
    with pytest.raises(InternalError, match="counting"):
        await actor.ask(Crash())
    assert await actor.ask(Add(0)) == 7
    assert actor.statistics().failed == 1
    actor.close()


async def test_a_full_mailbox_makes_the_sender_wait_and_then_names_actor_and_depth(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    actor = Counting(0, capacity=1)
    await nursery.start(actor.run)
    entered, release = trio.Event(), trio.Event()
    nursery.start_soon(actor.ask, Hold(entered, release))
    await entered.wait()
    await actor.tell(Add(1))
    started = trio.current_time()
    with pytest.raises(MailboxFullError, match=r"'counting'.*held 1 messages"):
        await actor.ask(Add(1))
    assert trio.current_time() - started == DEADLINE
    release.set()
    assert await actor.ask(Add(0)) == 2
    actor.close()


async def test_a_sender_that_waits_for_room_gets_in_when_there_is_some(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    actor = Counting(0, capacity=1)
    await nursery.start(actor.run)
    entered, release = trio.Event(), trio.Event()
    nursery.start_soon(actor.ask, Hold(entered, release))
    await entered.wait()
    await actor.tell(Add(1))

    async def release_later() -> None:
        await trio.sleep(DEADLINE / 2)
        release.set()

    nursery.start_soon(release_later)
    assert await actor.ask(Add(5)) == 7
    actor.close()


async def test_an_ask_cancelled_before_it_is_picked_up_never_runs(nursery: trio.Nursery) -> None:
    actor = Counting(0)
    await nursery.start(actor.run)
    entered, release = trio.Event(), trio.Event()
    nursery.start_soon(actor.ask, Hold(entered, release))
    await entered.wait()
    async with trio.open_nursery() as askers:
        askers.start_soon(actor.ask, Add(100))
        await trio.testing.wait_all_tasks_blocked()
        askers.cancel_scope.cancel()
    release.set()
    assert await actor.ask(Add(0)) == 1
    assert actor.statistics().withdrawn == 1
    actor.close()


async def test_an_ask_cancelled_after_it_is_picked_up_runs_to_its_end(nursery: trio.Nursery) -> None:
    actor = Counting(0)
    await nursery.start(actor.run)
    entered, release = trio.Event(), trio.Event()
    async with trio.open_nursery() as askers:
        askers.start_soon(actor.ask, Hold(entered, release))
        await entered.wait()
        askers.cancel_scope.cancel()
    release.set()
    assert await actor.ask(Add(0)) == 1
    actor.close()


async def test_an_actor_that_is_closed_handles_what_it_has_and_refuses_the_rest(nursery: trio.Nursery) -> None:
    actor = Counting(0)
    await nursery.start(actor.run)
    entered, release = trio.Event(), trio.Event()
    replies: list[int] = []

    async def ask() -> None:
        replies.append(await actor.ask(Add(4)))

    nursery.start_soon(actor.ask, Hold(entered, release))
    await entered.wait()
    nursery.start_soon(ask)
    await trio.testing.wait_all_tasks_blocked()
    actor.close()
    actor.close()
    with pytest.raises(ActorStoppedError, match="counting"):
        await actor.ask(Add(1))
    release.set()
    await actor.wait_finished()
    await trio.testing.wait_all_tasks_blocked()
    assert replies == [5]


async def test_whoever_waits_for_an_actor_that_is_cancelled_hears_of_it() -> None:
    actor = Counting(0)
    heard: list[type[Exception]] = []
    entered = trio.Event()

    async def ask(message: Message[int]) -> None:
        try:
            await actor.ask(message)
        except ActorStoppedError as error:
            heard.append(type(error))

    async with trio.open_nursery() as askers, trio.open_nursery() as nursery:
        await nursery.start(actor.run)
        askers.start_soon(ask, Hold(entered, trio.Event()))
        await entered.wait()
        askers.start_soon(ask, Add(1))
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert heard == [ActorStoppedError, ActorStoppedError]
    assert actor.state == 0


@dataclass(frozen=True, slots=True)
class Forward(Message[int]):
    to: Actor[int]


class Upper(Counting):
    name: ClassVar[str] = "upper"
    rank: ClassVar[int] = 2
    domain_errors = (AskUpwardsError,)

    @handles(Forward)
    async def forward(self, message: Forward) -> int:
        return await message.to.ask(Add(1))


class Lower(Upper):
    name: ClassVar[str] = "lower"
    rank: ClassVar[int] = 0


async def test_an_actor_may_ask_down_the_order(nursery: trio.Nursery) -> None:
    upper, lower = Upper(0), Counting(0)
    await nursery.start(upper.run)
    await nursery.start(lower.run)
    assert await upper.ask(Forward(lower)) == 1
    upper.close()
    lower.close()


@pytest.mark.parametrize("itself", [False, True], ids=["one above it", "itself"])
async def test_an_ask_that_runs_up_is_refused_at_once(nursery: trio.Nursery, itself: bool) -> None:
    upper, lower = Upper(0), Lower(0)
    await nursery.start(upper.run)
    await nursery.start(lower.run)
    with pytest.raises(AskUpwardsError, match="'lower' asked"):
        await lower.ask(Forward(lower if itself else upper))
    assert upper.statistics().handled == 0
    upper.close()
    lower.close()


async def test_statistics_count_what_happened(nursery: trio.Nursery, autojump_clock: trio.testing.MockClock) -> None:
    actor = Counting(0)
    await nursery.start(actor.run)
    entered, release = trio.Event(), trio.Event()
    nursery.start_soon(actor.ask, Hold(entered, release))
    await entered.wait()
    await trio.sleep(3)
    release.set()
    await actor.ask(Add(1))
    figures = actor.statistics()
    assert (figures.handled, figures.depth, figures.capacity) == (2, 0, 64)
    assert figures.longest_seconds == pytest.approx(3)
    assert figures.seconds_per_message == pytest.approx(1.5)
    actor.close()


async def test_a_reply_that_is_there_already_reaches_even_an_asker_that_is_being_cancelled() -> None:
    """It waited for room, and was cancelled only after the step: what it began, it must hear of, so as to end it."""
    envelope = _Envelope(Add(5))
    envelope.answer(outcome.Value(5))
    with trio.CancelScope() as scope:
        scope.cancel()
        assert (await envelope.wait()).unwrap() == 5
    assert not scope.cancelled_caught
