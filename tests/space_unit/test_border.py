"""The border to a unit's code: everything that is raised behind it is that unit's, and cancelling is its caller's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
import trio

from space_unit.border import Broken, Done, attempt


class _OfItsOwn(BaseException):
    pass


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(),
        SystemExit(4),
        GeneratorExit(),
        asyncio.CancelledError(),
        BaseExceptionGroup("some", [KeyboardInterrupt()]),
        _OfItsOwn("mine"),
        StopIteration(),
        MemoryError(),
        ValueError("no"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_whatever_is_raised_is_an_error_of_the_code_and_nobody_elses(error: BaseException) -> None:
    async def fails() -> None:
        raise error

    end = await attempt(fails)
    assert isinstance(end, Broken)
    assert end.error is error or isinstance(error, StopIteration)
    await trio.lowlevel.checkpoint()


async def test_what_the_code_gives_is_given() -> None:
    async def works() -> int:
        await trio.lowlevel.checkpoint()
        return 5

    assert await attempt(works) == Done(5)


async def _leaves_a_scope() -> int:
    trio.CancelScope().__enter__()
    return 1


async def _leaves_a_nursery() -> int:
    nursery = await trio.open_nursery().__aenter__()
    nursery.start_soon(trio.sleep_forever)
    return 1


async def _cancels_a_scope_that_it_leaves() -> None:
    trio.CancelScope().__enter__().cancel()
    await trio.sleep_forever()


@pytest.mark.parametrize(
    ("leaves", "broken"),
    [(_leaves_a_scope, False), (_leaves_a_nursery, True), (_cancels_a_scope_that_it_leaves, True)],
)
async def test_scopes_that_are_left_open_end_with_the_code(
    leaves: Callable[[], Awaitable[object]], broken: bool
) -> None:
    with trio.fail_after(5), trio.CancelScope() as around:
        end = await attempt(leaves)
        await trio.lowlevel.checkpoint()
        assert isinstance(end, Broken) is broken
    assert not around.cancelled_caught


async def test_cancelling_goes_through_whatever_the_code_makes_of_it() -> None:
    async def swallows() -> None:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            raise BaseExceptionGroup("all", [KeyboardInterrupt(), await _kept_cancelled()]) from None

    for waits in (trio.sleep_forever, swallows):
        with trio.move_on_after(0.01) as scope:
            await attempt(waits)
            pytest.fail("it was cancelled")
        assert scope.cancelled_caught


async def test_a_cancelling_that_was_kept_and_raised_later_is_an_error_like_any_other() -> None:
    kept = await _kept_cancelled()

    async def raises() -> None:
        raise kept

    end = await attempt(raises)
    assert end == Broken(kept)


async def _kept_cancelled() -> BaseException:
    kept: list[BaseException] = []
    with trio.CancelScope() as scope:
        scope.cancel()
        try:
            await trio.lowlevel.checkpoint()
        except trio.Cancelled as error:
            kept.append(error)
    return kept[0]
