"""`space export` writes the view into a file, whole or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from cli.failure import REFUSED, USAGE
from tests.cli.conftest import Space
from tests.cli.fake_engine import PNG, SVG, FakeEngine, Reply


def test_the_ending_says_what_is_written(space: Space, engine: FakeEngine, tmp_path: Path) -> None:
    ran = space("export", "view.svg")
    assert (ran.code, ran.out) == (0, f"Wrote view.svg ({len(SVG)} bytes).\n")
    assert space("export", "VIEW.PNG").code == 0
    assert (tmp_path / "view.svg").read_bytes() == SVG
    assert (tmp_path / "VIEW.PNG").read_bytes() == PNG


def test_size_and_surface_are_asked_for(space: Space, engine: FakeEngine) -> None:
    space("export", "view.png", "--width", "640", "--height", "480", "--surface", "canvas")
    assert engine.last.query == {"width": "640", "height": "480", "surface": "canvas"}
    space("export", "view.png")
    assert engine.last.query == {}


def test_programs_get_the_name_of_the_file(space: Space, tmp_path: Path) -> None:
    assert space("export", "view.png", "--json").json == {
        "file": str(tmp_path / "view.png"),
        "media_type": "image/png",
        "bytes": len(PNG),
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ("view.jpg",),
        ("view",),
        (".svg",),
        ("view.png", "--width", "0"),
        ("view.png", "--width", "x"),
        ("view.svg", "--width", "9"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_written_is_a_usage_error(space: Space, engine: FakeEngine, arguments: tuple[str, ...]) -> None:
    assert space("export", *arguments).code == USAGE
    assert engine.requests == []


def test_an_old_file_is_replaced_and_no_other_is_left(space: Space, tmp_path: Path) -> None:
    (tmp_path / "view.svg").write_text("old")
    assert space("export", "view.svg").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["view.svg"]
    assert (tmp_path / "view.svg").read_bytes() == SVG


def test_a_symbolic_link_stays_one(space: Space, tmp_path: Path) -> None:
    (tmp_path / "view.svg").symlink_to("real.svg")
    assert space("export", "view.svg").code == 0
    assert (tmp_path / "view.svg").is_symlink()
    assert (tmp_path / "real.svg").read_bytes() == SVG


def test_the_file_is_as_readable_as_any_other(space: Space, tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    space("export", "view.svg")
    assert stat.S_IMODE((tmp_path / "view.svg").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_a_refusal_leaves_the_old_file(space: Space, engine: FakeEngine, tmp_path: Path) -> None:
    (tmp_path / "view.svg").write_text("old")
    engine.replies["GET", "/api/view.svg"] = Reply.problem(409, "No", "surface 'scene' has no view")
    ran = space("export", "view.svg")
    assert ran.code == REFUSED
    assert ran.err == "space: surface 'scene' has no view\n"
    assert (tmp_path / "view.svg").read_text() == "old"


def test_a_folder_that_is_not_there_is_a_failure_and_not_a_traceback(space: Space) -> None:
    ran = space("export", "nowhere/view.svg", "--json")
    assert ran.code == REFUSED
    assert ran.err == "space: Cannot write nowhere/view.svg: No such file or directory.\n"
    assert ran.json["error"]["kind"] == "failed"
