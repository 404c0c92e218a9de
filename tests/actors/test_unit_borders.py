"""What a unit does cannot take the engine along: whatever its code raises, wherever, and however long it takes."""

from __future__ import annotations

import shutil
import threading
from functools import partial
from pathlib import Path

import pytest
import trio

from actors.call_body import attempt_tool, run_tool
from actors.space import built_in_capabilities
from actors.unit_kind import UnitLoadError
from blocks.block import ContextBlock
from engine.errors import EngineError
from engine.units.manifest import RESERVED_UNIT_NAMES
from presets.unit_shop import UnitState
from protocol.prepared_call import PreparedCall
from protocol.tool import JsonObject, ToolCall, ToolDefinition, ToolOutcome
from protocol.tool_registry import ToolRegistry
from tests.actors.units_on_trial import Silent, Trial, code_of, units_on_trial
from tests.space_unit.units import HEAD

pytestmark = pytest.mark.slow

MEAN = """\
import asyncio, sys, trio
class Own(BaseException): pass
class NoText(Exception):
    def __str__(self): raise KeyboardInterrupt
class Told(ToolError):
    def __str__(self): raise ValueError("no")
class Odd:
    def __getattribute__(self, name): raise KeyboardInterrupt
async def kept():
    with trio.CancelScope() as scope:
        scope.cancel()
        try:
            await trio.lowlevel.checkpoint()
        except trio.Cancelled as error:
            return error
"""

RAISES = {
    "kbd": "raise KeyboardInterrupt",
    "exit": "sys.exit(4)",
    "gen": "raise GeneratorExit",
    "cancel": "raise asyncio.CancelledError()",
    "own": "raise Own('mine')",
    "group": "raise BaseExceptionGroup('g', [KeyboardInterrupt()])",
    "text": "raise NoText()",
    "told": "raise Told()",
}
"""Ways to fail that are no ordinary error."""

LOOPS = "while True: pass\n"


async def answers(trial: Trial) -> bool:
    """Whether the engine still does what it is for."""
    with trio.fail_after(5):
        return (await trial.space.app.get_context()).surface == "canvas"


def state_of(trial: Trial, unit: str) -> UnitState | None:
    """How the unit stands, None where it is not listed (yet)."""
    return next((row.state for row in trial.space.units.rows() if row.name == unit), None)


# What is raised


async def test_nothing_that_a_unit_raises_while_it_is_imported_ends_the_engine(tmp_path: Path) -> None:
    units = {name: f"{HEAD}{MEAN}\n{raises}\n" for name, raises in RAISES.items()}
    units["odd"] = f"{HEAD}{MEAN}\nodd = Odd()\n"
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        for name, code in units.items():
            trial.write(code, name)
        await trial.until(lambda: units.keys() <= {row.name for row in trial.space.units.rows()})
        await trial.until(lambda: all(row.state is not UnitState.LOADING for row in trial.space.units.rows()))
        for name in units:
            row = trial.row(name)
            assert (name, row.state) == (name, UnitState.BROKEN)
            assert f"unit {name!r}: " in (row.problem or "")
            with pytest.raises(UnitLoadError):
                await trial.space.units.reload(name)
        assert trial.tools == ("space_dice_roll",)
        assert await answers(trial)


async def test_nothing_that_a_tool_raises_or_leaves_open_ends_the_engine(tmp_path: Path) -> None:
    bodies = {
        **RAISES,
        "kept": "raise await kept()",
        "scope": "trio.CancelScope().__enter__()",
        "nursery": "(await trio.open_nursery().__aenter__()).start_soon(trio.sleep_forever)",
        "result": "return Odd()",
    }
    code = f"{HEAD}{MEAN}" + "".join(
        f"@tool\nasync def {name}() -> int:\n    'Fails.'\n    {body}\n    return 1\n" for name, body in bodies.items()
    )
    async with units_on_trial(tmp_path, mean=f"{code}p = preset('mean', tools=[{', '.join(bodies)}])\n") as trial:
        for name in bodies:
            entry = trial.space.catalog.tools.value.get(f"space_mean_{name}")
            assert entry is not None
            call = PreparedCall(entry, {})
            outcome = await run_tool(call, Silent())  # pyright: ignore[reportArgumentType]
            assert (name, outcome.is_error) == (name, name != "scope")
            if outcome.is_error and name != "told":
                assert f"tool {name!r} of unit 'mean' failed" in outcome.content[0].text  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        assert await answers(trial)
        log = "\n".join(text for _, text in (await trial.space.units.read_log("mean")).lines)
        assert "tool exit failed" in log
        assert "SystemExit: 4" in log


async def test_a_call_of_a_unit_is_cancelled_as_any_other(tmp_path: Path) -> None:
    extra = "import trio\n@tool\nasync def wait() -> int:\n    'Waits.'\n    await trio.sleep_forever()\n    return 1\n"
    code = f"{HEAD}{extra}p = preset('dice', tools=[wait])\n"
    async with units_on_trial(tmp_path, dice=code) as trial:
        with trio.move_on_after(0.1) as scope:
            await trial.call("space_dice_wait")
        assert scope.cancelled_caught
        assert await answers(trial)


async def test_hooks_blocks_and_facts_end_no_prompt_and_no_engine(tmp_path: Path) -> None:
    code = (
        f"{HEAD}{MEAN}import enum\nclass Luck(enum.StrEnum):\n    GOOD = 'good'\n"
        "    def __eq__(self, other): raise KeyboardInterrupt\n    def __hash__(self): raise KeyboardInterrupt\n"
        "facts = context_facts(luck=Luck.GOOD)\n"
        "exits = prompt_block('exits', lambda: sys.exit(3))\n"
        + "".join(f"@before_blocks\ndef {name}(blocks):\n    {raises}\n" for name, raises in RAISES.items())
        + "".join(f"@before_blocks\nasync def a{name}(blocks):\n    {raises}\n" for name, raises in RAISES.items())
        + "@before_blocks\ndef adds(blocks):\n"
        "    import blocks.block as b\n"
        "    return [*blocks, b.ContextBlock(id='mean.x', role='system', content='!', order=9, source='mean')]\n"
    )
    async with units_on_trial(tmp_path, mean=code) as trial:
        assert trial.row("mean").problem is None
        given = ContextBlock(id="one", role="system", content="1", order=1, source="test")
        steps = await trial.space.block_prompts.hooks.before_blocks([given])
        assert [block.id for block in steps[-1].after] == ["one", "mean.x"]
        assert type(trial.space.context.view.value.context.facts()["luck"]) is str
        trial.write(code + "\n# again\n", "mean")
        await trial.until(lambda: trial.row("mean").version == 2)
        assert await answers(trial)


async def test_a_tool_of_the_engine_that_raises_anything_is_a_call_that_failed() -> None:
    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        raise SystemExit(1)

    registry = ToolRegistry("space_")
    definition = ToolDefinition(
        name="space_ends", description="Ends.", input_schema={"type": "object"}, run=run, owner="test", source="test"
    )
    registry.register(definition, now=0.0)
    entry = registry.snapshot().get("space_ends")
    assert entry is not None
    ended = await attempt_tool(PreparedCall(entry, {}), Silent())  # pyright: ignore[reportArgumentType]
    assert not isinstance(ended, ToolOutcome)
    assert ended.outcome.is_error
    with trio.move_on_after(0.01) as scope:
        await attempt_tool(PreparedCall(entry, {}), Silent())  # pyright: ignore[reportArgumentType]
        await trio.sleep_forever()
    assert scope.cancelled_caught


# What takes its time


async def test_units_that_hang_are_ended_and_named_and_the_others_have_their_turn(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path) as trial:
        trial.space.python_units._load_seconds = 0.3
        hanging = [f"loop{number}" for number in range(6)]
        for name in hanging:
            trial.write(LOOPS, name)
        await trial.until(lambda: any(row.state is UnitState.LOADING for row in trial.space.units.rows()))
        trial.write(code_of(), "dice")
        await trial.until(lambda: "space_dice_roll" in trial.tools)
        for name in hanging:
            await trial.until(lambda name=name: state_of(trial, name) is UnitState.BROKEN)
            assert "was not loaded within 0.3 s" in (trial.row(name).problem or "")
            assert "and was ended" in (trial.row(name).problem or "")
        assert not any(thread.name.startswith("unit loop") for thread in threading.enumerate())
        log = "".join(path.read_text() for path in (tmp_path / "data" / "unit-logs").iterdir())
        assert "waits for its turn; being loaded: " in log


async def test_a_unit_that_cannot_be_ended_says_so_and_takes_nobodys_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = threading.Lock()
    held.acquire()
    monkeypatch.setattr("builtins.held_by_test", held, raising=False)
    monkeypatch.setattr("actors.python_units.END_SECONDS", 0.1)
    monkeypatch.setattr("actors.python_units.MOST_HANGING", 2)
    # In C until it is released, as a request without a limit would be.
    waits = "import builtins\nwith builtins.held_by_test: pass\n"
    async with units_on_trial(tmp_path) as trial:
        trial.space.python_units._load_seconds = 0.2
        for name in ("stuck-a", "stuck-b", "stuck-c", "stuck-d", "stuck-e"):
            trial.write(waits, name)
        trial.write(code_of(), "dice")
        await trial.until(lambda: "space_dice_roll" in trial.tools)
        await trial.until(lambda: state_of(trial, "stuck-a") is UnitState.BROKEN)
        assert "restart the engine" in (trial.row("stuck-a").problem or "")
        for said in ("restart the engine", "2 loads of it hang"):
            with pytest.raises(UnitLoadError, match=said):
                await trial.space.units.reload("stuck-a")
        for name in ("stuck-a", "stuck-b", "stuck-c", "stuck-d", "stuck-e"):
            shutil.rmtree(trial.root / name)
        held.release()
        await trial.until(lambda: not any(each.name.startswith("unit stuck") for each in threading.enumerate()))


async def test_plain_functions_of_a_prompt_hold_up_nobody_and_have_their_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("space_unit.collecting.HOOK_SECONDS", 0.3)
    code = (
        f"{HEAD}import time\n@before_blocks\ndef loops(blocks):\n    while True: pass\n"
        "@before_blocks\ndef sleeps(blocks):\n    time.sleep(0.8)\n    return blocks\n"
        "@before_blocks\ndef works(blocks):\n    return blocks[:1]\n"
        "late = prompt_block('late', lambda: time.sleep(0.7))\n"
    )
    async with units_on_trial(tmp_path, slow=code) as trial:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                await trio.sleep(0.02)
                beats += 1

        given = [ContextBlock(id=name, role="system", content="1", order=1, source="test") for name in ("one", "two")]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(beat)
            with trio.fail_after(8):
                steps = await trial.space.block_prompts.hooks.before_blocks(given)
            nursery.cancel_scope.cancel()
        assert [block.id for block in steps[-1].after] == ["one"]
        assert beats > 10
        log = "\n".join(text for _, text in (await trial.space.units.read_log("slow")).lines)
        assert log.count("before_blocks took more than 0.3 s") == 3


async def test_a_tool_that_holds_up_the_engine_is_named_in_its_log(tmp_path: Path) -> None:
    extra = "import time\n@tool\nasync def hold() -> int:\n    'Holds.'\n    time.sleep(1.8)\n    return 1\n"
    async with units_on_trial(tmp_path, dice=f"{HEAD}{extra}p = preset('dice', tools=[hold])\n") as trial:
        await trial.call("space_dice_hold")
        with trio.fail_after(5):
            while True:
                log = "\n".join(text for _, text in (await trial.space.units.read_log("dice")).lines)
                if "it held up the engine for" in log:
                    break
                await trio.sleep(0.05)
        assert "it holds up the engine for more than 1 s, at unit.py, line 9" in log


# What is listed


async def test_a_unit_that_is_being_loaded_is_listed_so(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path) as trial:
        trial.write(code_of(extra="import time\ntime.sleep(0.5)\n"), "dice")
        await trial.until(lambda: any(row.name == "dice" for row in trial.space.units.rows()))
        assert trial.row().state is UnitState.LOADING
        await trial.until(lambda: trial.row().state is UnitState.LOADED)


async def test_a_load_that_is_cut_off_leaves_the_list_as_it_was(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path, dice="x = 1 / 0") as trial:
        assert trial.row().state is UnitState.BROKEN
        (trial.root / "dice" / "tests").mkdir()
        with trio.move_on_after(0.2):
            trial.space.units._kinds["python"].load = partial(_never)  # type: ignore[method-assign]  # pyright: ignore[reportAttributeAccessIssue]
            await trial.space.units.reload("dice")
        assert trial.row().state is UnitState.BROKEN
        assert "division by zero" in (trial.row().problem or "")


async def _never(*arguments: object) -> None:
    await trio.sleep_forever()


async def test_a_folder_that_lacks_only_its_manifest_is_listed_with_the_remedy(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path) as trial:
        (trial.root / "dice").mkdir()
        (trial.root / "dice" / "unit.py").write_text(code_of())
        await trial.tried("dice")
        assert "no unit.toml" in (trial.row().problem or "")
        (trial.root / "dice" / "unit.toml").touch()
        await trial.until(lambda: trial.tools == ("space_dice_roll",))


async def test_no_unit_is_called_as_what_is_spaces_own(tmp_path: Path) -> None:
    own = built_in_capabilities()
    taken = {preset.group for preset in own.add_presets}
    taken |= {adapter.mcp_name.split("_")[1] for adapter in own.add_adapters}
    assert taken <= RESERVED_UNIT_NAMES
    async with units_on_trial(tmp_path) as trial:
        with pytest.raises(EngineError, match="choose another name, such as 'my-drawing'"):
            await trial.space.units.create("drawing")
        (trial.root / "graph").mkdir()
        (trial.root / "graph" / "unit.toml").write_text('kind = "proxy"\n[proxy]\nurl = "http://127.0.0.1:9/mcp"\n')
        await trial.tried("graph")
        assert "'graph' is what Space calls something of its own" in (trial.row("graph").problem or "")


async def test_a_module_beyond_its_limit_is_not_loaded(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        (trial.root / "dice" / "unit.py").write_text(code_of() + "#" * 1024 * 1024)
        await trial.until(lambda: trial.row().state is UnitState.STALE)
        assert "a module of a unit has at most 1,048,576" in (trial.row().problem or "")


async def test_a_mistyped_description_finds_what_it_may_have_meant(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path, dice=code_of(), cards=code_of("draw", unit="cards")) as trial:
        (found,) = trial.space.units.resolve("dise", 20)
        assert (found.unit, found.evidence) == ("dice", "none of the words; did you mean 'dice' by 'dise'?")
        assert trial.space.units.resolve("xylophone", 20) == ()


async def test_the_log_says_why_no_test_was_run(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        trial.write(code_of(), **{"tests/test_unit.py": "def test_it(): pass\n"})
        ran = await trial.space.units.run_tests("dice", "test_that")
        assert "There are: tests/test_unit.py::test_it." in (ran.report.problem or "")
        log = "\n".join(text for _, text in (await trial.space.units.read_log("dice")).lines)
        assert "there is no test 'test_that'" in log
