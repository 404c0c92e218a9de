"""Builds the walls of a runner around itself, says on stdout which of them stand, and becomes deno.

Run as `python -I -S launcher.py PARENT_PID DATA_BYTES READABLE DENO ARGUMENT…`, where READABLE has one path on a line;
imports nothing of Space and little of the library, since its start is part of a run without a spare. What a system does
not have or refuses is left out and not named. Every wall holds for all that deno does afterwards, for good.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys

MOST_DESCRIPTORS = 24
"""Open files. deno itself has about a dozen; a program can open none."""

MOST_CPU_SECONDS = 120
"""Processor time of the whole life, many runs perhaps. The engine ends a run long before; this is for when it is gone,
where the system does not end us with it."""

# prctl(2)
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 1, 38, 22
SIGKILL = 9
SECCOMP_MODE_FILTER = 2

# landlock(7): the same numbers on every architecture
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
VERSION_FLAG = 1
RULE_PATH_BENEATH = 1
EXECUTE, READ_FILE, READ_DIR = 1 << 0, 1 << 2, 1 << 3
FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All rights over files that each version of Landlock can refuse."""
TCP_RIGHTS = 0b11
"""bind and connect, from version 4."""
SCOPES = 0b11
"""Abstract sockets and signals to processes outside, from version 6."""

# seccomp(2): what deno needs neither to start nor to run. A thread is a clone with CLONE_THREAD, a child one without.
CLONE_THREAD = 0x10000
EPERM, ENOSYS = 1, 38
RET_ALLOW, RET_ERRNO = 0x7FFF0000, 0x00050000
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CLONE = {"x86_64": 56, "aarch64": 220}
TGKILL = {"x86_64": 234, "aarch64": 131}
CLONE3 = 435
"""Hides its flags from a filter. libc takes clone where this is not implemented."""
X32_BIT = 0x40000000
NEVER = {
    # socket, ptrace, fork, vfork, kill, mount, tkill, add_key, request_key, keyctl, unshare, perf_event_open, setns,
    # process_vm_readv, process_vm_writev, bpf, execveat, userfaultfd, pidfd_send_signal, io_uring_setup, pidfd_getfd
    "x86_64": (41, 101, 57, 58, 62, 165, 200, 248, 249, 250, 272, 298, 308, 310, 311, 321, 322, 323, 424, 425, 438),
    "aarch64": (198, 117, 129, 40, 130, 217, 218, 219, 97, 241, 268, 270, 271, 280, 281, 282, 424, 425, 438),
}


def main() -> None:
    """Never returns: ends as deno, or with a line that says why not."""
    parent, data_bytes, readable = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split("\n")
    command = sys.argv[4:]
    walls = limit_resources(data_bytes)
    os.closerange(3, 256)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0:
            walls.append("dies with the engine")
        if os.getppid() != parent:
            sys.exit(1)  # the engine ended before the line above, and would never be missed
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
            walls.append("no new privileges")
            walls.extend(restrict_files(libc, command[0], readable))
            walls.extend(restrict_calls(libc))
    os.write(1, ('{"t":"walls","walls":["' + '","'.join(walls) + '"]}\n').encode())
    os.execve(command[0], command, dict(os.environ))  # noqa: S606 - to become deno is what this is for


def limit_resources(data_bytes: int) -> list[str]:
    """Set the limits that the system has; never above one that stands already."""
    wanted = (
        ("RLIMIT_CORE", 0, "no core files"),
        ("RLIMIT_FSIZE", 0, "no file grows"),
        ("RLIMIT_CPU", MOST_CPU_SECONDS, f"{MOST_CPU_SECONDS} s of processor time"),
        ("RLIMIT_NOFILE", MOST_DESCRIPTORS, f"{MOST_DESCRIPTORS} descriptors"),
        ("RLIMIT_DATA", data_bytes, f"{data_bytes >> 20} MiB of memory"),
    )
    # Not RLIMIT_NPROC: it counts all threads of the user, whatever they belong to, and deno needs some. See NEVER.
    walls: list[str] = []
    for name, limit, wall in wanted:
        if sys.platform != "linux" and name == "RLIMIT_DATA":
            continue  # elsewhere it does not count what is mapped, which is all that V8 takes
        kind = getattr(resource, name)
        _, most = resource.getrlimit(kind)
        value = limit if most == resource.RLIM_INFINITY else min(limit, most)
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):
            continue
        walls.append(wall)
    return walls


def restrict_files(libc: ctypes.CDLL, deno: str, readable: list[str]) -> list[str]:
    """Landlock: nothing is written, run or listed, and read is only what deno needs to start."""
    version = libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, VERSION_FLAG)
    if version < 1:
        return []
    rights = FILE_RIGHTS[min(version, 5)]
    attributes = struct.pack("QQQ", rights, TCP_RIGHTS if version >= 4 else 0, SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(LANDLOCK_CREATE_RULESET, attributes, size, 0)
    if ruleset < 0:
        return []
    for path in (deno, *readable):
        try:
            file = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        folder = os.path.isdir(path)
        # The binary and the loader are executed, and the loader is among the libraries.
        allowed = READ_FILE | EXECUTE | (READ_DIR if folder else 0)
        libc.syscall(LANDLOCK_ADD_RULE, ruleset, RULE_PATH_BENEATH, struct.pack("=Qi", allowed, file), 0)
        os.close(file)
    refused = libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    if refused:
        return []
    walls = ["files (Landlock)"]
    if version >= 4:
        walls.append("TCP (Landlock)")
    if version >= 6:
        walls.append("signals (Landlock)")
    return walls


def restrict_calls(libc: ctypes.CDLL) -> list[str]:
    """seccomp: no socket, no child process, no look into another process."""
    machine = os.uname().machine
    if machine not in AUDIT_ARCH or sys.maxsize < 1 << 32:
        return []
    program = filter_program(machine, os.getpid())
    code = ctypes.create_string_buffer(program, len(program))
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(code)))
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, head, 0, 0):
        return []
    return ["sockets and children (seccomp)"]


def filter_program(machine: str, pid: int) -> bytes:
    """The filter in the kernel's form (struct sock_filter). It looks at the number and at most one argument."""
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    number, architecture, first_argument = 0, 4, 16

    def step(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
        return struct.pack("=HBBI", code, when_true, when_false, value)

    refuse, allow = step(give, RET_ERRNO | EPERM), step(give, RET_ALLOW)
    steps = [
        step(load, architecture),
        step(equal, AUDIT_ARCH[machine], 1, 0),
        refuse,
        step(load, number),
        step(at_least, X32_BIT, 0, 1),
        refuse,
        step(equal, CLONE3, 0, 1),
        step(give, RET_ERRNO | ENOSYS),
        step(equal, CLONE[machine], 0, 4),
        step(load, first_argument),
        step(any_bit, CLONE_THREAD, 0, 1),
        allow,
        refuse,
        # abort() signals its own process.
        step(equal, TGKILL[machine], 0, 4),
        step(load, first_argument),
        step(equal, pid, 0, 1),
        allow,
        refuse,
    ]
    for never in NEVER[machine]:
        steps += [step(equal, never, 0, 1), refuse]
    return b"".join([*steps, allow])


if __name__ == "__main__":
    main()
