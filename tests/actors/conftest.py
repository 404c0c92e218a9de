"""The engine that most tests of this folder run: two worlds, nothing registered, a store in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.space import Space
from tests.actors.fakes import MemoryStore, space_of


@pytest.fixture
def store() -> MemoryStore:
    """The store of `space`."""
    return MemoryStore()


@pytest.fixture
def space(tmp_path: Path, store: MemoryStore) -> Space:
    """An engine that has not started yet."""
    return space_of(tmp_path, store)
