"""The border to a unit's code: what is run behind it cannot take along whoever runs it.

Owns what counts as an error of the unit, which is everything that is raised but the cancelling of its caller. Signals
reach the engine in another way, so a `KeyboardInterrupt` in here is the unit's own, as is the `SystemExit` of a command
line that it calls.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import trio

from space_unit.tracebacks import errors_in

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Done(Generic[ResultT]):
    """The code came to its end, with this."""

    value: ResultT


@dataclass(frozen=True, slots=True)
class Broken:
    """The code raised this, or left scopes open that it had entered."""

    error: BaseException


async def attempt(function: Callable[[], Awaitable[ResultT]]) -> Done[ResultT] | Broken:
    """Run async code of a unit. Raises nothing but the cancelling of the caller.

    It runs in a task of its own, so a scope or a nursery that it enters and never leaves is an error of its own as
    well, and ends with it.
    """
    ended: list[Done[ResultT] | Broken] = []

    async def run() -> None:
        try:
            ended.append(Done(await function()))
        except BaseException as error:  # noqa: BLE001 - the boundary to a unit's code
            ended.append(Broken(error))

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
    except BaseException as error:  # noqa: BLE001 - what trio says of scopes that were left open
        inner = next(iter(errors_in(error)), error)
        ended[:] = [each for each in ended if isinstance(each, Broken)] or [Broken(inner)]
    (end,) = ended or [Broken(RuntimeError("it ended without a result"))]
    if isinstance(end, Broken):
        await pass_cancelling(end.error)
    return end


async def pass_cancelling(error: BaseException) -> None:
    """Raise `trio.Cancelled` where that is what the error is: the caller is being cancelled. Else return.

    One that was kept and raised later, with no scope around that is cancelled, is an error like any other: nobody would
    catch it.
    """
    if _holds_cancelled(error) and trio.current_effective_deadline() == -math.inf:
        # Not the error itself, which may be a group that holds more than that.
        await trio.lowlevel.checkpoint_if_cancelled()


def is_cancelling_alone(error: BaseException) -> bool:
    """Whether nothing but cancelling is in the error."""
    inner = errors_in(error)
    return all(map(is_cancelling_alone, inner)) if inner else isinstance(error, trio.Cancelled)


def _holds_cancelled(error: BaseException) -> bool:
    return isinstance(error, trio.Cancelled) or any(map(_holds_cancelled, errors_in(error)))
