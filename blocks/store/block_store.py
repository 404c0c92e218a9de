"""All that the block system keeps on disk, in one hand. Owns the composition; the actor owns the one object of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from blocks.config import EMPTY_CONFIG, AgentBlockConfig
from blocks.fragment import Fragment
from blocks.store.config_files import ConfigFiles
from blocks.store.documents import Documents, SetAside, Versioned, versioned
from blocks.store.files import DataFiles
from blocks.store.fragment_files import FragmentFiles
from blocks.store.story_files import StoryFiles, StoryPlace
from blocks.story import StoryMeta


@dataclass(frozen=True, slots=True)
class StorySnapshot:
    """A branch of a story at one moment: all that a prompt is made of. `fragments` has the archived ones too."""

    story: StoryMeta
    fragments: tuple[Fragment, ...]
    config: Versioned[AgentBlockConfig]


class BlockStore:
    """The files of stories, fragments and configurations below a data folder. Blocks; one thread at a time.

    Raises `DataFileError` when the folder cannot be used.
    """

    def __init__(self, data: Path, clock: Callable[[], datetime], *, tidy: bool = True) -> None:
        """Open the folder, and remove what a crash has left unfinished in it, where nobody else does that (`tidy`).

        `clock` gives the time in UTC.
        """
        files = DataFiles(data)
        if tidy:
            files.remove_unfinished()
        self._documents = Documents(files, clock)
        self.stories = StoryFiles(self._documents)
        self.fragments = FragmentFiles(self._documents, self.stories)
        self.configs = ConfigFiles(self._documents, self.stories)

    @property
    def changes(self) -> int:
        """How often something was written, moved or removed."""
        return self._documents.files.changes

    def take_reports(self) -> tuple[SetAside, ...]:
        """The broken files that were set aside since this was asked last."""
        return self._documents.take_reports()

    def snapshot(self, place: StoryPlace, agent: str | None = None) -> StorySnapshot:
        """What a prompt of that agent is made of now; of none, the configuration is empty. Raises `NotFoundError`."""
        story = self.stories.read(place.story).value
        fragments = tuple(one.value for one in self.fragments.list(place))
        config = versioned(EMPTY_CONFIG) if agent is None else self.configs.read(place, agent)
        return StorySnapshot(story, fragments, config)
