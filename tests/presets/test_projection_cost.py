"""What a projection costs: it is made at every change, for each agent that somebody uses."""

from __future__ import annotations

import time
from collections.abc import Callable

from presets.definition import Risk
from presets.presentation import Presentation
from presets.projection import project
from presets.scope import Scope
from tests.presets.scope_samples import labelled, listed, run_code

MOST_SECONDS = 0.001
"""For 500 tools behind four filters, in the mode that lists most. The best of many rounds, so that a busy machine fails
nothing."""

TOOLS = listed(
    *(labelled(f"space_{number:04}", f"preset-{number % 50}", f"group-{number % 50 % 7}") for number in range(500))
)
"""50 presets of ten tools, in seven groups."""


def test_five_hundred_tools_are_projected_in_less_than_a_millisecond():
    agent = Scope.deployment().child("agent", "x")
    session = agent.child("session", "1")
    with (
        agent.present_as(Presentation.BOTH),
        agent.restrict_groups(deny=["group-1"]),
        agent.restrict_presets(deny=["preset-3"]),
        agent.risk_ceiling(Risk.SHELL),
        session.restrict(deny=["space_0004"], known=TOOLS.names),
    ):
        view = session.view()
        best = min(seconds(lambda: project(TOOLS, view, run_code, 1)) for _ in range(100))
    assert best < MOST_SECONDS


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
