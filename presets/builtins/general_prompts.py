"""The prompt that Space brings along: what the model of an agent is to know now. Owns its name and its one argument.

What single presets say is offered beside it without any adapter; see `presets.prompt_adapters.preset_prompt`.
"""

from __future__ import annotations

from collections.abc import Mapping

from presets.app import App
from presets.builtins.general_resources import agent_ids, complete_from
from presets.prompt_adapters import PromptAdapter, text_message
from protocol.completion import Completer, CompletionOutcome
from protocol.interaction import Interaction
from protocol.prompt import PromptArgument, PromptOutcome, PromptRun
from protocol.session import Audience

CONTEXT_PROMPT = "space_context"
"""The name of the prompt."""


def prompts() -> tuple[PromptAdapter, ...]:
    """The adapters of every prompt that the presets name."""
    return (
        PromptAdapter(
            id="general.context",
            name=CONTEXT_PROMPT,
            title="Space: the context",
            description="What an agent of Space knows now: how to use the tools, and what the user is doing.",
            arguments=(PromptArgument(name="agent", description="Whose prompt; left out, that of the agent you are."),),
            make_run=_context,
            make_completers=_completers,
        ),
    )


def _context(app: App, audience: Audience) -> PromptRun:
    async def run(arguments: Mapping[str, str], call: Interaction) -> PromptOutcome:
        agent = arguments.get("agent", "")
        messages = await app.readings.agent_prompt(Audience(agent) if agent else audience)
        return PromptOutcome(tuple(text_message(text, role) for role, text in messages))

    return run


def _completers(app: App) -> Mapping[str, Completer]:
    async def complete(typed: str, filled_in: Mapping[str, str]) -> CompletionOutcome:
        return complete_from(await agent_ids(app), typed)

    return {"agent": complete}
