"""Which model an agent of a story has now: the story's settings over the user's providers. Owns no state of its own."""

from __future__ import annotations

from collections.abc import Mapping

from actors.published import Published
from blocks.context import AgentBlockContext
from blocks.model_resolution import NoModelError, ResolvedModel, resolve_model
from blocks.providers import Providers


class ConfiguredModels:
    """The search over the providers as they are at the moment of asking."""

    def __init__(self, providers: Published[Providers]) -> None:
        self._providers = providers

    def of(self, agent: str, settings: Mapping[str, object]) -> ResolvedModel:
        """The model that a run of the agent has now. Raises `NoModelError`."""
        return resolve_model(agent, settings, self._providers.value)

    def id_of(self, agent: str, context: AgentBlockContext) -> str | None:
        """The id of the model of an agent in that context, for previews; None where none is configured."""
        try:
            return self.of(agent, context.story.settings).model_id
        except NoModelError:
            return None
