"""The process groups that run for this engine. Owns who is in it, so that an end in a hurry leaves none behind.

Nobody in a process that is killed can do anything any more. So while any group runs a small shell runs beside it, which
is told of each over a pipe, and kills those that are left when the pipe ends, with what runs below their leaders.
`PR_SET_PDEATHSIG` would not do: it goes with the thread that started the child, which here is one that comes and goes,
and it spares what the child has started.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress

from actors.process_tree import below, children

_SHELL = "/bin/sh"
_HEIR = """\
groups=
while read -r sign group; do
    case $sign in
    +) groups="$groups $group" ;;
    *)
        left=
        for each in $groups; do [ "$each" = "$group" ] || left="$left $each"; done
        groups=$left
        ;;
    esac
done
below() {
    for list in /proc/"$1"/task/*/children; do
        children=
        read -r children <"$list"
        for child in $children; do
            found="$found $child"
            below "$child"
        done
    done
}
found=
for each in $groups; do below "$each"; done 2>/dev/null
for each in $groups; do kill -s KILL -- "-$each"; done
for each in $found; do kill -s KILL "$each"; done
"""
"""What the shell beside us does: `+ ID` is a group that began, `- ID` one that ended."""

_LAST_SECONDS = 1.0
"""How long that shell may take to end once its pipe has. It takes a millisecond."""


class ProcessGroups:
    """Groups by the id of their leader. `kill` may be called from any thread, everything else from one."""

    def __init__(self) -> None:
        self._leaders: set[int] = set()
        self._heir: subprocess.Popen[bytes] | None = None

    @contextmanager
    def holding(self, leader: int) -> Generator[None]:
        """Know of that group during the block, whose end must leave nothing of it."""
        self._leaders.add(leader)
        self._tell("+", leader)
        try:
            yield
        finally:
            self._leaders.discard(leader)
            self._tell("-", leader)

    def kill(self) -> None:
        """Kill every group, at once and without asking. For when the engine itself ends without waiting."""
        # A shell that was started a moment ago is known to the system, and not yet here.
        leaders = {*self._leaders, *_children_that_lead()}
        # Some may be in sessions of their own.
        others = [process for leader in leaders for process in below(leader)]
        for leader in leaders:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, signal.SIGKILL)
        for process in others:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)

    def _tell(self, sign: str, leader: int) -> None:
        """Let the shell beside us know, which is there as long as any group is."""
        lines = f"{sign} {leader}\n"
        if self._heir is None and self._leaders:
            self._heir = _started()
            lines = "".join(f"+ {each}\n" for each in self._leaders)
        heir = self._heir
        if heir is None or heir.stdin is None:
            return
        try:
            heir.stdin.write(lines.encode())
        except OSError:
            # Somebody has ended it. The next group gets another one, which is told of all.
            self._heir = None
        if not self._leaders:
            self._heir = None
        if self._heir is None:
            _end(heir)


def _started() -> subprocess.Popen[bytes] | None:
    """A shell in a session of its own, so that what is typed at our terminal does not reach it. None without one."""
    try:
        return subprocess.Popen(  # noqa: S603 - our own words
            [_SHELL, "-c", _HEIR],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            bufsize=0,
            start_new_session=True,
        )
    except OSError:
        return None


def _end(heir: subprocess.Popen[bytes]) -> None:
    if heir.stdin is not None:
        with suppress(OSError):
            heir.stdin.close()
    try:
        heir.wait(_LAST_SECONDS)
    except subprocess.TimeoutExpired:
        heir.kill()
        heir.wait()


def _children_that_lead() -> Iterator[int]:
    """The children of this process that lead a group of their own, as every shell command does."""
    for child in children(os.getpid()):
        with suppress(ProcessLookupError):
            if os.getpgid(child) == child:
                yield child
