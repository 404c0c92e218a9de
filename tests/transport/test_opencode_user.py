"""What is read of a user's own opencode configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transport.opencode_user import model_settings

FOLDER = Path("/home/user/.config/opencode")


def test_only_what_says_which_model_answers_is_read() -> None:
    text = '{"model": "a/b", "mcp": {"x": {}}, "plugin": ["y"], "permission": "allow", "provider": {"a": {"npm": "z"}}}'
    assert model_settings([text], FOLDER) == {"model": "a/b", "provider": {"a": {"npm": "z"}}}


def test_later_files_win_and_providers_are_merged() -> None:
    first = '{"model": "a/b", "provider": {"a": {"npm": "z", "options": {"x": 1, "y": 1}}}}'
    second = '{"model": "c/d", "provider": {"a": {"options": {"y": 2}}, "c": {}}}'
    assert model_settings([first, second], FOLDER) == {
        "model": "c/d",
        "provider": {"a": {"npm": "z", "options": {"x": 1, "y": 2}}, "c": {}},
    }


def test_comments_and_trailing_commas_are_let_through() -> None:
    text = """
    // my settings
    {
      "model": "a/b", /* the good one */
      "provider": {"a": {"options": {"baseURL": "http://127.0.0.1:1/v1", "note": "/* kept */, ]"},}, // last
      },
    }
    """
    assert model_settings([text], FOLDER) == {
        "model": "a/b",
        "provider": {"a": {"options": {"baseURL": "http://127.0.0.1:1/v1", "note": "/* kept */, ]"}}},
    }


@pytest.mark.parametrize("text", ["", "  ", "// nothing\n", "{}"])
def test_an_empty_file_says_nothing(text: str) -> None:
    assert model_settings([text], FOLDER) == {}


@pytest.mark.parametrize("text", ["[]", "null", "{", '{"model": }', "{file:x}"])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        model_settings([text], FOLDER)


def test_a_reference_relative_to_the_users_folder_still_finds_its_file() -> None:
    text = '{"provider": {"a": {"options": {"k": "{file:keys/\\u0061}", "l": "{file:~/b}", "m": "{file:/c} {env:D}"}}}}'
    assert model_settings([text], FOLDER)["provider"]["a"]["options"] == {
        "k": "{file:/home/user/.config/opencode/keys/a}",
        "l": "{file:~/b}",
        "m": "{file:/c} {env:D}",
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON.filter(lambda value: "{file:" not in json.dumps(value)), st.booleans())
def test_any_json_is_read_as_it_is(value: object, ascii_only: bool) -> None:
    text = json.dumps({"provider": {"x": value}}, ensure_ascii=ascii_only)
    assert model_settings([text], FOLDER) == {"provider": {"x": value}}
