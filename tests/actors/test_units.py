"""Units in a running engine: loaded, followed, broken, changed and taken away, with real files and a real watcher."""

from __future__ import annotations

import gc
import shutil
import sys
import threading
import time
from pathlib import Path
from types import ModuleType

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.context import EditCapabilities, PatchContext, SetContext, SetOverride
from actors.resolution import CapabilityEdit
from actors.space import built_in_capabilities
from actors.unit_changes import planned_changes
from actors.unit_kind import UnitLoadError
from engine.errors import ConflictError, EngineError, ForbiddenError, NotFoundError
from engine.units.folder import UnitFolder
from engine.units.report import TestEnding
from presets.unit_shop import UnitChange, UnitState
from protocol.tool import ToolError
from tests.actors.fakes import space_of
from tests.actors.units_on_trial import Trial, code_of, units_on_trial
from tests.presets.samples import adapter, preset
from tests.space_unit.units import HEAD

REST_SECONDS = 0.05
"""How long nothing must happen until what was set in motion has come to its end."""

pytestmark = pytest.mark.slow


# Loading


async def test_a_unit_that_is_there_at_the_start_is_offered_from_the_start(tmp_path: Path) -> None:  # 198 to 200, 274
    async with units_on_trial(tmp_path, dice=code_of(), cards=code_of("draw", "2", "cards")) as trial:
        assert trial.tools == ("space_cards_draw", "space_dice_roll")
        assert [row.name for row in trial.space.units.rows()] == ["cards", "dice"]  # 218
        row = trial.row()
        assert (row.state, row.version, row.tools, row.presets) == (
            UnitState.LOADED,
            1,
            ("space_dice_roll",),
            ("dice",),
        )
        assert (await trial.call("space_dice_roll")).structured == {"result": 1}


async def test_a_unit_that_cannot_be_loaded_is_reported_with_its_traceback_and_hurts_nobody(tmp_path: Path) -> None:
    broken = f"{HEAD}\ndef deep():\n    raise RuntimeError('no luck')\ndeep()\n"
    async with units_on_trial(tmp_path, bad=broken, dice=code_of()) as trial:
        assert trial.tools == ("space_dice_roll",)
        row = trial.row("bad")
        assert row.state is UnitState.BROKEN
        assert row.problem is not None
        assert row.report is not None
        assert "unit 'bad': it could not be loaded: RuntimeError: no luck (unit.py, line 7)" in row.problem
        assert "in deep" in row.report
        assert "python_units" not in row.report
        assert "importlib" not in row.report
        log = await trial.space.units.read_log("bad")
        assert any("no luck" in text for _, text in log.lines)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def (:", "SyntaxError"),
        ("import nothing_like_it", "No module named 'nothing_like_it'"),
        ("from .nothing import x", "No module named 'nothing'"),
        ("raise SystemExit(1)", "SystemExit: 1"),
        ("x = 1 / 0", "division by zero"),
        (code_of(unit="other"), "must be named 'dice'"),
    ],
)
async def test_every_way_to_be_broken_is_told(tmp_path: Path, code: str, said: str) -> None:
    async with units_on_trial(tmp_path, dice=code) as trial:
        assert trial.row().state is UnitState.BROKEN
        assert said in (trial.row().problem or "")
        assert "space_units_" not in (trial.row().problem or "") + (trial.row().report or "")
        assert trial.space.python_units.modules.loaded() == ()


async def test_a_unit_that_hangs_is_given_up_and_the_others_serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    monkeypatch.setattr("builtins.release_of_test", release, raising=False)
    hangs = "import builtins\nbuiltins.release_of_test.wait(30)\n"
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        trial.space.python_units._load_seconds = 0.3
        trial.write(hangs, "slow")
        trial.write(code_of("draw", unit="cards"), "cards")
        await trial.until(lambda: "space_cards_draw" in trial.tools)
        await trial.until(lambda: "slow" not in {row.name for row in trial.space.units.rows() if row.problem is None})
        assert "was not loaded within 0.3 s" in (trial.row("slow").problem or "")
        release.set()
        await trial.until(lambda: not any("slow" in name for name in trial.space.python_units.modules.loaded()))


async def test_a_disabled_unit_is_listed_and_not_loaded(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        trial.write(code_of(), **{"unit.toml": "enabled = false"})
        await trial.until(lambda: trial.row().state is UnitState.DISABLED)
        assert trial.tools == ()
        trial.write(code_of(), **{"unit.toml": ""})
        await trial.until(lambda: trial.tools == ("space_dice_roll",))


async def test_units_lie_in_other_folders_too_and_a_folder_may_be_one(tmp_path: Path) -> None:
    more, one = tmp_path / "more", tmp_path / "single"
    more.mkdir()
    trial = Trial(space_of(tmp_path), more)
    trial.write(code_of(unit="cards"), "cards")
    trial.root = tmp_path
    trial.write(code_of(unit="single"), "single")
    async with units_on_trial(tmp_path, roots=(more, one), dice=code_of()) as trial:
        assert trial.tools == ("space_cards_roll", "space_dice_roll", "space_single_roll")
        (one / "unit.py").write_text(code_of("other", unit="single"))
        await trial.until(lambda: "space_single_other" in trial.tools)


async def test_a_name_that_is_there_twice_and_a_link_are_refused(tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    Trial(space_of(tmp_path), more).write(code_of(), "dice")
    Trial(space_of(tmp_path), tmp_path).write(code_of(unit="linked"), "linked")
    (tmp_path / "data" / "units").mkdir(parents=True)
    (tmp_path / "data" / "units" / "linked").symlink_to(tmp_path / "linked")
    async with units_on_trial(tmp_path, roots=(more,), dice=code_of()) as trial:
        assert "there are two units 'dice'" in (trial.row().problem or "")
        assert "symbolic link" in (trial.row("linked").problem or "")
        assert trial.tools == ()


async def test_an_engine_without_a_data_folder_has_no_units(tmp_path: Path) -> None:
    space = space_of(tmp_path)
    assert space.units.rows() == ()
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            await nursery.start(space.run, ())
            with pytest.raises(ConflictError, match="no data folder"):
                await space.units.create("dice")
            space.stop()


# Following


async def test_a_saved_file_is_followed_within_a_second_with_one_change_of_the_list(tmp_path: Path) -> None:  # 306
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        tools = trial.space.catalog.tools
        revision, started = tools.value.revision, time.monotonic()
        trial.write(code_of("throw"))
        await trial.until(lambda: trial.tools == ("space_dice_throw",))
        assert time.monotonic() - started < 1.0
        await trio.sleep(0.3)
        assert tools.value.revision == revision + 1
        assert trial.row().version == 2


async def test_a_tool_that_returns_too_much_is_an_error_that_says_so(tmp_path: Path) -> None:
    code = code_of(answer="'x' * 17_000_000").replace("-> int", "-> str")
    async with units_on_trial(tmp_path, dice=code) as trial:
        with pytest.raises(ToolError, match="tool 'roll' returned 17000013 bytes; at most 16777216 are passed on"):
            await trial.call("space_dice_roll")


async def test_new_code_behind_the_same_form_tells_nobody_and_serves(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        revision = trial.space.catalog.tools.value.revision
        trial.write(code_of(answer="2"))
        await trial.until(lambda: trial.row().version == 2)
        assert (await trial.call("space_dice_roll")).structured == {"result": 2}
        assert trial.space.catalog.tools.value.revision == revision


async def test_an_error_keeps_the_old_version_serving_and_says_so(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        trial.write("def (:")
        await trial.until(lambda: trial.row().state is UnitState.STALE)
        assert "SyntaxError" in (trial.row().problem or "")
        assert trial.row().tools == ("space_dice_roll",)
        assert (await trial.call("space_dice_roll")).structured == {"result": 1}
        log = await trial.space.units.read_log("dice")
        assert any("the version before it serves on" in text for _, text in log.lines)
        trial.write(code_of(answer="3"))
        await trial.until(lambda: trial.row().state is UnitState.LOADED)
        assert trial.row().problem is None
        assert (await trial.call("space_dice_roll")).structured == {"result": 3}


async def test_calls_in_flight_end_with_the_old_code_which_may_import_more_of_itself(tmp_path: Path) -> None:
    extra = "import trio\nGATE = trio.Event()\n"
    slow = code_of(
        answer="await wait()",
        extra=extra + "async def wait():\n    await GATE.wait()\n    from .more import N\n    return N\n",
    )
    async with units_on_trial(tmp_path, dice=slow) as trial:
        trial.write(slow, more_py="N = 1")
        await trial.until(lambda: trial.row().version == 2)
        (old,) = [name for name in trial.space.python_units.modules.loaded() if name.endswith(".unit")]
        gate = sys.modules[old].GATE
        results: list[object] = []

        async def call() -> None:
            results.append((await trial.call("space_dice_roll")).structured)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await trio.sleep(0.05)
            trial.write(code_of(answer="5"), more_py="N = 2")
            await trial.until(lambda: trial.row().version == 3)
            assert (await trial.call("space_dice_roll")).structured == {"result": 5}
            gate.set()
        assert results == [{"result": 1}]
        assert not any(name.startswith(old.removesuffix(".unit")) for name in trial.space.python_units.modules.loaded())


async def test_a_unit_that_goes_takes_along_only_what_it_registered(tmp_path: Path) -> None:
    extra = "facts = context_facts(weather='dry')\nrules = prompt_block('rules', 'Be fair.')\n"
    other = CapabilityEdit(add_adapters=(adapter("a.common"),), add_presets=(preset("common", "a.common"),))
    async with units_on_trial(tmp_path, (other,), dice=code_of(extra=extra), cards=code_of(unit="cards")) as trial:
        space = trial.space
        await space.context.ask(PatchContext({"mine": "kept"}))
        assert space.context.view.value.context.facts()["weather"] == "dry"
        assert space.block_prompts.hooks.plugins == ("dice",)
        shutil.rmtree(trial.root / "dice")
        await trial.until(lambda: "space_dice_roll" not in trial.tools)
        await trial.until(lambda: len(space.units.rows()) == 1)
        facts = space.context.view.value.context.facts()
        assert "weather" not in facts
        assert facts["mine"] == "kept"
        assert trial.tools == ("space_a_common", "space_cards_roll")
        assert space.block_prompts.hooks.plugins == ()
        assert not any("dice" in name for name in space.python_units.modules.loaded())


async def test_facts_of_a_unit_outlast_a_whole_new_context_and_a_reload(tmp_path: Path) -> None:
    extra = "facts = context_facts(weather='dry', wind=1)\n"
    async with units_on_trial(tmp_path, dice=code_of(extra=extra)) as trial:
        context = trial.space.context
        await context.ask(PatchContext({"weather": "wet", "mine": 1}))
        await context.ask(SetContext({"surface": "scene", "canvas_visible": False}))
        assert context.view.value.context.facts()["weather"] == "wet"
        assert "mine" not in context.view.value.context.facts()
        trial.write(code_of(extra=extra.replace("wind=1", "wind=2"), answer="2"))
        await trial.until(lambda: trial.row().version == 2)
        facts = context.view.value.context.facts()
        assert (facts["weather"], facts["wind"]) == ("wet", 2)


async def test_presets_of_units_follow_the_context_and_the_user(tmp_path: Path) -> None:
    code = code_of().replace("tools=[roll]", "tools=[roll], contexts=[{'weather': 'wet'}]")
    async with units_on_trial(tmp_path, dice=code) as trial:
        assert trial.tools == ()
        await trial.space.context.ask(PatchContext({"weather": "wet"}))
        assert trial.tools == ("space_dice_roll",)
        await trial.space.context.ask(SetOverride("dice", "off"))
        assert trial.tools == ()
        trial.write(code.replace("return 1", "return 2"))
        await trial.until(lambda: trial.row().version == 2)
        assert trial.tools == ()
        assert trial.space.context.view.value.overrides.state_of("dice") == "off"


async def test_names_of_others_are_refused_offered_or_not(tmp_path: Path) -> None:
    hidden = CapabilityEdit(
        add_adapters=(adapter("b.hidden", "space_dice_roll"),),
        add_presets=(preset("hidden", "b.hidden", contexts=({"activity": "never"},)),),
    )
    extra = "facts = context_facts(weather='dry')\n"
    async with units_on_trial(tmp_path, (hidden,), dice=code_of(), rain=code_of(unit="rain", extra=extra)) as trial:
        assert "somebody else has one of that name" in (trial.row().problem or "")
        trial.write(code_of(unit="snow", extra=extra), "snow")
        await trial.tried("dice", "rain", "snow")
        assert "fact 'weather'" in (trial.row("snow").problem or "")
        assert trial.tools == ("space_rain_roll",)
        assert not any("snow" in name or "dice" in name for name in trial.space.python_units.modules.loaded())


async def test_a_list_that_cannot_be_shown_keeps_the_old_version(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        other = CapabilityEdit(add_adapters=(adapter("b.one"),), add_presets=(preset("dice-more", "b.one"),))
        await trial.space.context.ask(EditCapabilities(other))
        more = (
            code_of("throw")
            + "@tool\nasync def more() -> int:\n    'More.'\n    return 1\nq = preset('dice-more', tools=[more])\n"
        )
        trial.write(more)
        await trial.until(lambda: trial.row().state is UnitState.STALE)
        assert "'dice-more' is already registered" in (trial.row().problem or "")
        assert trial.tools == ("space_b_one", "space_dice_roll")


# Changing


async def test_file_tools_write_into_no_folder_of_units(tmp_path: Path) -> None:
    root = tmp_path / "workspace" / "mine"
    root.mkdir(parents=True)
    Trial(space_of(tmp_path), root).write(code_of(), "dice")
    async with units_on_trial(tmp_path, roots=(root,)) as trial:
        files = trial.space.app.files
        assert files.read_text("mine/dice/unit.py").text == code_of()
        for path in ("mine/dice/unit.py", "mine/new/unit.py", "MINE/dice/unit.py"):
            with pytest.raises(ForbiddenError, match="folder of units"):
                files.write_text(path, "evil = 1\n", create_folders=True)
        files.write_text("beside.txt", "fine")
        assert (root / "dice" / "unit.py").read_text() == code_of()


async def test_an_exact_change_is_made_loaded_and_taken_back_by_its_snapshot(tmp_path: Path) -> None:  # 307
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        units = trial.space.units
        changed = await units.change("dice", UnitChange(reason="x", path="unit.py", old="return 1", new="return 2"))
        assert changed.reloaded
        assert (await trial.call("space_dice_roll")).structured == {"result": 2}
        assert changed.snapshot is not None
        await units.restore("dice", changed.snapshot)
        assert (await trial.call("space_dice_roll")).structured == {"result": 1}
        assert (trial.root / "dice" / "unit.py").read_text() == code_of()
        await trio.sleep(0.5)
        assert trial.row().version == 3, "the watcher loads again what a tool has loaded"


async def test_a_patch_over_several_files_is_one_change(tmp_path: Path) -> None:  # 229 to 231, 308
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        lines = code_of().splitlines()
        at = lines.index("    return 1") + 1
        patch = (
            f"--- a/unit.py\n+++ b/unit.py\n@@ -{at} +{at},2 @@\n"
            "-    return 1\n+    from .more import N\n+    return N\n"
            "--- /dev/null\n+++ b/more.py\n@@ -0,0 +1 @@\n+N = 7\n"
        )
        changed = await trial.space.units.change("dice", UnitChange(reason="patch", patch=patch))
        assert sorted(file.path for file in changed.files) == ["more.py", "unit.py"]
        assert (await trial.call("space_dice_roll")).structured == {"result": 7}
        assert (trial.root / "dice" / "more.py").read_text() == "N = 7\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (UnitChange(reason="x", path="unit.py", old="return 1", new="return ("), "source restored"),  # 310
        (UnitChange(reason="x", path="unit.py", old="'dice'", new="'other'"), "source restored"),
        (UnitChange(reason="x", path="unit.py", old="nowhere", new=""), "old text was not found"),
        (UnitChange(reason="x", path="unit.py", old="a", new="", patch="x"), "not both"),  # 311
        (UnitChange(reason="x", path="unit.py"), "requires either"),  # 312
        (UnitChange(reason="x", path="unit.py", old="return 1", new="2", expected_hash="sha256:0"), "hash"),  # 227, 228
        (UnitChange(reason="x", files={"unit.py": ""}, must_be_new=True), "already exists"),
        (UnitChange(reason="x", files={"none.py": ""}, must_exist=True), "was not found"),
        (UnitChange(reason="x", files={"../x.py": ""}), r"\.\."),
        (UnitChange(reason="x", patch="--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n"), r"\.\."),
        (UnitChange(reason="x", patch="--- /dev/null\n+++ /etc/x\n@@ -0,0 +1 @@\n+b\n"), "not relative"),
        (UnitChange(reason="x", patch="--- a/unit.toml\n+++ /dev/null\n"), "cannot be deleted"),
        (UnitChange(reason="x", files={"unit.toml": "kind = 'none'"}), "there is no kind 'none'"),
    ],
)
async def test_a_change_that_is_refused_changes_no_file_and_nothing_that_runs(
    tmp_path: Path, change: UnitChange, said: str
) -> None:
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        folder = trial.root / "dice"
        before = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        with pytest.raises(EngineError, match=said):
            await trial.space.units.change("dice", change)
        assert {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        assert (trial.row().state, trial.row().version, trial.row().problem) == (UnitState.LOADED, 1, None)
        assert (await trial.call("space_dice_roll")).structured == {"result": 1}
        await trio.sleep(0.3)
        assert trial.row().version == 1


async def test_a_change_that_is_cancelled_leaves_the_files_as_they_were(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        sleeps = code_of(answer="2", extra="import time\ntime.sleep(0.5)\n")
        with trio.move_on_after(0.2) as scope:
            await trial.space.units.change("dice", UnitChange(reason="x", files={"unit.py": sleeps}))
        assert scope.cancelled_caught
        assert (trial.root / "dice" / "unit.py").read_text() == code_of()
        await trio.sleep(1.0)
        assert (await trial.call("space_dice_roll")).structured == {"result": 1}
        assert len([name for name in trial.space.python_units.modules.loaded() if name.endswith(".unit")]) == 1


async def test_whoever_is_cancelled_while_a_change_is_reckoned_waits_for_nothing_and_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()

    def reckon(folder: UnitFolder, change: UnitChange) -> dict[str, bytes | None]:
        if change.reason == "long":
            ended.wait(10)
        return planned_changes(folder, change)

    monkeypatch.setattr("actors.unit_workshop.planned_changes", reckon)
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        began = trio.current_time()
        with trio.move_on_after(0.2):
            await trial.space.units.change("dice", UnitChange(reason="long", path="unit.py", old="1", new="3"))
        await trial.space.units.change("dice", UnitChange(reason="x", path="unit.py", old="return 1", new="return 2"))
        assert trio.current_time() - began < 5
        ended.set()
        assert (await trial.call("space_dice_roll")).structured == {"result": 2}
        assert (trial.root / "dice" / "unit.py").read_text() == code_of(answer="2")


async def test_changes_of_one_unit_come_one_after_the_other(tmp_path: Path) -> None:
    async with units_on_trial(
        tmp_path, dice=code_of(answer="[]", extra="ALL = []\n").replace("-> int", "-> list[int]")
    ) as trial:

        async def add(number: int) -> None:
            change = UnitChange(reason="x", path="unit.py", old="return [", new=f"return [{number}, ")
            await trial.space.units.change("dice", change)

        async with trio.open_nursery() as nursery:
            for number in range(10):
                nursery.start_soon(add, number)
        outcome = await trial.call("space_dice_roll")
        assert outcome.structured is not None
        assert sorted(outcome.structured["result"]) == list(range(10))
        assert trial.space.units._turns.idle


async def test_only_tests_changed_means_nothing_is_loaded_again(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        change = UnitChange(reason="x", files={"tests/test_unit.py": "def test_it(): pass\n"})
        assert not (await trial.space.units.change("dice", change)).reloaded
        assert trial.row().version == 1


async def test_a_unit_is_created_whole_or_not_at_all(tmp_path: Path) -> None:  # 297 to 301, 304
    async with units_on_trial(tmp_path) as trial:
        units = trial.space.units
        made = await units.create("star-map")
        assert made.row.tools == ("space_star_map_greet",)
        with pytest.raises(ConflictError, match="already exists"):
            await units.create("star-map")
        for broken in ("def (:", "raise RuntimeError('side effects')"):
            with pytest.raises(UnitLoadError):
                await units.create("bad", {"unit.toml": "", "unit.py": broken})
            assert not (trial.root / "bad").exists()
            assert [row.name for row in units.rows()] == ["star-map"]
        with pytest.raises(EngineError, match="no name of a unit"):
            await units.create("../evil")


async def test_asking_for_a_unit_that_is_none_names_those_that_are(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        with pytest.raises(NotFoundError, match=r"unit 'dise' was not found. Did you mean 'dice'"):
            await trial.space.units.reload("dise")


async def test_a_unit_is_looked_at_from_near(tmp_path: Path) -> None:  # 204 to 206, 223, 245, 247
    extra = "async def keep(call: Call): await call.state.set('k', [1])\n"
    code = code_of(answer="(await keep(call)) or 1", extra=extra).replace("roll()", "roll(call: Call)")
    async with units_on_trial(tmp_path, dice=code) as trial:
        await trial.call("space_dice_roll")
        units = trial.space.units
        look = await units.look("dice")
        assert ([file.path for file in look.files], look.state_keys) == (["unit.py", "unit.toml"], ("k",))
        read = await units.read_source("dice", "unit.py")
        assert read.text == code
        assert read.hash == look.files[0].hash
        taken = await units.snapshot("dice")
        assert dict(taken.state) == {"k": [1]}
        assert sorted(taken.snapshot.files) == ["unit.py", "unit.toml"]
        trial.write("def (:")
        await trial.until(lambda: trial.row().state is UnitState.STALE)
        assert (await units.snapshot("dice")).snapshot.id != taken.snapshot.id  # 252: a broken unit can be kept as well


async def test_a_description_finds_the_unit_that_it_means(tmp_path: Path) -> None:  # 207, 209, 219 to 221
    async with units_on_trial(tmp_path, util=code_of("overlay", unit="util")) as trial:
        trial.write(code_of("show", unit="bubble-overlay"), "bubble-overlay")
        await trial.tried("bubble-overlay")
        found = trial.space.units.resolve("the bubble overlay unit", 20)
        assert [one.unit for one in found] == ["bubble-overlay", "util"]
        assert found[0].confidence > found[1].confidence
        assert trial.space.units.resolve("bubble", 0) == ()
        for description, limit in (("bubble", -1), ("…", 5)):
            with pytest.raises(EngineError, match=r"limit|word"):
                trial.space.units.resolve(description, limit)


# Tests in a process of their own


async def test_tests_run_in_a_process_of_their_own_and_are_told_one_by_one(tmp_path: Path) -> None:  # 258, 259
    tests = (
        "import os\nfrom ..unit import roll\nasync def test_roll():\n    assert await roll() == 1\n"
        "def test_bad():\n    print('x' * 50_000)\n    assert os.environ.get('SPACE_TOKEN'), 'no secret'\n"
    )
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        trial.write(code_of(), **{"tests/test_unit.py": tests})
        ran = await trial.space.units.run_tests("dice")
        assert (ran.report.ending, ran.report.passed, ran.report.passed_count) == (TestEnding.DONE, False, 1)
        (failed,) = ran.report.failed
        assert (failed.where, failed.message) == ("tests/test_unit.py:7", "AssertionError: no secret")
        assert ran.output_is_cut
        assert len(ran.output) < 15_000
        log = (trial.root.parent / "unit-logs" / "dice.log").read_text()
        assert "x" * 50_000 in log
        assert (await trial.space.units.run_tests("dice", "tests/test_unit.py::test_roll")).report.passed


@pytest.mark.parametrize(
    ("body", "ending"),
    [
        ("while True: pass", TestEnding.TIMED_OUT),
        ("import time; time.sleep(60)", TestEnding.TIMED_OUT),
        ("import os; os._exit(0)", TestEnding.CRASHED),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", TestEnding.CRASHED),
        ("import subprocess; subprocess.Popen(['sleep', '60']); import time; time.sleep(60)", TestEnding.TIMED_OUT),
    ],
)
async def test_a_test_that_does_not_end_well_costs_a_process_and_says_which_it_was(
    tmp_path: Path, body: str, ending: TestEnding
) -> None:
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        trial.write(code_of(), **{"tests/test_unit.py": f"def test_good(): pass\ndef test_it():\n    {body}\n"})
        ran = await trial.space.units.run_tests("dice", seconds=2.0)
        assert (ran.report.ending, ran.report.running) == (ending, "tests/test_unit.py::test_it")
        assert ran.report.passed_count == 1
        assert (await trial.call("space_dice_roll")).structured == {"result": 1}


async def test_a_test_that_eats_memory_ends_itself(tmp_path: Path) -> None:
    async with units_on_trial(tmp_path, dice=code_of()) as trial:
        trial.write(code_of(), **{"tests/test_unit.py": "def test_it():\n    bytearray(8 * 1024**3)\n"})
        ran = await trial.space.units.run_tests("dice")
        assert ran.report.failed[0].message == "MemoryError"


# Prompts


async def test_a_block_and_a_fragment_of_a_unit_stand_in_the_prompt_while_it_is_loaded(tmp_path: Path) -> None:
    code = code_of(extra="rules = prompt_block('rules', 'Be fair.')\n").replace(
        "tools=[roll]", "tools=[roll], prompt='Roll well.'"
    )
    async with units_on_trial(tmp_path, (built_in_capabilities(),), dice=code) as trial:
        compiled = await trial.space.block_prompts.compile_space_agent("standard")
        text = "\n".join(message.content for message in compiled.messages)
        assert "Be fair." in text
        assert "Roll well." in text
        shutil.rmtree(trial.root / "dice")
        await trial.until(lambda: not trial.space.units.rows())
        compiled = await trial.space.block_prompts.compile_space_agent("standard")
        assert "Be fair." not in "\n".join(message.content for message in compiled.messages)


# Leaks


@pytest.mark.parametrize(
    "reloads", [pytest.param(100, id="hundred"), pytest.param(1000, id="thousand", marks=pytest.mark.nightly)]
)
async def test_many_reloads_leave_nothing_behind(tmp_path: Path, reloads: int) -> None:
    async with units_on_trial(tmp_path, seconds=600) as trial:
        space = trial.space
        trial.write(code_of(), more_py="N = 1")
        await trial.until(lambda: trial.tools == ("space_dice_roll",))
        source = trial.root / "dice" / "unit.py"

        def counts() -> tuple[int, ...]:
            gc.collect()
            modules = sum(
                1 for each in gc.get_objects() if isinstance(each, ModuleType) and "space_units_" in each.__name__
            )
            tasks = trio.lowlevel.current_statistics().tasks_living
            return (
                modules,
                len(space.python_units.modules.loaded()),
                tasks,
                threading.active_count(),
                len(space.resolution.state.adapters),
                len(space.resolution.state.presets),
                len(space.resolution.state.made),
                space.units._turns.idle,
                len(sys.meta_path),
            )

        for number in range(20):
            source.write_text(code_of(answer=str(number)))
            await space.units.reload("dice")
        # The watcher looks at what was written as well, in its own time.
        await trial.until(lambda: space.units._turns.idle)
        # Whoever follows what has changed waits in a task for each thing, and in none while it works.
        await wait_all_tasks_blocked(REST_SECONDS)
        before, objects = counts(), len(gc.get_objects())
        for number in range(reloads):
            source.write_text(code_of("roll" if number % 2 else "throw", str(number)))
            await space.units.reload("dice")
        assert (await trial.call("space_dice_roll")).structured == {"result": reloads - 1}
        await trial.until(lambda: space.units._turns.idle)
        await wait_all_tasks_blocked(REST_SECONDS)
        await trial.until(lambda: trio.lowlevel.current_statistics().tasks_living <= before[2] + 1)
        after = counts()
        assert after[:2] == before[:2]
        assert after[4:] == before[4:]
        assert after[3] - before[3] <= 4  # threads that trio keeps for later
        assert len(gc.get_objects()) - objects < 20_000
        assert trial.row().version >= reloads + 21
