"""How long the prompt of each agent may be in each place, in characters, so that none grows unseen.

    python -m benchmarks.prompt_budgets

writes the lengths of now into `prompt_budgets.json`. Do that when a prompt is meant to grow (or has become shorter),
and say in the commit what the model gets for it: every request of every user pays for these characters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from benchmarks.prompts import AGENTS, PLACES, BuiltIns

BUDGETS_FILE = Path(__file__).with_suffix(".json")

MARGIN = 0.02
"""What a prompt may be longer than it was recorded: a word set right, and not one more tool or field."""

HOW_TO_RAISE = (
    "If it is worth that, record the new lengths with `python -m benchmarks.prompt_budgets` and say why in the commit; "
    "else shorten descriptions, or leave a tool out."
)

Lengths = Mapping[str, Mapping[str, int]]
"""Characters by agent and by place."""


def lengths() -> dict[str, dict[str, int]]:
    """How long the prompts are now."""
    built_ins = BuiltIns()
    return {agent: {place.name: len(built_ins.seen(agent, place).prompt.text) for place in PLACES} for agent in AGENTS}


def recorded() -> Lengths:
    """How long they were when they were recorded."""
    return json.loads(BUDGETS_FILE.read_text(encoding="utf-8"))


def exceeded(now: Lengths, budgets: Lengths) -> list[str]:
    """What has grown, one sentence for each agent and place; also what nobody has recorded."""
    said: list[str] = []
    for agent, places in now.items():
        for place, length in places.items():
            budget = budgets.get(agent, {}).get(place)
            where = f"the prompt of agent {agent!r}, {place}"
            if budget is None:
                said.append(f"{where}, has {length:,} characters and no budget")
            elif length > budget * (1 + MARGIN):
                said.append(f"{where}, has {length:,} characters; recorded are {budget:,} (and {MARGIN:.0%} more)")
    return said


def main() -> None:
    """Record the lengths of now."""
    BUDGETS_FILE.write_text(json.dumps(lengths(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
