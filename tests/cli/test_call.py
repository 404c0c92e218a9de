"""`space call` calls a tool and shows its result."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from cli.failure import REFUSED, USAGE
from tests.cli.conftest import Space
from tests.cli.fake_engine import PNG, FakeEngine, Reply

PATH = "/api/tools/space_draw/call"


def result(*content: dict[str, Any], structured: dict[str, Any] | None = None, is_error: bool = False) -> Reply:
    return Reply.of({"content": list(content), "structured_content": structured, "is_error": is_error})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def image(data: bytes) -> dict[str, Any]:
    return {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": "image/png"}


def test_a_call_sends_the_arguments_and_prints_the_text(space: Space, engine: FakeEngine) -> None:
    engine.replies["POST", PATH] = result(text("Drew shape-1."), structured={"id": "shape-1"})
    ran = space("call", "space_draw", '{"width": 40}')
    assert (ran.code, ran.out, ran.err) == (0, "Drew shape-1.\n", "")
    assert engine.last.body == {"width": 40}


def test_a_call_without_arguments_sends_an_empty_object(space: Space, engine: FakeEngine) -> None:
    engine.replies["POST", PATH] = result(text("ok"))
    assert space("call", "space_draw").code == 0
    assert engine.last.body == {}


def test_arguments_can_come_from_standard_input(space: Space, engine: FakeEngine) -> None:
    engine.replies["POST", PATH] = result(text("ok"))
    assert space("call", "space_draw", "-", stdin='{"name": "ü"}').code == 0
    assert engine.last.body == {"name": "ü"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{width: 40}", "not JSON"),
        ("[1]", "not a list"),
        ("null", "not null"),
        ('"x"', "not text"),
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_arguments_that_are_no_json_object_are_a_usage_error(
    space: Space, engine: FakeEngine, arguments: str, said: str
) -> None:
    ran = space("call", "space_draw", "-", stdin=arguments)
    assert ran.code == USAGE
    assert said in ran.err
    assert engine.requests == []


def test_a_failed_call_says_why_on_standard_error_and_exits_with_1(space: Space, engine: FakeEngine) -> None:
    engine.replies["POST", PATH] = result(text("hidden in this context"), is_error=True)
    ran = space("call", "space_draw")
    assert (ran.code, ran.out, ran.err) == (REFUSED, "", "hidden in this context\n")


def test_a_failed_call_is_json_for_programs(space: Space, engine: FakeEngine) -> None:
    engine.replies["POST", PATH] = result(text("hidden"), is_error=True)
    ran = space("call", "space_draw", "--json")
    assert ran.code == REFUSED
    assert ran.json == {"content": [text("hidden")], "structured_content": None, "is_error": True}


def test_a_result_without_content_shows_its_structure(space: Space, engine: FakeEngine) -> None:
    engine.replies["POST", PATH] = result(structured={"id": "shape-1"})
    assert space("call", "space_draw").json == {"id": "shape-1"}


def test_an_image_is_named_with_its_size(space: Space, engine: FakeEngine) -> None:
    engine.replies["POST", PATH] = result(text("A view."), image(b"x" * 1234))
    assert space("call", "space_draw").out.splitlines() == [
        "A view.",
        "[image/png, 1,234 bytes, not saved; --save-image FILE saves it]",
    ]


def test_images_are_saved_side_by_side(space: Space, engine: FakeEngine, tmp_path: Path) -> None:
    engine.replies["POST", PATH] = result(image(PNG), image(b"second"))
    ran = space("call", "space_draw", "--save-image", "view.png")
    assert ran.code == 0
    assert (tmp_path / "view.png").read_bytes() == PNG
    assert (tmp_path / "view-2.png").read_bytes() == b"second"
    assert "saved as view-2.png" in ran.out


def test_saving_an_image_that_is_not_there_is_said(space: Space, engine: FakeEngine, tmp_path: Path) -> None:
    engine.replies["POST", PATH] = result(text("nothing to see"))
    ran = space("call", "space_draw", "--save-image", "view.png")
    assert "no image in the result" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_an_image_that_is_not_base64_is_a_failure_and_not_a_traceback(space: Space, engine: FakeEngine) -> None:
    engine.replies["POST", PATH] = result({"type": "image", "data": "?", "mimeType": "image/png"})
    ran = space("call", "space_draw")
    assert ran.code == REFUSED
    assert "not base64" in ran.err


def test_other_content_is_named(space: Space, engine: FakeEngine) -> None:
    engine.replies["POST", PATH] = result({"type": "resource_link", "uri": "x:y", "name": "y"})
    assert space("call", "space_draw").out == "[resource_link; --json shows it]\n"


def test_a_call_can_be_made_as_an_agent(space: Space, engine: FakeEngine) -> None:
    engine.replies["POST", PATH] = result(text("ok"))
    space("call", "space_draw", "--agent", "my agent")
    assert engine.last.query == {"agent": "my agent"}
