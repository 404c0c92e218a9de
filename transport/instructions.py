"""What a client is told at `initialize` and puts into the prompt of its model.

Owns the words. Clients read them once, so they explain how the tools move, and give the prompt of this moment.
"""

from __future__ import annotations

from actors.context import ContextView

ABOUT = """\
Space is an engine whose tools follow what the user is doing. The list of tools changes with the surface, the \
activity and the world; a tool that is not offered now says why when it is called. After a tool has changed the \
context, use the tools that are offered then."""


def instructions(view: ContextView) -> str:
    """The standing explanation, the context, and the prompt fragments of the presets that are active."""
    facts = ", ".join(f"{name}={value}" for name, value in sorted(view.context.facts().items()))
    fragments = [part.prompt for part in view.resolution.prompt_fragments if part.prompt]
    return "\n\n".join((ABOUT, f"Now: {facts}.", *fragments))
