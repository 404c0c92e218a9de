"""The tour of docs/units.md: what it says to write is a unit whose tests pass, and whose tools are offered."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from engine.units.folder import make_unit
from space_unit.runner import run_tests
from space_unit.template import template_files
from tests.actors.units_on_trial import units_on_trial

DOCUMENT = Path(__file__).parents[2] / "docs" / "units.md"


def blocks_of_the_tour() -> tuple[str, str]:
    """`unit.py` and `tests/test_unit.py` as the tour has them."""
    tour = DOCUMENT.read_text(encoding="utf-8").partition("## A tour")[2].partition("\n## ")[0]
    code, tests = re.findall(r"```python\n(.*?)```", tour, re.DOTALL)
    return code, tests


def test_the_unit_of_the_tour_passes_the_test_of_the_tour(tmp_path: Path) -> None:
    code, tests = blocks_of_the_tour()
    folder = make_unit(tmp_path, "dice", template_files("dice"))
    folder.change({"unit.py": code.encode(), "tests/test_unit.py": tests.encode()})
    report = io.StringIO()
    assert run_tests(folder.path, report), report.getvalue()


@pytest.mark.slow
async def test_the_unit_of_the_tour_is_offered_where_an_engine_begins(tmp_path: Path) -> None:
    code, _ = blocks_of_the_tour()
    async with units_on_trial(tmp_path, dice=code) as trial:
        assert trial.tools == ("space_dice_roll",)
        await trial.space.app.patch_context({"luck": True})
        assert trial.tools == ("space_dice_cheer", "space_dice_roll")
