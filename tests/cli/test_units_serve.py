"""`space units serve`: its flags, as the server gets them. The server itself: `tests/transport/test_unit_server.py`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import transport.unit_server
from cli.failure import REFUSED, USAGE
from tests.cli.conftest import Space
from tests.cli.fake_engine import FakeEngine, Reply
from transport.logs import LogFormat, LogLevel
from transport.unit_server import UnitServeOptions


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[UnitServeOptions]:
    """What the server, whose place is taken, was asked to do. It ends with 7."""
    asked: list[UnitServeOptions] = []

    def run(options: UnitServeOptions) -> int:
        asked.append(options)
        return 7

    monkeypatch.setattr(transport.unit_server, "run", run)
    return asked


def test_without_flags_it_serves_the_users_own_units(
    space: Space, asked: list[UnitServeOptions], tmp_path: Path
) -> None:
    assert space("units", "serve").code == 7
    data = tmp_path / "xdg_data_home" / "space"
    assert asked == [UnitServeOptions(units=(data / "units").resolve(), data=data)]
    assert (data / "units").is_dir()


def test_every_flag_arrives_and_the_model_of_the_users_opencode(
    space: Space, asked: list[UnitServeOptions], tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    own = tmp_path / "xdg_config_home" / "opencode"
    own.mkdir(parents=True)
    (own / "opencode.json").write_text(json.dumps({"model": "a/b", "permission": "allow"}))
    space(
        *("units", "serve", "--units", "mine", "--host", "::1", "--port", "7", "--data", "kept", "--force-sse"),
        *("--token", "s3cret", "--allow-non-loopback", "--log-format", "json", "--log-level", "debug"),
    )
    assert asked == [
        UnitServeOptions(
            units=(tmp_path / "mine").resolve(),
            data=tmp_path / "kept",
            host="::1",
            port=7,
            force_sse=True,
            token="s3cret",
            allow_non_loopback=True,
            user={"model": "a/b"},
            log_format=LogFormat.JSON,
            log_level=LogLevel.DEBUG,
        )
    ]


def test_what_is_wrong_about_a_flag_is_said(space: Space, asked: list[UnitServeOptions], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for flags in (("--units", "nowhere"), ("--units", "file"), ("--port", "70000"), ("--token", "")):
        assert space("units", "serve", *flags).code == USAGE
    (tmp_path / "xdg_data_home").touch()
    ran = space("units", "serve")
    assert (ran.code, "Cannot make" in ran.err) == (REFUSED, True)
    assert asked == []


def test_the_list_of_units_stands_where_it_was(space: Space, engine: FakeEngine) -> None:
    engine.replies[("GET", "/api/units")] = Reply.of({"units": []})
    assert space("units").code == 0
    assert space("units", "--json").json == {"units": []}
