"""`space run` runs a program as an agent would; `space programs` shows those that were run."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from cli.failure import REFUSED, USAGE
from cli.programs import DESCRIPTION_CHARACTERS
from tests.cli.conftest import Space
from tests.cli.fake_engine import PNG, FakeEngine, Reply

CALL = "/api/tools/space_run_code/call"
PROGRAM = "const shape = await tools.space_draw({});\nreturn shape;\n"


def ran_well(*content: dict[str, Any], is_error: bool = False) -> Reply:
    return Reply.of({"content": list(content), "structured_content": None, "is_error": is_error})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def row(number: int, **members: Any) -> dict[str, Any]:
    return {
        "id": f"program-{number}",
        "agent": "code",
        "description": "draws a house",
        "started_at": "2026-01-02T03:04:05+00:00",
        "seconds": 1.5,
        "failure": None,
        "call_count": 3,
        "steps": 2,
        **members,
    }


WHOLE = row(
    1,
    code=PROGRAM,
    logs=["one", "two"],
    result='{"id": 7}',
    calls=[{"tool": "space_draw", "arguments": "{}", "started": 0.5, "seconds": 0.25, "error": None}],
)


@pytest.fixture(autouse=True)
def programs(engine: FakeEngine) -> None:
    """The fake engine has run three programs, of which one still runs."""
    rows = [row(3, seconds=None), row(2, failure="exception: Error: no"), row(1)]
    engine.replies |= {
        ("GET", "/api/programs"): Reply.of({"programs": rows}),
        ("GET", "/api/programs/program-1"): Reply.of(WHOLE),
        ("POST", CALL): ran_well(text("drawn")),
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A program in a file."""
    file = tmp_path / "house.ts"
    file.write_text(PROGRAM)
    return file


def test_a_file_is_run_as_the_agent_that_runs_programs(space: Space, engine: FakeEngine, file: Path) -> None:
    ran = space("run", str(file))
    assert (ran.code, ran.out, ran.err) == (0, "drawn\n", "")
    assert engine.last.query == {"agent": "code"}
    assert engine.last.body == {"code": PROGRAM, "description": "house.ts"}


def test_another_agent_and_a_description_can_be_named(space: Space, engine: FakeEngine, file: Path) -> None:
    space("run", str(file), "--agent", "mine", "--description", "draws a house")
    assert engine.last.query == {"agent": "mine"}
    assert engine.last.body["description"] == "draws a house"
    space("run", str(file), "--description", "x" * 500)
    assert len(engine.last.body["description"]) == DESCRIPTION_CHARACTERS


def test_a_program_can_come_from_standard_input(space: Space, engine: FakeEngine) -> None:
    space("run", "-", stdin=PROGRAM)
    assert engine.last.body == {"code": PROGRAM, "description": "standard input"}


def test_a_program_that_fails_is_told_on_standard_error(space: Space, engine: FakeEngine, file: Path) -> None:
    engine.replies["POST", CALL] = ran_well(text("exception in line 1"), is_error=True)
    ran = space("run", str(file))
    assert (ran.code, ran.out, ran.err) == (REFUSED, "", "exception in line 1\n")


def test_images_of_a_program_can_be_saved(space: Space, engine: FakeEngine, file: Path, tmp_path: Path) -> None:
    image = {"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"}
    engine.replies["POST", CALL] = ran_well(text("looked"), image, image)
    assert space("run", str(file), "--save-image", "view.png").code == 0
    assert (tmp_path / "view.png").read_bytes() == (tmp_path / "view-2.png").read_bytes() == PNG


@pytest.mark.parametrize(
    ("content", "said"), [(None, "Cannot read"), (b"\xff\xfe\x00", "no UTF-8 text"), (b" \n", "no program in it")]
)
def test_what_is_no_program_is_not_sent(
    space: Space, engine: FakeEngine, tmp_path: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "program.ts").write_bytes(content)
    ran = space("run", "program.ts")
    assert (ran.code, said in ran.err) == (REFUSED, True)
    assert engine.requests == []


def test_programs_are_listed_with_how_they_ended(space: Space) -> None:
    lines = [" ".join(line.split()) for line in space("programs").out.splitlines()]
    assert lines[1:] == [
        "program-3 code 2026-01-02T03:04:05+00:00 - 3 2 runs draws a house",
        "program-2 code 2026-01-02T03:04:05+00:00 1.5 3 2 failed (exception) draws a house",
        "program-1 code 2026-01-02T03:04:05+00:00 1.5 3 2 well draws a house",
    ]
    assert len(space("programs", "--json").json["programs"]) == 3


def test_a_program_is_shown_whole(space: Space) -> None:
    out = space("programs", "show", "program-1").out
    assert f"Program:\n\n{PROGRAM}" in out
    assert "Output:\n\none\ntwo\n" in out
    assert 'Result:\n\n{"id": 7}\n' in out
    assert ["space_draw", "0.5", "0.25", "-", "{}"] in [line.split() for line in out.splitlines()]
    assert space("programs", "show", "program-1", "--json").json == WHOLE


def test_an_option_that_would_be_lost_before_a_command_is_a_usage_error(space: Space) -> None:
    assert space("programs", "--json", "show", "program-1").code == USAGE
