"""Finds the deno binary and asks it what it is. Owns where it is looked for; starts nothing but `deno --version`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import trio
from deno import find_deno_bin

DENO_VARIABLE = "SPACE_DENO"
"""Environment variable that names another binary than the one of the `deno` package."""

LEAST_VERSION = (2, 9)
"""Oldest deno whose flags and import rules the sandbox has been tried against (`--deny-import`, text imports)."""

PROBE_SECONDS = 10.0
"""Longest wait for `deno --version`. It takes 10 ms; a cold disk may take seconds for a binary of 100 MB."""

_VERSION_LINE = re.compile(r"^deno (\d+)\.(\d+)\.(\d+)", re.MULTILINE)
_LIBRARY = re.compile(r"^\t(?:.* => )?(/.*) \(0x[0-9a-f]+\)$", re.MULTILINE)
_LOADER_CACHE = "/etc/ld.so.cache"
_LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", _LOADER_CACHE)
_INSTALL = "install it with `pip install 'deno>=2.9,<3'`, or name a binary in SPACE_DENO"


class DenoMissingError(Exception):
    """There is no deno that the sandbox could use. The message says where it was looked for and what to install."""


@dataclass(frozen=True, slots=True)
class Deno:
    """A binary that has answered, and its version as it prints it, like "2.9.8"."""

    path: Path
    version: str


def find_deno(environment: Mapping[str, str] | None = None) -> Path:
    """The deno binary: what `SPACE_DENO` names, else the one of the `deno` package. Does not start it.

    `environment` is that of this process unless given. Raises `DenoMissingError` when there is no such file. A
    `SPACE_DENO` that names none is an error, never a reason to take another.
    """
    named = (os.environ if environment is None else environment).get(DENO_VARIABLE, "")
    if named:
        path = Path(named)
        if not path.is_file():
            raise DenoMissingError(f"deno not found (looked at {named}, which {DENO_VARIABLE} names); {_INSTALL}")
        return path.absolute()
    try:
        found = find_deno_bin()
    except FileNotFoundError as error:
        raise DenoMissingError(
            f"deno not found (looked at {error}, where the package puts it; {DENO_VARIABLE} is not set); {_INSTALL}"
        ) from None
    return Path(os.fsdecode(found)).absolute()


async def probe_deno(environment: Mapping[str, str] | None = None) -> Deno:
    """Find deno and ask for its version. Raises `DenoMissingError` when it is not there, does not run or is too old."""
    path = find_deno(environment)
    try:
        with trio.fail_after(PROBE_SECONDS):
            answer = await trio.run_process(
                [str(path), "--version"],
                capture_stdout=True,
                stderr=subprocess.DEVNULL,
                check=False,
                env={"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"},
            )
    except OSError as error:
        raise DenoMissingError(f"deno at {path} does not start ({error}); {_INSTALL}") from None
    except trio.TooSlowError:
        raise DenoMissingError(
            f"deno at {path} did not tell its version within {PROBE_SECONDS:g} seconds; {_INSTALL}"
        ) from None
    return Deno(path, _checked_version(path, answer.returncode, answer.stdout))


async def deno_libraries(deno: Deno, environment: Mapping[str, str]) -> Sequence[str]:
    """What the loader reads to start the binary: its shared libraries and the loader itself, on Linux with glibc.

    Elsewhere, and where the loader does not tell, the folders in which libraries are.
    """
    if sys.platform != "linux":
        return ()
    try:
        with trio.fail_after(PROBE_SECONDS):
            answer = await trio.run_process(
                [str(deno.path), "--version"],
                capture_stdout=True,
                stderr=subprocess.DEVNULL,
                check=False,
                env={**environment, "LD_TRACE_LOADED_OBJECTS": "1"},  # the loader lists them and ends
            )
    except (OSError, trio.TooSlowError):
        return _LIBRARY_FOLDERS
    found = _LIBRARY.findall(answer.stdout.decode("utf-8", "replace"))
    return (*found, _LOADER_CACHE) if found else _LIBRARY_FOLDERS


def _checked_version(path: Path, code: int, printed: bytes) -> str:
    found = _VERSION_LINE.search(printed.decode("utf-8", "replace"))
    if code != 0 or found is None:
        raise DenoMissingError(f"{path} is no deno: `--version` ended with exit code {code}; {_INSTALL}")
    version = ".".join(found.groups())
    if (int(found[1]), int(found[2])) < LEAST_VERSION:
        least = ".".join(map(str, LEAST_VERSION))
        raise DenoMissingError(f"deno at {path} is version {version}, and {least} or newer is needed; {_INSTALL}")
    return version
