"""The opencode configuration: the engine's tools and nothing else, with the user's model and credentials."""

from __future__ import annotations

from pathlib import Path

import pytest

from transport.opencode import BYPASSING, ISOLATING, opencode_configuration, opencode_environment

URL = "http://127.0.0.1:7787/mcp"
HOME = Path("/home/user/.local/share/space/opencode/127.0.0.1-7787")


def test_the_only_server_is_the_engine_without_oauth() -> None:
    configuration = opencode_configuration(URL)
    assert set(configuration["mcp"]) == {"space"}
    entry = configuration["mcp"]["space"]
    assert (entry["type"], entry["url"], entry["enabled"]) == ("remote", URL, True)
    assert entry["oauth"] is False
    assert entry["timeout"] >= 60_000
    assert "headers" not in entry


def test_a_token_becomes_a_header() -> None:
    entry = opencode_configuration(URL, token="s3cret")["mcp"]["space"]
    assert entry["headers"] == {"Authorization": "Bearer s3cret"}


def test_every_tool_but_those_of_the_engine_is_denied_by_the_rules_in_their_order() -> None:
    permission = opencode_configuration(URL)["permission"]
    assert next(iter(permission.items())) == ("*", "deny")
    assert permission["space_*"] == "allow"
    assert {name for name, rule in permission.items() if rule == "allow"} == {"space_*", "doom_loop", "invalid"}


def test_the_users_model_is_kept_and_nothing_else_of_theirs() -> None:
    user = {
        "model": "ollama/llama",
        "small_model": "ollama/tiny",
        "provider": {"ollama": {"npm": "x"}},
        "enabled_providers": ["ollama"],
        "disabled_providers": [],
        "mcp": {"other": {"type": "local"}},
        "permission": {"*": "allow"},
        "plugin": ["evil"],
        "agent": {"build": {}},
        "share": "auto",
    }
    configuration = opencode_configuration(URL, user=user)
    for key in ("model", "small_model", "provider", "enabled_providers", "disabled_providers"):
        assert configuration[key] == user[key]
    assert {**configuration, **opencode_configuration(URL)} == configuration
    assert "agent" not in configuration


def test_the_configuration_is_isolated_and_the_users_data_is_not() -> None:
    inherited = {"XDG_CONFIG_HOME": "/home/user/.config", "XDG_DATA_HOME": "/d", "ANTHROPIC_API_KEY": "k", "HOME": "/h"}
    changes = opencode_environment(HOME, inherited)
    assert changes["XDG_CONFIG_HOME"] == str(HOME)
    assert ISOLATING.items() <= changes.items()
    assert not changes.keys() & {"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "HOME", "ANTHROPIC_API_KEY"}


def test_what_would_end_the_isolation_is_taken_away() -> None:
    changes = opencode_environment(HOME, dict.fromkeys(BYPASSING, "x"))
    assert {name for name, value in changes.items() if value is None} == set(BYPASSING)
    assert None not in opencode_environment(HOME, {}).values()


def test_what_makes_opencode_download_or_log_out_is_not_set() -> None:
    changes = opencode_environment(HOME, {})
    assert not changes.keys() & {
        "OPENCODE_DISABLE_FFF",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    }


@pytest.mark.parametrize(
    ("inherited", "expected"),
    [
        ({}, "127.0.0.1,localhost,::1"),
        ({"NO_PROXY": "a.example, localhost"}, "a.example,localhost,127.0.0.1,::1"),
        ({"NO_PROXY": "a.example", "no_proxy": "b.example"}, "a.example,b.example,127.0.0.1,localhost,::1"),
    ],
    ids=["none", "one", "both"],
)
def test_no_proxy_stands_between_opencode_and_the_engine(inherited: dict[str, str], expected: str) -> None:
    changes = opencode_environment(HOME, inherited)
    assert changes["NO_PROXY"] == changes["no_proxy"] == expected
