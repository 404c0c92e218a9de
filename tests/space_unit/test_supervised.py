"""Of a process that runs tests nothing is left, however it ends and wherever its own processes have gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what it takes"),
]

SECONDS = 20.0

_WORK = """
import os, signal, subprocess, sys, time
from space_unit.supervised import supervised

def work():
    # One in a session of its own, and one whose parent has ended, as a daemon is.
    first = subprocess.Popen(["sleep", "60"], start_new_session=True).pid
    second = subprocess.run(
        ["sh", "-c", "setsid sleep 60 >/dev/null 2>&1 & echo $!"], capture_output=True, check=True, text=True
    ).stdout
    print(first, second, os.getpid(), flush=True)
    ENDING

sys.exit(supervised(work))
"""


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("return 0", 0),
        ("return 1", 1),
        ("sys.exit(3)", 3),
        ("1 / 0", 1),
        ("os._exit(4)", 4),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("os.kill(os.getppid(), signal.SIGTERM); time.sleep(60)", -signal.SIGTERM),
        (
            "signal.signal(signal.SIGTERM, signal.SIG_IGN); os.killpg(0, signal.SIGTERM); time.sleep(60)",
            -signal.SIGTERM,
        ),
    ],
)
def test_nothing_of_the_work_runs_on_and_its_end_is_told(ending: str, code: int) -> None:
    command = [sys.executable, "-c", _WORK.replace("ENDING", ending)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        pids = list(map(int, process.stdout.readline().split() + process.stdout.readline().split()))
        assert len(pids) == 3
        assert process.wait(SECONDS) == code
    until = time.monotonic() + SECONDS
    while left := [pid for pid in pids if runs(pid)]:
        assert time.monotonic() < until, left
        time.sleep(0.01)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_the_tests_of_a_unit_are_such_work(tmp_path: Path) -> None:
    unit = tmp_path / "dice"
    (unit / "tests").mkdir(parents=True)
    (unit / "unit.toml").write_text("")
    (unit / "unit.py").write_text("")
    (unit / "tests" / "test_it.py").write_text(
        "import subprocess\n\n\ndef test_it() -> None:\n"
        "    print(subprocess.Popen(['sleep', '60'], start_new_session=True).pid)\n"
    )
    command = [sys.executable, "-m", "space_unit.runner", str(unit), str(tmp_path / "report")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    pid = int(done.stdout.split()[0])
    assert not runs(pid)
    assert not os.path.exists(f"/proc/{pid}")
