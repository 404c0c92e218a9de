"""The walls of the kernel alone: deno is allowed everything here, as it would be after an escape."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from sandbox.deno import deno_libraries, find_deno, probe_deno
from sandbox.runner import runner_environment

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux"),
]

LAUNCHER = Path(__file__).parents[2] / "sandbox" / "launcher.py"

ATTEMPTS = """
const attempts = {
  read: () => Deno.readTextFileSync("/etc/passwd"),
  list: () => [...Deno.readDirSync("/")].length,
  write: () => Deno.writeTextFileSync(SECRET, "x"),
  create: () => Deno.writeTextFileSync(SECRET + "2", "x"),
  remove: () => Deno.removeSync(SECRET),
  run: () => new Deno.Command("/bin/true").outputSync(),
  itself: () => new Deno.Command(Deno.execPath(), {args: ["--version"]}).outputSync(),
  kill: () => Deno.kill(Deno.ppid, "SIGCONT"),
  connect: () => Deno.connect({hostname: "127.0.0.1", port: 9}),
  listen: () => Deno.listen({hostname: "127.0.0.1", port: 0}),
  datagram: async () => {
    const socket = (await import("node:dgram")).createSocket("udp4");
    await new Promise((bound, failed) => socket.on("error", failed).bind(0, "127.0.0.1", bound));
  },
  unix: () => Deno.connect({transport: "unix", path: SECRET}),
  environment: () => {
    if (!Deno.env.get("SPACE_TEST_SECRET")) throw new Error("there is no such variable");
  },
};
const outcomes = {};
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    await attempt();
    outcomes[name] = "done";
  } catch (error) {
    outcomes[name] = error.name + ": " + error.message;
  }
}
console.log(JSON.stringify(outcomes));
"""


def launched(*arguments: str, parent: int | None = None) -> subprocess.CompletedProcess[str]:
    deno = trio.run(probe_deno)
    environment = runner_environment({})
    readable = "\n".join((*trio.run(deno_libraries, deno, environment), "/dev/urandom", *arguments[-1:]))
    command = [sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid() if parent is None else parent)]
    command += [str(400 * 1024**2), readable, str(deno.path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=20, env=environment, cwd="/", check=False)


def landlock_version() -> int:
    """What this kernel knows of it; -1 where nothing."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1)


def test_the_kernel_refuses_what_deno_would_allow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_TEST_SECRET", "x")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    script = tmp_path / "script.js"
    script.write_text(f"const SECRET = {json.dumps(str(secret))};\n{ATTEMPTS}")
    done = launched("run", "--quiet", "--allow-all", "--no-config", "--v8-flags=--jitless", str(script))
    walls, outcomes = (json.loads(line) for line in done.stdout.splitlines())
    if landlock_version() < 1 or os.uname().machine not in ("x86_64", "aarch64"):
        pytest.skip(f"this system has but {walls['walls']}")
    assert {name for name, outcome in outcomes.items() if outcome == "done"} == set(), outcomes
    assert secret.read_text() == "secret"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["script.js", "secret"]


def test_a_launcher_whose_parent_is_gone_starts_nothing() -> None:
    done = launched("--version", parent=1 << 22)
    assert (done.returncode, done.stdout) == (1, "")


def test_every_wall_of_this_kernel_stands() -> None:
    done = launched("--version")
    walls = json.loads(done.stdout.splitlines()[0])["walls"]
    assert walls[:7] == [
        "no core files",
        "no file grows",
        "120 s of processor time",
        "24 descriptors",
        "400 MiB of memory",
        "dies with the engine",
        "no new privileges",
    ]
    assert done.stdout.splitlines()[1].startswith("deno 2.")
    assert find_deno().is_file()
