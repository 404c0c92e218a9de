"""`space panel` says where the panel is."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Space
from tests.cli.fake_engine import FakeEngine


def test_the_address_of_the_panel_is_the_engines_own(space: Space, engine: FakeEngine) -> None:
    assert space("panel").out == f"{engine.url}/\n"


def test_a_token_stands_behind_the_hash_where_no_server_sees_it(space: Space, engine: FakeEngine) -> None:
    ran = space("panel", "--token", "a&b/c#d")
    assert ran.out == f"{engine.url}/#token=a%26b%2Fc%23d\n"
    assert "token" in ran.err
    assert json.loads(space("panel", "--token", "t", "--json").out) == {"panel": f"{engine.url}/#token=t"}


def test_without_an_engine_there_is_no_panel(space: Space) -> None:
    ran = space("panel", "--url", "http://127.0.0.1:9")
    assert ran.code != 0
    assert ran.out == ""


def test_a_browser_that_cannot_be_started_is_said(
    space: Space, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def refuse(address: str) -> bool:
        opened.append(address)
        return False

    monkeypatch.setattr("webbrowser.open", refuse)
    ran = space("panel", "--open")
    assert opened == [f"{engine.url}/"]
    assert ran.code == 1
    assert "no browser" in ran.err
