"""What is kept of units: snapshots, logs, reports of tests, and values in a world."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.codec import UndecodableError
from engine.domains import RULES, world_codec
from engine.engine import Engine
from engine.errors import ConflictError, InvalidArgumentError, NotFoundError
from engine.stored import fresh_state
from engine.units.log import UnitLogs, choose_lines
from engine.units.report import MAX_FAILURES, TestEnding, read_report
from engine.units.snapshots import UnitSnapshots
from engine.units.state import ReadUnitValues, SetUnitValues, UnitValue, canonical_json

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


# Snapshots


def test_a_snapshot_gives_back_every_byte(tmp_path: Path) -> None:
    kept = UnitSnapshots(tmp_path)
    files = {"unit.py": "grüße\n".encode(), "picture.png": b"\x89\xff\0"}
    taken = kept.take("dice", files, "edit", NOW)
    read = kept.read("dice", taken.id)
    assert (read.files, read.reason, read.taken_at) == (files, "edit", NOW.isoformat())


def test_the_same_files_make_one_snapshot_and_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.units.snapshots.KEPT_SNAPSHOTS", 3)
    kept = UnitSnapshots(tmp_path)
    for number in range(5):
        first = kept.take("dice", {"a": b"%d" % number}, "x", NOW)
        assert kept.take("dice", {"a": b"%d" % number}, "y", NOW).id == first.id
    assert kept.ids("dice") == ("snapshot-3", "snapshot-4", "snapshot-5")


@pytest.mark.parametrize("wanted", ["snapshot-2", "../x", "snapshot-1.json", "", "snapshot-01"])
def test_a_snapshot_that_is_none_is_refused(tmp_path: Path, wanted: str) -> None:
    kept = UnitSnapshots(tmp_path)
    kept.take("dice", {}, "x", NOW)
    with pytest.raises(NotFoundError, match="there are: snapshot-1"):
        kept.read("dice", wanted)


def test_a_broken_snapshot_harms_no_other(tmp_path: Path) -> None:
    kept = UnitSnapshots(tmp_path)
    kept.take("dice", {"a": b"1"}, "x", NOW)
    (tmp_path / "dice" / "snapshot-1.json").write_text("{")
    assert kept.take("dice", {"a": b"2"}, "x", NOW).id == "snapshot-2"
    assert kept.read("dice", "snapshot-2").files == {"a": b"2"}


# Logs


def test_a_log_has_every_line_under_its_time(tmp_path: Path) -> None:
    logs = UnitLogs(tmp_path / "logs")
    assert logs.lines("dice") == ()
    logs.write("dice", "first\nsecond")
    logs.write("dice", "third")
    lines = logs.lines("dice")
    assert [line.split(" ", 1)[1].strip() for line in lines] == ["first", "second", "third"]


def test_a_log_stays_bounded_and_a_disk_that_refuses_harms_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.units.log.MAX_LOG_BYTES", 1000)
    logs = UnitLogs(tmp_path)
    for _ in range(100):
        logs.write("dice", "x" * 100)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 3000
    (tmp_path / "file").write_text("")
    UnitLogs(tmp_path / "file").write("dice", "x")
    logs.write("../dice", "x")
    assert not (tmp_path.parent / "dice.log").exists()


def test_lines_are_chosen_with_their_true_numbers() -> None:  # 253, 256
    lines = ["alpha", "beta", "gamma", "delta", "end"]
    assert choose_lines(lines, grep="ta").lines == ((2, "beta"), (4, "delta"))
    assert choose_lines(lines, grep="ta").total == 5
    assert choose_lines(lines, last=2).lines == ((4, "delta"), (5, "end"))
    assert choose_lines(lines, offset=2, limit=1).lines == ((2, "beta"),)
    many = [str(number) for number in range(1, 301)]
    assert choose_lines(many).lines[0] == (201, "201")  # the last hundred, not the first
    for last, offset, limit in ((0, None, None), (None, 0, None), (None, None, 2000), (1, 1, None)):
        with pytest.raises(InvalidArgumentError):
            choose_lines(lines, last=last, offset=offset, limit=limit)


def test_a_page_of_long_lines_fits_one_result() -> None:
    page = choose_lines(["x" * 100_000] * 100)
    assert sum(len(text) for _, text in page.lines) < 45_000
    assert page.lines[-1][0] == 100


# Reports


def test_a_report_that_was_cut_off_says_what_ran() -> None:
    lines = ['{"event":"found","tests":3}', '{"event":"started","test":"a"}', '{"event":"passed","test":"a"}']
    lines += ['{"event":"started","test":"b"}', '{"event":"fai', "noise", "[]"]
    report = read_report(lines, timed_out=True, seconds=1.0)
    assert (report.ending, report.passed_count, report.running, report.passed) == (TestEnding.TIMED_OUT, 1, "b", False)
    assert read_report(lines, timed_out=False, seconds=1.0).ending is TestEnding.CRASHED


def test_a_report_shows_some_failures_and_counts_them_all() -> None:
    failed = {"event": "failed", "test": "t", "where": "w", "message": "m", "traceback": "x" * 10_000}
    report = read_report([json.dumps(failed)] * 50 + ['{"event":"ended"}'], timed_out=False, seconds=1.0)
    assert (len(report.failed), report.failed_count) == (MAX_FAILURES, 50)
    assert "left out; the log has them" in report.failed[0].traceback
    assert len(report.failed[0].traceback) < 3_200


def test_a_run_without_a_test_is_not_passed() -> None:
    assert not read_report(['{"event":"ended"}'], timed_out=False, seconds=0.0).passed


# State


@pytest.fixture
def engine() -> Engine:
    return Engine(fresh_state(NOW), clock=lambda: NOW)


def values(engine: Engine, unit: str = "dice") -> dict[str, object]:
    found = engine.execute(ReadUnitValues(unit=unit)).result
    return {key: json.loads(value) for key, value in found.items()}


def change(engine: Engine, unit: str = "dice", **changes: object) -> None:
    engine.execute(SetUnitValues(unit=unit, values={key: canonical_json(value) for key, value in changes.items()}))


def test_a_change_of_several_values_is_one_step_that_undo_takes_back(engine: Engine) -> None:
    change(engine, a=1, b=[1, {"x": None}])
    change(engine, a=2)
    change(engine, "other", a="theirs")
    engine.execute(SetUnitValues(unit="dice", values={"b": None}))
    assert values(engine) == {"a": 2}
    engine.undo()
    assert values(engine) == {"a": 2, "b": [1, {"x": None}]}
    engine.undo()
    engine.undo()
    assert values(engine) == {"a": 1, "b": [1, {"x": None}]}
    assert values(engine, "other") == {}


def test_a_value_goes_through_the_codec_and_keeps_the_rules(engine: Engine) -> None:
    change(engine, a={"ä": [1.5, True]})
    record = engine.active_world.read().find("unit.value", "dice/a")
    assert record is not None
    codec = world_codec()
    assert codec.decode("unit.value", "dice/a", codec.encode(record)) == record
    with pytest.raises(UndecodableError):
        codec.decode("unit.value", "dice/a", '{"id": "dice/a"}')
    (rules,) = [each for each in RULES if "unit.value" in each.collections]
    rules.check(record)
    assert isinstance(record, UnitValue)
    for wrong in ("{", "{ }", "[" * 40 + "]" * 40, '"' + "x" * 70_000 + '"', "NaN"):
        with pytest.raises(InvalidArgumentError):
            rules.check(replace(record, value=wrong))
    with pytest.raises(InvalidArgumentError):
        rules.check(replace(record, unit="other"))


@pytest.mark.parametrize("key", ["", "x" * 101, "a\nb"])
def test_a_key_that_is_none_changes_nothing(engine: Engine, key: str) -> None:
    with pytest.raises(InvalidArgumentError, match="a key is one line"):
        engine.execute(SetUnitValues(unit="dice", values={"good": "1", key: "1"}))
    assert values(engine) == {}


def test_a_unit_keeps_no_more_than_the_limit(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.units.state.MAX_VALUES", 3)
    change(engine, a=1, b=2, c=3)
    change(engine, a=4)
    with pytest.raises(ConflictError, match="at most 3"):
        change(engine, d=5)
    assert values(engine) == {"a": 4, "b": 2, "c": 3}


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object(), "\ud800"])
def test_what_is_no_json_is_not_kept(engine: Engine, value: object) -> None:
    with pytest.raises(InvalidArgumentError):
        change(engine, a=value)
