"""The engine that ends in a hurry leaves no shell behind, not even one that was started a moment ago."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from actors.process_groups import ProcessGroups

SECONDS = 10


_ENGINE = """
import subprocess
from actors.process_groups import ProcessGroups
unknown = subprocess.Popen(["sleep", "60"], start_new_session=True)
ordinary = subprocess.Popen(["sleep", "60"])
ProcessGroups().kill()
print(unknown.wait(10), ordinary.poll())
ordinary.kill()
ordinary.wait(10)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the children of a process")
def test_a_child_that_leads_a_group_is_killed_before_anybody_has_noted_it() -> None:
    done = subprocess.run([sys.executable, "-c", _ENGINE], capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout.split() == [str(-signal.SIGKILL), "None"], done.stderr


def test_a_group_is_killed_while_it_is_held_and_forgotten_afterwards() -> None:
    groups = ProcessGroups()
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    with groups.holding(process.pid):
        groups.kill()
    assert process.wait(SECONDS) == -signal.SIGKILL
    groups.kill()


_KILLED = """
import os, subprocess, time
from actors.process_groups import ProcessGroups
groups = ProcessGroups()
script = "SLEEP & echo $!; sleep 60; true"
shell = subprocess.Popen(["bash", "-c", script], start_new_session=True, stdout=subprocess.PIPE, text=True)
ended = subprocess.Popen(["true"], start_new_session=True)
with groups.holding(ended.pid), groups.holding(shell.pid):
    ended.wait()
    print(shell.pid, shell.stdout.readline(), end="", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("sleep", ["sleep 60", "setsid sleep 60"])
def test_a_group_does_not_outlive_an_engine_that_is_killed(sleep: str) -> None:
    script = _KILLED.replace("SLEEP", sleep)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdout is not None
        shell, child = map(int, engine.stdout.readline().split())
        assert runs(shell)
        assert runs(child)
        engine.kill()
    bound = time.monotonic() + SECONDS
    while runs(shell) or runs(child):
        assert time.monotonic() < bound, "the shell command lives on"
        time.sleep(0.01)


def test_nothing_runs_beside_an_engine_that_runs_nothing() -> None:
    groups, before = ProcessGroups(), children()
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    with groups.holding(process.pid):
        (heir,) = set(children()) - {process.pid, *before}
        process.kill()
        process.wait(SECONDS)
    assert heir not in children()


def children() -> list[int]:
    """The children of this process."""
    return [int(child) for listed in Path("/proc/self/task").glob("*/children") for child in listed.read_text().split()]


def runs(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
