"""Where deno is looked for, and what is said when it is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from sandbox.deno import LEAST_VERSION, DenoMissingError, deno_libraries, find_deno, probe_deno


def executable(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


async def test_the_package_brings_a_deno_that_is_new_enough() -> None:
    deno = await probe_deno({})
    assert deno.path == find_deno({})
    assert tuple(map(int, deno.version.split(".")[:2])) >= LEAST_VERSION


async def test_the_variable_names_another_one(tmp_path: Path) -> None:
    path = executable(tmp_path / "deno", "echo 'deno 2.10.0 (stable)'")
    deno = await probe_deno({"SPACE_DENO": str(path)})
    assert (deno.path, deno.version) == (path, "2.10.0")


async def test_one_that_is_not_there_is_no_reason_to_take_another(tmp_path: Path) -> None:
    missing = tmp_path / "deno"
    with pytest.raises(DenoMissingError) as raised:
        await probe_deno({"SPACE_DENO": str(missing)})
    assert str(raised.value) == (
        f"deno not found (looked at {missing}, which SPACE_DENO names); "
        "install it with `pip install 'deno>=2.9,<3'`, or name a binary in SPACE_DENO"
    )


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'deno 2.8.3'", "is version 2.8.3, and 2.9 or newer is needed"),
        ("echo 'deno 1.46.0'", "is version 1.46.0, and 2.9 or newer is needed"),
        ("echo hello", "is no deno"),
        ("exit 3", "is no deno: `--version` ended with exit code 3"),
    ],
)
async def test_what_is_no_deno_or_too_old_is_told(tmp_path: Path, script: str, message: str) -> None:
    path = executable(tmp_path / "deno", script)
    with pytest.raises(DenoMissingError) as raised:
        await probe_deno({"SPACE_DENO": str(path)})
    assert message in str(raised.value)


async def test_what_cannot_be_started_is_told(tmp_path: Path) -> None:
    path = tmp_path / "deno"
    path.write_text("no program")
    with pytest.raises(DenoMissingError, match="does not start"):
        await probe_deno({"SPACE_DENO": str(path)})


async def test_its_libraries_are_files_that_are_there() -> None:
    libraries = await deno_libraries(await probe_deno({}), {})
    for library in libraries:
        assert await trio.Path(library).exists() or library == "/etc/ld.so.cache"
