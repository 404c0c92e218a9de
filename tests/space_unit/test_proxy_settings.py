"""What may stand in the table `[proxy]`, and what is said of what may not."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from engine.units.manifest import InvalidUnitError
from presets.definition import DefaultState, Risk
from space_unit.proxy_settings import read_proxy_settings, with_environment


def read(text: str, unit: str = "notes") -> Any:
    return read_proxy_settings(unit, tomllib.loads(text).get("proxy", {}))


def test_a_server_needs_a_command_or_an_address_and_no_more() -> None:
    settings = read('[proxy]\ncommand = ["npx", "-y", "server"]')
    assert (settings.command, settings.url, settings.preset) == (("npx", "-y", "server"), None, ())
    assert read('[proxy]\nurl = "https://example.com/mcp"').url == "https://example.com/mcp"


def test_a_preset_that_says_no_more_is_as_risky_as_a_shell_and_off() -> None:
    (preset,) = read(
        '[proxy]\ncommand = ["x"]\n[[proxy.preset]]\nname = "notes"\ntools = ["*"]\nrisk = "normal"'
    ).preset
    assert (preset.risk, preset.default) == (Risk.NORMAL, DefaultState.OFF)
    (preset,) = read('[proxy]\ncommand = ["x"]\n[[proxy.preset]]\nname = "notes-a"\ntools = ["*"]').preset
    assert (preset.risk, preset.default) == (Risk.SHELL, DefaultState.OFF)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"proxy: needs either command, as in \[\"npx\", \"-y\", \"server\"\], or url"),
        ('command = ["a"]\nurl = "http://x"', "proxy: needs either command"),
        (
            'command = "npx -y server"',
            r'proxy.command: must be a list of texts in brackets, such as \["npx", "-y", "server"\]',
        ),
        (
            'url = "http://h/"\nleave_out = "x"',
            r'proxy.leave_out: must be a list of texts in brackets, such as \["delete_\*"\]',
        ),
        ("command = []", "proxy.command: .*at least 1 item"),
        ('url = "ftp://x/"', "proxy.url: must be the address of a server, such as 'http://"),
        ('url = "http://a:b@x/"', r"proxy\.url: must hold no user or password; say Authorization"),
        ('url = "http://x:99999/"', "proxy.url: must be the address"),
        ('url = "http://x"\nenv = { A = "b" }', "proxy: env belongs to command, which is not there"),
        ('command = ["a"]\nheaders = { A = "b" }', "proxy: headers belongs to url, which is not there"),
        ('command = ["a"]\nenv = { A = 1 }', "proxy.env.A: Input should be a valid string, not 1"),
        ('command = ["a"]\nenv = { "A B" = "1" }', "proxy.env: 'A B' is no name of a variable"),
        ('url = "http://x"\nheaders = { "A B" = "1" }', "proxy.headers: 'A B' is no name of a header"),
        ('url = "http://x"\nheaders = { A = "1\\n2" }', "the value of A must be plain characters in one line"),
        ('url = "http://x"\nheaders = { Mcp-Session-Id = "1" }', "is set by the connection itself"),
        ('command = ["a"]\nretries = 3', "proxy: there is no member 'retries', but command, env, cwd, url"),
        ('command = ["a"]\ncall_seconds = 0', "proxy.call_seconds: Input should be greater than 0, not 0"),
        (
            'command = ["a"]\n[[proxy.preset]]\nname = "x"\ntools = ["*"]',
            r"proxy\.preset\[0\]\.name: 'x' must be 'notes'",
        ),
        ('command = ["a"]\n[[proxy.preset]]\nname = "notes"', r"proxy\.preset\[0\]\.tools: is missing"),
        (
            'command = ["a"]\n[[proxy.preset]]\nname = "notes"\ntools = ["*"]\nrisk = "low"',
            r"proxy\.preset\[0\]\.risk: Input should be 'normal', .*, not 'low'",
        ),
        (
            'command = ["a"]\n[[proxy.preset]]\nname = "notes"\ntools = ["*"]\nwhen = 1',
            r"proxy\.preset\[0\]: there is no member 'when', but name, tools, risk, default, contexts",
        ),
        (
            'command = ["a"]\n[[proxy.preset]]\nname = "notes"\ntools = ["*"]\ncontexts = [{ mode = "x" }]',
            r"proxy\.preset\[0\]: .*field 'mode' is not a fact of the context; use 'activity'",
        ),
        (
            'command = ["a"]' + '\n[[proxy.preset]]\nname = "notes"\ntools = ["*"]' * 2,
            "preset 'notes' is there twice",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_what_would_be_right(text: str, said: str) -> None:
    with pytest.raises(InvalidUnitError, match=rf"unit\.toml: .*{said}"):
        read(f"[proxy]\n{text}")


def test_values_name_variables_of_the_environment_as_words() -> None:
    given = {"A": "env:KEY", "B": "Bearer env:KEY", "C": "xenv:KEY env:KEYS?", "D": "plain"}
    found, secrets = with_environment("env", given, {"KEY": "s3cr3t"}, frozenset())
    assert found == {"A": "s3cr3t", "B": "Bearer s3cr3t", "C": "xenv:KEY env:KEYS?", "D": "plain"}
    assert set(secrets) == {"s3cr3t"}


def test_a_variable_that_is_not_set_or_the_engines_own_is_refused_by_name() -> None:
    with pytest.raises(InvalidUnitError, match=r"proxy\.env: the variable KEY is not set where the engine was started"):
        with_environment("env", {"A": "env:KEY"}, {}, frozenset())
    with pytest.raises(InvalidUnitError, match=r"proxy\.headers: KEY is a secret of the engine"):
        with_environment("headers", {"A": "env:KEY"}, {"KEY": "x"}, frozenset({"KEY"}))
