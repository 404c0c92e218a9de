"""The tools on units, called as a model calls them, on a running engine with real files."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema_rs
import pytest

from presets.builtins import units
from presets.definition import DefaultState, Risk
from presets.interactions import interaction_of
from protocol.tool import JsonObject, TaskSupport, ToolError
from tests.actors.units_on_trial import Silent, Trial, code_of, units_on_trial
from tests.presets.item_samples import AnsweringCall

ADAPTERS = {adapter.mcp_name: adapter for adapter in units.adapters()}
SHOWN_BYTES = 50 * 1024


async def result_of(trial: Trial, name: str, /, **arguments: object) -> JsonObject:
    """Call as a client does: arguments and result match the schemas, and the text is short enough to be shown."""
    adapter = ADAPTERS[f"space_unit_{name}"]
    jsonschema_rs.validate(dict(adapter.input_schema), arguments)
    outcome = await adapter.make_run(trial.space.app)(arguments, interaction_of(Silent()))
    assert adapter.output_schema is not None
    assert outcome.structured is not None
    jsonschema_rs.validate(dict(adapter.output_schema), outcome.structured)
    assert len(getattr(outcome.content[0], "text", "").encode()) < SHOWN_BYTES
    return outcome.structured


# The table


def test_the_presets_are_a_group_of_their_own_and_all_of_them_off() -> None:  # 286, less what lives in other tools
    table = [
        ("unit-look-tools", "normal", ["list", "resolve", "inspect"]),
        ("unit-read-tools", "filesystem-read", ["read-source", "read-log", "snapshot"]),
        ("unit-edit-tools", "shell", ["create", "edit", "apply-patch", "create-source", "restore", "reload"]),
        ("unit-test-tools", "shell", ["run-tests"]),
    ]
    assert [
        (preset.name, preset.risk.value, [tool_id.removeprefix("unit.") for tool_id in preset.tool_ids])
        for preset in units.presets()
    ] == table
    for preset in units.presets():
        assert (preset.group, preset.default_state) == ("units", DefaultState.OFF)
        assert preset.system_prompt


def test_what_is_written_runs_in_the_engine_so_it_is_as_risky_as_a_shell() -> None:
    risks = {tool_id: preset.risk for preset in units.presets() for tool_id in preset.tool_ids}
    for adapter in units.adapters():
        if not adapter.read_only and adapter.id != "unit.snapshot":
            assert risks[adapter.id] is Risk.SHELL, adapter.id


@pytest.mark.parametrize("adapter", units.adapters(), ids=lambda adapter: adapter.mcp_name)
def test_every_tool_has_closed_schemas_and_describes_its_arguments(adapter: units.ToolAdapter) -> None:
    assert adapter.mcp_name == "space_" + adapter.id.replace(".", "_").replace("-", "_")
    assert re.fullmatch(r"unit\.[a-z-]+", adapter.id)
    assert adapter.title
    assert adapter.input_schema["additionalProperties"] is False
    for name, schema in adapter.input_schema["properties"].items():
        assert schema.get("description"), f"{name} says nothing"


# Work


@pytest.mark.slow
async def test_an_agent_makes_a_unit_changes_it_tests_it_and_takes_a_change_back(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path) as trial:
        assert await result_of(trial, "list") == {"units": []}
        made = await result_of(trial, "create", unit_id="dice", source=code_of(), tests="def test_it(): assert True\n")
        assert made["unit"]["tools"] == ["space_dice_roll"]
        listed = (await result_of(trial, "list"))["units"][0]  # 263, 290
        assert (listed["unit_id"], listed["state"], listed["kind"]) == ("dice", "loaded", "python")
        assert (await result_of(trial, "run_tests", unit_id="dice"))["passed"]

        source = await result_of(trial, "read_source", unit_id="dice", path="unit.py")
        assert source["text"] == code_of()
        lines = code_of().splitlines()
        at = lines.index("    return 1") + 1
        patch = f"--- a/unit.py\n+++ b/unit.py\n@@ -{at} +{at} @@\n-    return 1\n+    return 4\n"
        patched = await result_of(
            trial, "apply_patch", unit_id="dice", patch=patch, path="unit.py", expected_hash=source["hash"]
        )
        assert patched["reloaded"]
        assert (await trial.call("space_dice_roll")).structured == {"result": 4}
        with pytest.raises(ToolError, match=f"line {at} should be '    return 1', but there stands '    return 4'"):
            await result_of(trial, "apply_patch", unit_id="dice", patch=patch)

        await result_of(trial, "create_source", unit_id="dice", path="words.py", source="WORD = 1\n")  # 230, 231
        await result_of(trial, "edit", unit_id="dice", path="words.py", source="WORD = 2\n")
        with pytest.raises(ToolError, match="already exists"):
            await result_of(trial, "create_source", unit_id="dice", path="words.py", source="")
        await result_of(trial, "restore", unit_id="dice", snapshot=patched["snapshot"])
        assert (await trial.call("space_dice_roll")).structured == {"result": 1}
        assert not (trial.root / "dice" / "words.py").exists()

        looked = await result_of(trial, "inspect", unit_id="dice")  # 291, 292
        assert [file["path"] for file in looked["files"]] == ["tests/test_unit.py", "unit.py", "unit.toml"]
        assert patched["snapshot"] in looked["snapshots"]
        assert (await result_of(trial, "resolve", description="dice"))["candidates"][0]["unit_id"] == "dice"
        assert (await result_of(trial, "snapshot", unit_id="dice"))["state"] == {}
        assert (await result_of(trial, "reload", unit_id="dice"))["unit"]["state"] == "loaded"
        log = await result_of(trial, "read_log", unit_id="dice", grep="takes it back")  # 269
        assert log["lines"]
        assert set(log) == {"lines", "total_lines"}


@pytest.mark.slow
async def test_a_unit_that_does_not_load_is_told_to_the_model_with_the_place(tmp_path: Path) -> None:  # 300, 310
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        with pytest.raises(ToolError, match=r"SyntaxError.*\(unit.py, line 1\)[\s\S]*source restored"):
            await result_of(trial, "edit", unit_id="dice", path="unit.py", source="def (:")
        with pytest.raises(ToolError, match="could not be loaded"):
            await result_of(trial, "create", unit_id="bad", source="import nothing_like_it")
        assert [row["unit_id"] for row in (await result_of(trial, "list"))["units"]] == ["dice"]


@pytest.mark.slow
async def test_many_failures_and_much_output_fit_one_result(tmp_path: Path) -> None:
    tests = "def deep(n):\n    return deep(n - 1) if n else print('\\x00' * 100_000) or [][0]\n"
    tests += "".join(f"def test_{number}():\n    deep(50)\n" for number in range(60))
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        trial.write(code_of(), **{"tests/test_unit.py": tests})
        ran = await result_of(trial, "run_tests", unit_id="dice")
        assert (ran["failed_count"], ran["passed"], ran["output_is_cut"]) == (60, False, True)
        assert ran["failed"]


@pytest.mark.slow
async def test_long_sources_come_in_pages(tmp_path: Path) -> None:
    long = "".join(f"# {'x' * 200} {number}\n" for number in range(1000))
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        trial.write(code_of(), more_py=long)
        text, offset = "", 1
        while offset is not None:
            page = await result_of(trial, "read_source", unit_id="dice", path="more.py", offset=offset)
            text, offset = text + page["text"], page.get("next_offset")
        assert text == long


@pytest.mark.slow
async def test_tests_go_on_as_a_task_and_say_how_far_they_are(tmp_path: Path) -> None:
    class Waiting(AnsweringCall):
        def __init__(self) -> None:
            super().__init__()
            self.told: list[tuple[float, float | None, str | None]] = []

        async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
            self.told.append((done, total, message))

    adapter, call = ADAPTERS["space_unit_run_tests"], Waiting()
    assert adapter.task_support is TaskSupport.OPTIONAL
    slowly = "import time\n" + "".join(f"def test_{n}(): time.sleep(0.4)\n" for n in range(3))
    async with units_on_trial(tmp_path) as trial:
        await result_of(trial, "create", unit_id="dice", source=code_of(), tests=slowly)
        outcome = await adapter.make_run(trial.space.app)({"unit_id": "dice"}, call)
    assert outcome.structured is not None
    assert outcome.structured["passed_count"] == 3
    assert call.tasks == 1
    assert [total for _, total, _ in call.told] == [3] * len(call.told)
    assert {done for done, _, _ in call.told} >= {0, 1}
    assert any(said and said.endswith("runs") for _, _, said in call.told)
