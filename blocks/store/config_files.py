"""Block configurations on disk: one file for each agent. Owns `agent-blocks/<agent>.json` and its size.

Those of story agents lie in a branch of their story, those of Space's own agents directly in the data folder. A file
that is missing is the empty configuration, and reading makes none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from blocks.agents import is_agent_name
from blocks.config import EMPTY_CONFIG, AgentBlockConfig
from blocks.store.documents import SUFFIX, Documents, Versioned, encoded, versioned
from blocks.store.files import Parts
from blocks.store.limits import MAX_CONFIG_BYTES, MAX_CUSTOM_BLOCKS
from blocks.store.revision import BaseRevisions, check_revision
from blocks.store.story_files import AGENT_BLOCKS, StoryFiles, StoryPlace
from engine.errors import ConflictError, NotFoundError

Place = StoryPlace | None
"""Where a configuration belongs: a branch of a story; None for one of Space's own agents."""

ARCHIVED = "archived-"
"""What the folder begins with in which configurations of agents lie that are no more."""

Edit = Callable[[AgentBlockConfig], AgentBlockConfig]
"""A change of a configuration, such as a partial of one in `blocks.edits`. It must be pure."""


class ConfigFiles:
    """The configurations. Blocks; raises as `Documents` does, and `NotFoundError` for stories and branches."""

    def __init__(self, documents: Documents, stories: StoryFiles) -> None:
        self._documents = documents
        self._stories = stories

    def read(self, place: Place, agent: str) -> Versioned[AgentBlockConfig]:
        """The configuration of an agent; the empty one where there is none, or where it was broken and is set aside."""
        stored = self._documents.read(self._file(place, agent), AgentBlockConfig)
        return versioned(EMPTY_CONFIG) if stored is None else stored

    def edit(self, place: Place, agent: str, edit: Edit, base: BaseRevisions = None) -> Versioned[AgentBlockConfig]:
        """Change a configuration and write it.

        Raises what the edit raises, `StaleRevisionError`, and `ConflictError` for one that has become too large.
        """
        present = self.read(place, agent)
        check_revision(f"the configuration of {agent!r}", present.revision, base)
        changed = edit(present.value)
        _check_size(agent, changed)
        return self._documents.write(self._file(place, agent), changed, most_bytes=MAX_CONFIG_BYTES)

    def replace_all(self, place: Place, configs: Mapping[str, AgentBlockConfig]) -> None:
        """Replace the configurations of these agents, once all of them are known to be fine. Others stay."""
        files = {agent: self._file(place, agent) for agent in configs}
        for agent, config in configs.items():
            _check_size(agent, config)
            encoded(config, most_bytes=MAX_CONFIG_BYTES)
        for agent, config in configs.items():
            self.read(place, agent)  # a broken one must be set aside, not written over
            self._documents.write(files[agent], config, most_bytes=MAX_CONFIG_BYTES)

    def reset(self, place: Place, agent: str, base: BaseRevisions = None) -> Versioned[AgentBlockConfig]:
        """Remove a configuration, so that the agent is as it comes. Raises `StaleRevisionError`."""
        check_revision(f"the configuration of {agent!r}", self.read(place, agent).revision, base)
        self._documents.remove(self._file(place, agent))
        return versioned(EMPTY_CONFIG)

    def set_aside(self, place: Place, agent: str) -> str | None:
        """Take the configuration of an agent that is no more out of use, and give the path below the data folder under
        which it is kept; None where there is none.
        """
        if not is_agent_name(agent):
            return None
        file = self._file(place, agent)
        if self._documents.read(file, AgentBlockConfig) is None:
            return None
        kept = (f"{ARCHIVED}{file[-2]}", f"{agent}.{self._documents.now.strftime('%Y%m%dT%H%M%SZ')}{SUFFIX}")
        return self._documents.archive(file, (*file[:-2], *kept))

    def take_along(self, agent: str, copy: str) -> None:
        """Give the copy of one of Space's own agents the configuration of the original; what an agent of that id has
        left is set aside. Nothing where one of the two has an id that no configuration can be kept under.
        """
        if not is_agent_name(agent) or not is_agent_name(copy):
            return
        config = self.read(None, agent).value
        self.set_aside(None, copy)
        if not config.empty:
            self._documents.write(self._file(None, copy), config, most_bytes=MAX_CONFIG_BYTES)

    def _file(self, place: Place, agent: str) -> Parts:
        if not is_agent_name(agent):
            raise NotFoundError(f"no agent can be named {agent[:80]!r}: words of a-z, 0-9 and dashes, joined by dots")
        folder = () if place is None else self._stories.folder(place)
        return (*folder, AGENT_BLOCKS, f"{agent}{SUFFIX}")


def _check_size(agent: str, config: AgentBlockConfig) -> None:
    if len(config.custom_blocks) > MAX_CUSTOM_BLOCKS:
        raise ConflictError(
            f"agent {agent!r} would have {len(config.custom_blocks)} custom blocks; "
            f"at most {MAX_CUSTOM_BLOCKS} are kept"
        )
