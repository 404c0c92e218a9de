"""`space serve`: its flags, as the server gets them."""

from __future__ import annotations

from pathlib import Path

import pytest

import transport.serve
from cli.failure import USAGE
from presets.presentation import Presentation
from protocol.limits import Limits
from tests.cli.conftest import Space
from transport.logs import LogFormat, LogLevel
from transport.serve import ServeOptions


class FakeServer:
    """Takes the place of the server; remembers what it was asked to do and ends with `code`."""

    def __init__(self) -> None:
        self.code = 0
        self.asked: list[ServeOptions] = []

    def run(self, options: ServeOptions) -> int:
        self.asked.append(options)
        return self.code


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    server = FakeServer()
    monkeypatch.setattr(transport.serve, "run", server.run)
    return server


def test_without_flags_the_defaults_hold(space: Space, server: FakeServer, tmp_path: Path) -> None:
    assert space("serve").code == 0
    data = tmp_path / "xdg_data_home" / "space"
    assert server.asked == [ServeOptions(data=data, workspace=tmp_path.resolve())]
    assert not data.exists()


def test_every_flag_arrives(space: Space, server: FakeServer, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    space(
        *("serve", "--host", "0.0.0.0", "--port", "0", "--data", "my data", "--workspace", "project", "--force-sse"),
        *(
            "--token",
            "s3cret",
            "--allow-non-loopback",
            "--log-format",
            "json",
            "--log-level",
            "debug",
            "--grace",
            "1.5",
            "--session-ttl",
            "60",
            "--peer-timeout",
            "3",
            "--limit",
            "sessions=5",
            "--limit",
            "nesting=8",
            "--presentation",
            "both",
            "--agent",
            "mine",
        ),
    )
    assert server.asked == [
        ServeOptions(
            host="0.0.0.0",
            port=0,
            data=tmp_path / "my data",
            workspace=(tmp_path / "project").resolve(),
            force_sse=True,
            token="s3cret",
            allow_non_loopback=True,
            log_format=LogFormat.JSON,
            log_level=LogLevel.DEBUG,
            grace_seconds=1.5,
            session_ttl_seconds=60,
            peer_timeout_seconds=3,
            limits=Limits(sessions=5, nesting=8),
            presentation=Presentation.BOTH,
            agent="mine",
        )
    ]


def test_the_token_may_come_from_the_environment(
    space: Space, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPACE_TOKEN", "s3cret")
    space("serve")
    assert server.asked[0].token == "s3cret"


def test_the_exit_code_is_that_of_the_server(space: Space, server: FakeServer) -> None:
    server.code = 5
    assert space("serve").code == 5


@pytest.mark.parametrize(
    "flags",
    [
        ("--port", "65536"),
        ("--port", "-1"),
        ("--port", "x"),
        ("--workspace", "nowhere"),
        ("--log-format", "xml"),
        ("--log-level", "loud"),
        ("--grace", "0"),
        ("--grace", "nan"),
        ("--grace", "inf"),
        ("--token", "a b"),
        ("--token", ""),
        ("--peer-timeout", "0"),
        ("--limit", "sessions"),
        ("--limit", "sessions=0"),
        ("--limit", "patience=3"),
        ("--presentation", "wordy"),
        ("--agent", " "),
        ("extra",),
    ],
    ids=" ".join,
)
def test_what_cannot_be_served_is_a_usage_error(space: Space, server: FakeServer, flags: tuple[str, ...]) -> None:
    assert space("serve", *flags).code == USAGE
    assert server.asked == []


def test_a_data_folder_that_is_a_file_is_a_usage_error(space: Space, server: FakeServer, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert space("serve", "--data", "file").code == USAGE
    assert server.asked == []


def test_the_users_agents_lie_in_the_data_folder(space: Space, server: FakeServer, tmp_path: Path) -> None:
    space("serve", "--data", "my data")
    assert server.asked[0].agents.user_root == tmp_path / "my data" / "agents"
