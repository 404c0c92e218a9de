"""A unit's folder: what is in it, what never is, and that nothing outside it is read or written."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ConflictError, EngineError, ForbiddenError, InvalidArgumentError, NotFoundError
from engine.units.folder import MAX_SOURCE_BYTES, UnitFolder, make_unit
from engine.units.manifest import InvalidUnitError, read_manifest
from engine.units.source import hash_of

FILES = {"unit.toml": b"", "unit.py": b"x = 1\n", "tests/test_unit.py": b"", "components/view.py": b""}


@pytest.fixture
def unit(tmp_path: Path) -> UnitFolder:
    return make_unit(tmp_path, "dice", FILES)


def test_every_file_is_listed_by_its_path_with_slashes_and_a_hash(unit: UnitFolder) -> None:  # 200, 222, 242, 243
    listed = unit.read().listing()
    assert [file.path for file in listed] == ["components/view.py", "tests/test_unit.py", "unit.py", "unit.toml"]
    assert all(file.hash.startswith("sha256:") for file in listed)


def test_hidden_files_links_and_what_tools_leave_behind_belong_to_no_unit(unit: UnitFolder, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("secret")
    (unit.path / "link.py").symlink_to(tmp_path / "secret.py")
    (unit.path / "out").symlink_to(tmp_path)
    (unit.path / ".git").mkdir()
    (unit.path / ".git" / "config").write_text("")
    (unit.path / "__pycache__").mkdir()
    (unit.path / "__pycache__" / "x.pyc").write_bytes(b"")
    (unit.path / "unit.py~").write_text("")
    assert sorted(unit.contents()) == sorted(FILES)


@pytest.mark.parametrize(
    "path",
    [
        "../outside.py",
        "a/../../outside.py",
        "/etc/passwd",
        "C:\\x.py",
        "a\\b.py",
        "out/x.py",
        "link.py",
        "a\0b",
        ".git/config",
        ".hidden.py",
        "__pycache__/x.py",
        "",
        ".",
        "a/",
        "a/" * 20 + "b.py",
        "\ud800.py",
    ],
)
def test_no_path_leads_out_of_the_folder_or_into_what_is_no_unit(unit: UnitFolder, tmp_path: Path, path: str) -> None:
    # 214 (back slashes are refused here rather than turned), 217, 238
    (tmp_path / "secret.py").write_text("secret")
    (unit.path / "link.py").symlink_to(tmp_path / "secret.py")
    (unit.path / "out").symlink_to(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises((ForbiddenError, InvalidArgumentError)):
        unit.text(path)
    with pytest.raises((ForbiddenError, InvalidArgumentError)):
        unit.change({path: b"x"})
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "secret.py").read_text() == "secret"


def test_a_link_that_leads_nowhere_is_not_written_through(unit: UnitFolder, tmp_path: Path) -> None:
    (unit.path / "new.py").symlink_to(tmp_path / "elsewhere.py")
    assert unit.exists("new.py")
    with pytest.raises(ForbiddenError, match="symbolic link"):
        unit.change({"new.py": b"x"})
    assert not (tmp_path / "elsewhere.py").exists()


def test_the_refusal_speaks_of_the_unit(unit: UnitFolder) -> None:
    with pytest.raises(NotFoundError, match=r"no 'view.py' in the folder of unit 'dice'"):  # 246
        unit.text("view.py")


def test_changes_are_made_all_or_none(unit: UnitFolder) -> None:
    before = unit.contents()
    with pytest.raises(EngineError):
        unit.change({"unit.py": b"changed", "new/deep.py": b"x", "unit.toml": None, "components": b"a folder"})
    assert unit.contents() == before
    assert not (unit.path / "new").exists()
    unit.change({"unit.py": b"changed", "new/deep.py": b"x", "components/view.py": None})
    assert sorted(unit.contents()) == ["new/deep.py", "tests/test_unit.py", "unit.py", "unit.toml"]
    assert not (unit.path / "components").exists()


def test_it_becomes_exactly_what_it_was(unit: UnitFolder) -> None:
    before = unit.contents()
    unit.change({"unit.py": b"changed", "data.bin.py": b"x", "tests/test_unit.py": None})
    unit.become(before)
    assert unit.contents() == before


def test_what_is_no_text_is_neither_read_nor_written_as_a_source(unit: UnitFolder) -> None:
    (unit.path / "picture.png").write_bytes(b"\x89PNG\0")
    assert "picture.png" in unit.contents()
    with pytest.raises(InvalidArgumentError, match="binary"):
        unit.text("picture.png")
    with pytest.raises(InvalidArgumentError, match="UTF-8"):
        unit.change({"x.py": b"\xff"})
    with pytest.raises(InvalidArgumentError, match="at most"):
        unit.change({"x.py": b"a" * (MAX_SOURCE_BYTES + 1)})


def test_a_unit_beyond_the_limits_is_none(unit: UnitFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.units.folder.MAX_UNIT_FILES", 3)
    with pytest.raises(InvalidUnitError, match="more than 3 files"):
        unit.read()
    monkeypatch.undo()
    monkeypatch.setattr("engine.units.folder.MAX_UNIT_BYTES", 3)
    with pytest.raises(InvalidUnitError, match="more than 3 bytes"):
        unit.read()


def test_tests_do_not_count_in_the_fingerprint_and_everything_else_does(unit: UnitFolder) -> None:
    before = unit.read().fingerprint
    unit.change({"tests/test_unit.py": b"def test_it(): pass\n"})
    assert unit.read().fingerprint == before
    unit.change({"data.txt": b"x"})
    assert unit.read().fingerprint != before


def test_a_unit_is_never_made_over_another(tmp_path: Path) -> None:
    made = make_unit(tmp_path, "dice", FILES)
    with pytest.raises(ConflictError, match="already exists"):
        make_unit(tmp_path, "dice", {"unit.toml": b""})
    assert made.contents() == FILES
    for name in ("Dice", "di ce", "../x", "", "a--b", "-a", "x" * 25, "a_b"):
        with pytest.raises(InvalidUnitError, match="no name of a unit"):
            make_unit(tmp_path, name, FILES)


def test_a_folder_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(EngineError):
        make_unit(tmp_path, "dice", {"unit.toml": b"", "unit.py": b"\xff"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = ", "not TOML"),
        ("tilte = 'x'", "no member 'tilte'"),
        ("kind = 'Py thon'", "small letters"),
        ("enabled = 1", "true or false"),
        ("title = 1", "must be a text"),
        ("python = 1", "must be a table"),
        ("[proxy]\nurl = 'x'", "no member 'proxy'"),
    ],
)
def test_a_manifest_says_what_is_wrong_with_it(text: str, said: str) -> None:
    with pytest.raises(InvalidUnitError, match=said):
        read_manifest(text)


def test_a_manifest_may_be_empty_and_hands_the_table_of_its_kind_on() -> None:
    assert (read_manifest("").kind, read_manifest("").enabled) == ("python", True)
    proxy = read_manifest("kind = 'proxy'\ntitle = 'P'\n[proxy]\nurl = 'http://x'\n")
    assert (proxy.kind, proxy.title, dict(proxy.settings)) == ("proxy", "P", {"url": "http://x"})


def test_a_hash_is_that_of_the_content() -> None:
    assert hash_of(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
