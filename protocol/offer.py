"""What the server offers at one moment, frozen: what lists answer, what can be asked for, and what is declared of it.

Owns the value, and the capabilities that follow from it: what is declared is what answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protocol.client_capabilities import TASKS_EXTENSION
from protocol.prompt_list import PromptList
from protocol.resource_list import ResourceList
from protocol.tool_list import EMPTY_TOOL_LIST, ToolList
from protocol.versions import Revision


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What there is now. None, or False, means that the feature is not there at all, and is not declared.

    `asks_clients` says that somebody waits for the answers of clients; else they are dropped. `instructions` is what
    clients that know no sessions are told with the description of the server.
    """

    tools: ToolList = EMPTY_TOOL_LIST
    resources: ResourceList | None = None
    prompts: PromptList | None = None
    completions: bool = False
    logging: bool = False
    tasks: bool = False
    asks_clients: bool = False
    instructions: str | None = None


def capabilities(offer: Offer, revision: Revision) -> dict[str, Any]:
    """What a client of that revision is told that the server can do."""
    declared: dict[str, Any] = {"tools": {"listChanged": True}}
    if offer.resources is not None:
        declared["resources"] = {"subscribe": True, "listChanged": True}
    if offer.prompts is not None:
        declared["prompts"] = {"listChanged": True}
    if offer.completions and revision.completions:
        declared["completions"] = {}
    if offer.logging:
        declared["logging"] = {}
    if offer.tasks and revision.result_type:
        declared["extensions"] = {TASKS_EXTENSION: {}}
    return declared
