"""`space unit new --proxy`: a unit that stands for a server, without an engine."""

from __future__ import annotations

from pathlib import Path

from cli.failure import REFUSED, USAGE
from engine.units.manifest import read_manifest
from space_unit.proxy_settings import read_proxy_settings
from tests.cli.conftest import Space


def test_it_writes_a_manifest_with_the_command_or_the_address(space: Space, tmp_path: Path) -> None:
    for name, server in (("files", ("--", "npx", "-y", 'a "b"', "/c\\d")), ("web", ("http://127.0.0.1:1/mcp",))):
        ran = space("unit", "new", name, "--in", str(tmp_path), "--proxy", *server)
        assert ran.code == 0
        assert f"space preset on {name}" in ran.out
        manifest = read_manifest((tmp_path / name / "unit.toml").read_text(encoding="utf-8"))
        settings = read_proxy_settings(name, manifest.settings)
        given = server[0] if settings.command is None else settings.command
        assert given == (settings.url or server[1:])
        assert [path.name for path in (tmp_path / name).iterdir()] == ["unit.toml"]


def test_a_server_that_is_missing_or_comes_without_the_option_is_refused(space: Space, tmp_path: Path) -> None:
    ran = space("unit", "new", "files", "--in", str(tmp_path), "--proxy")
    assert (ran.code, "which server?" in ran.err) == (REFUSED, True)
    assert space("unit", "new", "files", "--in", str(tmp_path), "npx").code == USAGE
    assert list(tmp_path.iterdir()) == []
