"""The engine that ends in a hurry leaves no shell behind, not even one that was started a moment ago."""

from __future__ import annotations

import signal
import subprocess
import sys

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
