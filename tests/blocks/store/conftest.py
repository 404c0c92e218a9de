"""A store in a folder of the test's own, and a story in it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from blocks.store.block_store import BlockStore
from blocks.store.story_files import StoryPlace

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

HERE = StoryPlace("tale")
"""The active branch of the story that `store` has."""


def opened(data: Path) -> BlockStore:
    """A store whose clock stands still."""
    return BlockStore(data, lambda: NOW)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data folder; what is beside it must stay as it is."""
    return tmp_path / "data"


@pytest.fixture
def store(data: Path) -> BlockStore:
    """A store with the story `tale`."""
    made = opened(data)
    made.stories.create({"name": "A Tale", "id": "tale"})
    return made
