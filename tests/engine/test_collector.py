"""The garbage collector is held off for a while and is on again afterwards, whatever happened in between."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest

from engine.collector import MANY_OBJECTS, collector_paused


@pytest.fixture(autouse=True)
def collector() -> Generator[None]:
    assert gc.isenabled()
    yield
    gc.unfreeze()
    gc.enable()


def test_it_is_off_within_and_on_again_afterwards() -> None:
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_is_on_again_after_an_error() -> None:
    with pytest.raises(KeyError), collector_paused():
        raise KeyError
    assert gc.isenabled()


def test_a_block_within_a_block_leaves_it_off() -> None:
    with collector_paused():
        with collector_paused():
            pass
        assert not gc.isenabled()


def test_very_many_objects_are_not_looked_at_again_and_few_are() -> None:
    gc.collect()
    with collector_paused():
        few = [[number] for number in range(10)]
    assert gc.get_freeze_count() == 0
    with collector_paused():
        many = [[number] for number in range(MANY_OBJECTS + 1000)]
    assert gc.get_freeze_count() > MANY_OBJECTS
    assert (len(few), len(many)) == (10, MANY_OBJECTS + 1000)
