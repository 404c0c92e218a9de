"""The lock of a unit's folder: one at a time, among processes, and gone with its holder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.units.folder_lock import FolderLock

SECONDS = 30


def test_one_at_a_time_has_a_folder_and_nothing_lies_in_it_for_that(tmp_path: Path) -> None:
    one, other = FolderLock(tmp_path), FolderLock(tmp_path)
    assert (one.take(), other.take()) == (True, False)
    one.release()
    assert other.take()
    other.release()
    other.release()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_holds_nobody_up(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path / "gone")
    assert lock.take()
    lock.release()


@pytest.mark.slow
def test_of_changes_by_several_processes_none_is_lost(tmp_path: Path) -> None:
    (tmp_path / "counter").write_text("0")
    command = [sys.executable, "-m", "tests.engine.units.folder_changer", str(tmp_path), "50"]
    changers = [subprocess.Popen(command) for _ in range(3)]
    assert [changer.wait(SECONDS) for changer in changers] == [0, 0, 0]
    assert (tmp_path / "counter").read_text() == "150"


_HOLDER = """
import sys
from pathlib import Path
from engine.units.folder_lock import FolderLock
print(FolderLock(Path(sys.argv[1])).take(), flush=True)
input()
"""


@pytest.mark.slow
def test_a_process_that_is_killed_holds_no_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert not FolderLock(tmp_path).take()
        holder.kill()
    lock = FolderLock(tmp_path)
    assert lock.take()
    lock.release()
