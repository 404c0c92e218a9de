"""Searching the workspace folder: what is found, how much is shown, and that no pattern can hang the machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from engine.errors import ConflictError, InvalidArgumentError, NotFoundError
from engine.files import WorkspaceFiles
from engine.search import MAX_MATCH_CHARACTERS, MAX_MATCHES, MAX_PATTERN_CHARACTERS, SearchMatch


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "b.py").write_text("import os\nprint('hello: world')\n")
    (folder / "src" / "a.txt").write_text("hello\nno\nhello again\n")
    (folder / "top.py").write_text("# hello\n")
    (tmp_path / "secret.txt").write_text("hello from outside\n")
    return folder


@pytest.fixture
def files(workspace: Path) -> WorkspaceFiles:
    return WorkspaceFiles(workspace)


def places(files: WorkspaceFiles, *arguments: str, include: str | None = None) -> list[str]:
    return [f"{match.path}:{match.line}" for match in files.search(*arguments, include=include).matches]


def test_matches_come_in_order_of_path_and_line_with_their_text(files: WorkspaceFiles) -> None:
    found = files.search("hello")
    assert found.matches == (
        SearchMatch(path="src/a.txt", line=1, text="hello"),
        SearchMatch(path="src/a.txt", line=3, text="hello again"),
        SearchMatch(path="src/b.py", line=2, text="print('hello: world')"),
        SearchMatch(path="top.py", line=1, text="# hello"),
    )
    assert (found.total, found.total_is_exact) == (4, True)


def test_the_search_can_start_in_a_folder_or_a_file(files: WorkspaceFiles) -> None:
    assert places(files, "hello", "src") == ["src/a.txt:1", "src/a.txt:3", "src/b.py:2"]
    assert places(files, "hello", "src/b.py") == ["src/b.py:2"]


def test_a_glob_chooses_files_by_name(files: WorkspaceFiles) -> None:
    assert places(files, "hello", include="*.py") == ["src/b.py:2", "top.py:1"]


def test_patterns_are_extended_regular_expressions(files: WorkspaceFiles) -> None:
    assert places(files, "^(import|#) .+$") == ["src/b.py:1", "top.py:1"]


def test_a_backslash_may_be_meant_as_such(files: WorkspaceFiles, workspace: Path) -> None:
    (workspace / "tex").write_text(r"a \delta" + "\n")
    assert places(files, r"\\delta\b") == ["tex:1"]


def test_no_match_is_an_empty_result(files: WorkspaceFiles) -> None:
    found = files.search("nowhere to be found")
    assert (found.matches, found.total, found.total_is_exact) == ((), 0, True)


def test_links_binary_files_and_fifos_are_passed_over(files: WorkspaceFiles, workspace: Path) -> None:
    (workspace / "link.txt").symlink_to(workspace.parent / "secret.txt")
    (workspace / "way").symlink_to(workspace.parent)
    (workspace / "blob.txt").write_bytes(b"hello\0")
    os.mkfifo(workspace / "fifo.txt")
    assert places(files, "hello", include="*.txt") == ["src/a.txt:1", "src/a.txt:3"]


def test_folders_that_nobody_writes_by_hand_are_left_out_unless_it_starts_there(
    files: WorkspaceFiles, workspace: Path
) -> None:
    (workspace / "node_modules" / "x").mkdir(parents=True)
    (workspace / "node_modules" / "x" / "i.js").write_text("hello")
    assert "node_modules/x/i.js:1" not in places(files, "hello")
    assert places(files, "hello", "node_modules") == ["node_modules/x/i.js:1"]


@pytest.mark.parametrize("name", ["-e", "two\nlines:7:x", "a:1:b", "c\\d"])
def test_odd_file_names_are_told_apart_from_what_is_in_them(files: WorkspaceFiles, workspace: Path, name: str) -> None:
    (workspace / "src" / name).write_text("odd one\n")
    assert files.search("odd").matches == (SearchMatch(path=f"src/{name}", line=1, text="odd one"),)


@pytest.mark.parametrize("pattern", ["--version", "-r", "$(touch pwned)", "'; touch pwned; '"])
def test_a_pattern_is_never_an_option_or_a_command(files: WorkspaceFiles, workspace: Path, pattern: str) -> None:
    assert files.search(pattern).matches == ()
    assert not list(workspace.rglob("pwned"))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", r"not one that grep -E takes: .*\("),
        ("", "from 1 to"),
        ("x" * (MAX_PATTERN_CHARACTERS + 1), "from 1 to"),
        ("a\nb", "line break"),
        ("a\0b", "NUL"),
        ("\ud800", "surrogate"),
        (r"\d+", r"'\\d'.*\[0-9\]"),
    ],
)
def test_a_pattern_that_makes_no_sense_is_refused(files: WorkspaceFiles, pattern: str, words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        files.search(pattern)


@pytest.mark.parametrize("include", ["", "src/*.py", "a\0b"])
def test_a_glob_that_is_none_for_names_is_refused(files: WorkspaceFiles, include: str) -> None:
    with pytest.raises(InvalidArgumentError, match="glob"):
        files.search("x", include=include)


def test_a_place_that_is_not_there_is_refused(files: WorkspaceFiles) -> None:
    with pytest.raises(NotFoundError):
        files.search("x", "nowhere")


def test_a_result_is_bounded_and_says_how_many_there_are(files: WorkspaceFiles, workspace: Path) -> None:
    (workspace / "many").write_text(("needle " + '"' * 1000 + "\n") * 3000)
    found = files.search("needle")
    assert (found.total, found.total_is_exact) == (3000, True)
    assert 0 < len(found.matches) < MAX_MATCHES
    assert all(len(match.text) <= MAX_MATCH_CHARACTERS for match in found.matches)
    shown = json.dumps([[match.path, match.line, match.text] for match in found.matches])
    assert len(shown) < 50 * 1024
    assert len(files.search("needle", limit=3).matches) == 3


def test_a_file_that_cannot_be_read_does_not_spoil_the_rest(files: WorkspaceFiles, workspace: Path) -> None:
    (workspace / "gone").mkdir()
    (workspace / "gone" / "private").write_text("hello")
    (workspace / "gone").chmod(0)
    try:
        assert "top.py:1" in places(files, "hello")
    finally:
        (workspace / "gone").chmod(0o700)


def test_a_search_that_finds_too_much_ends_and_says_so(
    files: WorkspaceFiles, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.search._LIMITED", 'ulimit -f 8; exec "$@"')
    (workspace / "many").write_text("needle\n" * 10_000)
    found = files.search("needle", limit=1)
    assert not found.total_is_exact
    assert 0 < found.total < 10_000


def test_a_search_that_takes_too_long_is_ended(
    files: WorkspaceFiles, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.search.SEARCH_TIMEOUT_SECONDS", 0.05)
    monkeypatch.setattr("engine.search._LIMITED", "exec sleep 60")
    with pytest.raises(ConflictError, match="narrow it"):
        files.search("hello")


@pytest.mark.slow
def test_a_pattern_that_asks_for_all_memory_is_refused(files: WorkspaceFiles) -> None:
    with pytest.raises((InvalidArgumentError, ConflictError)):
        files.search("((((a{1,200}){1,200}){1,200}){1,200}){1,200}")


def test_a_search_that_cannot_start_says_so(files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "run", refuse)
    with pytest.raises(ConflictError, match="Resource temporarily unavailable"):
        files.search("hello")


def test_without_grep_it_says_what_is_missing(files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: str) -> None:
        return None

    monkeypatch.setattr(shutil, "which", nothing)
    with pytest.raises(ConflictError, match="'grep', which is not installed"):
        files.search("hello")


def test_a_match_in_a_line_longer_than_all_output_is_counted_and_named(files: WorkspaceFiles, workspace: Path) -> None:
    (workspace / "huge.txt").write_text("short\nneedle" + "x" * 9_000_000 + "\n")
    found = files.search("needle")
    cut = SearchMatch(path="huge.txt", line=2, text="needle" + "x" * (MAX_MATCH_CHARACTERS - len("needle")))
    assert (found.matches, found.total, found.total_is_exact, found.ended_in) == ((cut,), 1, False, cut)
    assert files.search("needle", "huge.txt").ended_in == cut


def test_a_search_that_ends_between_ordinary_lines_names_none(files: WorkspaceFiles, workspace: Path) -> None:
    (workspace / "many.txt").write_text("needle and more\n" * 600_000)
    found = files.search("needle")
    assert not found.total_is_exact
    assert found.ended_in is None
