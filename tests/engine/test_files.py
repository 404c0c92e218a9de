"""The workspace folder: what is read, listed and written, within what bounds, and that nothing leaves it."""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import EngineError, ForbiddenError, InvalidArgumentError, NotFoundError
from engine.files import (
    MAX_ENTRIES,
    MAX_FILE_BYTES,
    MAX_WRITE_BYTES,
    FolderEntry,
    TextPage,
    WorkspaceFiles,
    WrittenFile,
)
from engine.printed import MAX_RESULT_BYTES, MAX_RESULT_LINES
from engine.workspace_path import MAX_PATH_CHARACTERS, entry_mode

SHOWN_BYTES = 50 * 1024


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "plan.md").write_text("one\ntwo\nthree\n")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "outside").mkdir()
    return folder


@pytest.fixture
def files(workspace: Path) -> WorkspaceFiles:
    return WorkspaceFiles(workspace)


def test_a_workspace_must_exist(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        WorkspaceFiles(tmp_path / "nowhere")


def test_the_workspace_itself_may_be_a_link(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(workspace)
    files = WorkspaceFiles(tmp_path / "link")
    assert files.root == workspace
    assert files.read_text(str(workspace / "notes" / "plan.md")).text == "one\ntwo\nthree\n"


def test_an_entry_is_told_without_being_opened(files: WorkspaceFiles, workspace: Path) -> None:
    (workspace / "link").symlink_to("/etc/passwd")
    entry = files.entry("./notes/plan.md")
    assert entry == FolderEntry(name="plan.md", path="notes/plan.md", kind="file", size_bytes=14)
    assert files.entry("notes") == FolderEntry(name="notes", path="notes", kind="folder")
    assert files.entry("link").kind == "link"
    for path, error in (("nowhere", NotFoundError), ("../secret.txt", ForbiddenError), (".", InvalidArgumentError)):
        with pytest.raises(error):
            files.entry(path)


# Reading


def test_a_small_file_is_read_whole(files: WorkspaceFiles) -> None:
    assert files.read_text("notes/plan.md") == TextPage(
        path="notes/plan.md", text="one\ntwo\nthree\n", first_line=1, line_count=3, total_lines=3, size_bytes=14
    )


@pytest.mark.parametrize("path", ["notes/plan.md", "./notes//plan.md", "{root}/notes/plan.md"])
def test_a_path_is_relative_or_absolute_inside(files: WorkspaceFiles, path: str) -> None:
    assert files.read_text(path.format(root=files.root)).path == "notes/plan.md"


def test_a_page_says_where_to_go_on(files: WorkspaceFiles) -> None:
    page = files.read_text("notes/plan.md", offset=2, limit=1)
    assert (page.text, page.first_line, page.next_offset) == ("two\n", 2, 3)
    assert files.read_text("notes/plan.md", offset=3).next_offset is None


def test_an_empty_file_is_an_empty_page(files: WorkspaceFiles, workspace: Path) -> None:
    (workspace / "empty").touch()
    page = files.read_text("empty")
    assert (page.text, page.line_count, page.total_lines, page.next_offset) == ("", 0, 0, None)


@settings(max_examples=40, deadline=None)
@given(
    st.text(st.sampled_from(["a", "\n", "\r", "\u2028", "é", "\x0b"]), max_size=40),
    st.integers(1, 5),
)
def test_the_pages_of_a_file_together_are_the_file(
    tmp_path_factory: pytest.TempPathFactory, text: str, limit: int
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "text").write_bytes(text.encode())
    files = WorkspaceFiles(folder)
    pages, offset = "", 1
    while offset:
        page = files.read_text("text", offset=offset, limit=limit)
        pages += page.text
        offset = page.next_offset or 0
    assert pages == text


@pytest.mark.parametrize("line", ["x" * 100, '"\\' * 50, "é" * 50, "\x01" * 100, ""])
def test_a_page_stays_below_what_clients_show(files: WorkspaceFiles, workspace: Path, line: str) -> None:
    (workspace / "long").write_text(f"{line}\n" * 5000)
    page = files.read_text("long")
    assert len(json.dumps(page.text, ensure_ascii=False).encode()) < SHOWN_BYTES
    assert page.line_count <= MAX_RESULT_LINES
    assert page.next_offset == page.line_count + 1


def test_a_line_that_is_too_long_is_begun_and_the_next_can_be_read(files: WorkspaceFiles, workspace: Path) -> None:
    (workspace / "min.js").write_text("\x01" * 200_000 + "\nshort")
    page = files.read_text("min.js")
    assert page.line_is_cut
    assert 0 < len(page.text) <= MAX_RESULT_BYTES
    assert page.next_offset == 2
    assert files.read_text("min.js", offset=2).text == "short"


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"GIF\x00data", "NUL bytes"), (b"caf\xe9", "not UTF-8 text \\(byte 3"), (b"\xff\xfea", "UTF-8")],
)
def test_what_is_no_text_is_refused(files: WorkspaceFiles, workspace: Path, content: bytes, words: str) -> None:
    (workspace / "blob").write_bytes(content)
    with pytest.raises(InvalidArgumentError, match=words):
        files.read_text("blob")


def test_a_file_that_is_too_large_is_refused(files: WorkspaceFiles, workspace: Path) -> None:
    with (workspace / "huge").open("wb") as sparse:
        sparse.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(InvalidArgumentError, match=str(MAX_FILE_BYTES)):
        files.read_text("huge")


@pytest.mark.parametrize(("offset", "limit"), [(0, 1), (1, 0), (-3, 1), (4, 1)])
def test_a_place_that_is_not_in_the_file_is_refused(files: WorkspaceFiles, offset: int, limit: int) -> None:
    with pytest.raises(InvalidArgumentError, match=r"at least|beyond the end: 'notes/plan.md' has 3 lines"):
        files.read_text("notes/plan.md", offset, limit)


# Paths


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("../secret.txt", ForbiddenError, r"'\.\.'"),
        ("notes/../notes/plan.md", ForbiddenError, r"'\.\.'"),
        ("/etc/passwd", ForbiddenError, "outside the workspace"),
        ("{root}-twin/plan.md", ForbiddenError, "outside the workspace"),
        ("{root}/../secret.txt", ForbiddenError, r"'\.\.'"),
        ("nothing.md", NotFoundError, "no 'nothing.md'"),
        ("nothing/plan.md", NotFoundError, "no 'nothing'"),
        ("notes/plan.md/deeper", InvalidArgumentError, "is a file, not a folder"),
        ("notes", InvalidArgumentError, "is a folder, not a file"),
        ("notes/", InvalidArgumentError, "names a folder"),
        ("", InvalidArgumentError, "names a folder"),
        (".", InvalidArgumentError, "names a folder"),
        ("no\0tes", InvalidArgumentError, "NUL"),
        ("\ud800", InvalidArgumentError, "no file name can hold"),
        ("n" * 300, InvalidArgumentError, "too long"),
        ("n/" * MAX_PATH_CHARACTERS, InvalidArgumentError, "at most"),
        ("~/plan.md", NotFoundError, "no '~'"),
    ],
)
def test_a_path_that_leads_nowhere_good_is_refused_saying_why(
    files: WorkspaceFiles, path: str, error: type[EngineError], words: str
) -> None:
    with pytest.raises(error, match=words):
        files.read_text(path.format(root=files.root))


def link_to_file(workspace: Path) -> str:
    (workspace / "link").symlink_to(workspace.parent / "secret.txt")
    return "link"


def link_to_a_file_inside(workspace: Path) -> str:
    (workspace / "link").symlink_to("notes/plan.md")
    return "link"


def dangling_link(workspace: Path) -> str:
    (workspace / "link").symlink_to(workspace.parent / "not-yet")
    return "link"


def link_to_itself(workspace: Path) -> str:
    (workspace / "link").symlink_to("link")
    return "link"


def link_on_the_way(workspace: Path) -> str:
    (workspace / "way").symlink_to(workspace.parent)
    return "way/secret.txt"


def fifo(workspace: Path) -> str:
    os.mkfifo(workspace / "fifo")
    return "fifo"


def a_socket(workspace: Path) -> str:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(workspace / "s"))
    listener.close()
    return "s"


def read(files: WorkspaceFiles, path: str) -> object:
    return files.read_text(path)


def overwrite(files: WorkspaceFiles, path: str) -> object:
    return files.write_text(path, "overwritten", create_folders=True)


def search(files: WorkspaceFiles, path: str) -> object:
    return files.search("secret", path)


ODD_ENTRIES = [link_to_file, link_to_a_file_inside, dangling_link, link_to_itself, link_on_the_way, fifo, a_socket]


@pytest.mark.parametrize("making", ODD_ENTRIES)
@pytest.mark.parametrize("use", [read, overwrite, search])
def test_links_and_devices_are_refused_whatever_is_asked(
    files: WorkspaceFiles, workspace: Path, making: Callable[[Path], str], use: Callable[[WorkspaceFiles, str], object]
) -> None:
    path = making(workspace)
    before = sorted((entry.name, entry.lstat().st_mode) for entry in workspace.parent.rglob("*"))
    with pytest.raises((ForbiddenError, InvalidArgumentError), match=r"symbolic link|fifo|not a folder"):
        use(files, path)
    assert sorted((entry.name, entry.lstat().st_mode) for entry in workspace.parent.rglob("*")) == before
    assert (workspace.parent / "secret.txt").read_text() == "secret"


def swap(monkeypatch: pytest.MonkeyPatch, when: str, swapping: Callable[[], None]) -> None:
    """Let something else take an entry's place right after it was looked at."""
    looked = False

    def look(folder: int, parts: tuple[str, ...]) -> int | None:
        nonlocal looked
        mode = entry_mode(folder, parts)
        if parts[-1] == when and not looked:
            looked = True
            swapping()
        return mode

    monkeypatch.setattr("engine.workspace_path.entry_mode", look)
    monkeypatch.setattr("engine.files.entry_mode", look)


def test_a_file_that_is_swapped_for_a_link_after_the_check_is_not_followed(
    files: WorkspaceFiles, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swapping() -> None:
        (workspace / "notes" / "plan.md").unlink()
        (workspace / "notes" / "plan.md").symlink_to(workspace.parent / "secret.txt")

    swap(monkeypatch, "plan.md", swapping)
    with pytest.raises(ForbiddenError, match="changed its kind"):
        files.read_text("notes/plan.md")


def test_a_folder_that_is_swapped_for_a_link_after_the_check_is_not_entered(
    files: WorkspaceFiles, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swapping() -> None:
        (workspace / "notes").rename(workspace / "moved")
        (workspace / "notes").symlink_to(workspace.parent / "outside")

    swap(monkeypatch, "notes", swapping)
    with pytest.raises(ForbiddenError, match="changed its kind"):
        files.write_text("notes/new.md", "text")
    assert not list((workspace.parent / "outside").iterdir())


def test_a_file_that_is_swapped_for_a_fifo_after_the_check_does_not_hang(
    files: WorkspaceFiles, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swapping() -> None:
        (workspace / "notes" / "plan.md").unlink()
        os.mkfifo(workspace / "notes" / "plan.md")

    swap(monkeypatch, "plan.md", swapping)
    with pytest.raises(ForbiddenError, match="fifo"):
        files.read_text("notes/plan.md")


def test_a_target_that_is_swapped_for_a_link_is_replaced_and_not_followed(
    files: WorkspaceFiles, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swapping() -> None:
        (workspace / "new.md").symlink_to(workspace.parent / "secret.txt")

    swap(monkeypatch, "new.md", swapping)
    files.write_text("new.md", "text")
    assert (workspace.parent / "secret.txt").read_text() == "secret"
    assert (workspace / "new.md").read_text() == "text"


def test_a_folder_for_a_process_is_given_only_inside(files: WorkspaceFiles, workspace: Path) -> None:
    assert files.folder("notes") == workspace / "notes"
    assert files.folder(".") == workspace
    link_on_the_way(workspace)
    for path in ("way", "..", "/", "notes/plan.md", "nowhere"):
        with pytest.raises(EngineError):
            files.folder(path)


# Listing


def test_a_folder_is_listed_in_order_of_names_with_kinds_and_sizes(files: WorkspaceFiles, workspace: Path) -> None:
    link_to_file(workspace)
    fifo(workspace)
    (workspace / "b.txt").write_text("bb")
    page = files.list()
    assert page.entries == (
        FolderEntry(name="b.txt", path="b.txt", kind="file", size_bytes=2),
        FolderEntry(name="fifo", path="fifo", kind="other"),
        FolderEntry(name="link", path="link", kind="link"),
        FolderEntry(name="notes", path="notes", kind="folder"),
    )
    assert (page.path, page.total, page.next_offset) == (".", 4, None)
    assert files.list("notes").entries[0].path == "notes/plan.md"


def test_a_long_listing_comes_in_pages_that_together_are_all(files: WorkspaceFiles, workspace: Path) -> None:
    names = sorted(f"{number:04}-{'n' * 100}" for number in range(MAX_ENTRIES + 100))
    for name in names:
        (workspace / "notes" / name).touch()
    found: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = files.list("notes", offset=offset)
        assert page.total == len(names) + 1
        assert len(json.dumps([[entry.name, entry.path] for entry in page.entries])) < SHOWN_BYTES
        found += [entry.name for entry in page.entries]
        offset = page.next_offset
    assert found == [*names, "plan.md"]


def test_a_name_that_is_no_utf8_can_be_shown(files: WorkspaceFiles, workspace: Path) -> None:
    (workspace / os.fsdecode(b"caf\xe9")).touch()
    assert files.list().entries[0].name == "caf\ufffd"


@pytest.mark.parametrize(("path", "offset"), [("notes/plan.md", 0), ("notes", 2), ("notes", -1), ("nowhere", 0)])
def test_what_cannot_be_listed_is_refused(files: WorkspaceFiles, path: str, offset: int) -> None:
    with pytest.raises((InvalidArgumentError, NotFoundError)):
        files.list(path, offset)


# Writing


def test_a_new_file_is_written(files: WorkspaceFiles, workspace: Path) -> None:
    written = files.write_text("notes/new.md", "grüß\r\n")
    assert written == WrittenFile(path="notes/new.md", size_bytes=8, created=True, changed=True)
    assert (workspace / "notes" / "new.md").read_bytes() == "grüß\r\n".encode()


def test_a_file_is_replaced_and_keeps_its_permissions(files: WorkspaceFiles, workspace: Path) -> None:
    script = workspace / "run.sh"
    script.write_text("old")
    script.chmod(0o4750)
    assert files.write_text("run.sh", "new") == WrittenFile(path="run.sh", size_bytes=3, created=False, changed=True)
    assert (script.read_text(), stat.S_IMODE(script.stat().st_mode)) == ("new", 0o750)


def test_a_new_file_has_the_permissions_that_the_umask_leaves(files: WorkspaceFiles, workspace: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write_text("new", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((workspace / "new").stat().st_mode) == 0o640


def test_writing_what_is_there_already_changes_nothing_and_says_so(files: WorkspaceFiles, workspace: Path) -> None:
    before = (workspace / "notes" / "plan.md").stat()
    assert not files.write_text("notes/plan.md", "one\ntwo\nthree\n").changed
    assert (workspace / "notes" / "plan.md").stat() == before


def test_missing_folders_are_made_only_when_asked(files: WorkspaceFiles, workspace: Path) -> None:
    with pytest.raises(NotFoundError, match="no 'a'"):
        files.write_text("a/b/c.txt", "text")
    files.write_text("a/b/c.txt", "text", create_folders=True)
    assert (workspace / "a" / "b" / "c.txt").read_text() == "text"


def test_the_refusal_for_a_missing_folder_names_what_would_make_it(files: WorkspaceFiles, workspace: Path) -> None:
    with pytest.raises(NotFoundError, match=r"no 'away' in the workspace folder\. Set create_folders to true"):
        files.write_text("away/deep/note.txt", "text")
    assert not (workspace / "away").exists()


def test_folders_that_were_made_go_again_when_the_writing_fails(files: WorkspaceFiles, workspace: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="too long"):
        files.write_text(f"a/b/{'n' * 300}", "text", create_folders=True)
    with pytest.raises(InvalidArgumentError, match="too long"):
        files.write_text(f"a/b/{'n' * 300}/c", "text", create_folders=True)
    assert not (workspace / "a").exists()


@pytest.mark.parametrize(
    ("content", "words"), [("\ud800", "surrogate pair at character 0"), ("é" * (MAX_WRITE_BYTES // 2 + 1), "at most")]
)
def test_content_that_cannot_be_written_is_refused(
    files: WorkspaceFiles, workspace: Path, content: str, words: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        files.write_text("a/new", content, create_folders=True)
    assert [entry.name for entry in workspace.iterdir()] == ["notes"]


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/post-commit",
        ".git/config",
        ".git",
        "notes/.git/hooks/pre-push",
        "./notes//.git/new/config",
        "{root}/.git/hooks/post-commit",
        ".GIT/hooks/post-commit",
        ".Git/config",
        "GIT~1/config",
        ".git. /config",
        ".g\u200cit/config",
    ],
)
def test_what_git_would_run_is_never_written(files: WorkspaceFiles, workspace: Path, path: str) -> None:
    (workspace / ".git" / "hooks").mkdir(parents=True)
    (workspace / ".git" / "config").write_text("[core]\n")
    with pytest.raises(ForbiddenError, match=r"inside a '\.git'.*Git runs the hooks.*space_app_run_bash"):
        files.write_text(path.format(root=files.root), "touch /tmp/hooked", create_folders=True)
    assert sorted(entry.name for entry in workspace.iterdir()) == [".git", "notes"]
    assert sorted(entry.name for entry in (workspace / ".git").rglob("*")) == ["config", "hooks"]
    assert [entry.name for entry in (workspace / "notes").iterdir()] == ["plan.md"]
    assert files.read_text(".git/config").text == "[core]\n"


@pytest.mark.parametrize("root", ["repository/.git", "repository/.git/hooks", "repository/.GIT/modules/part"])
def test_nothing_is_written_in_a_workspace_that_is_inside_a_git_folder(tmp_path: Path, root: str) -> None:
    (tmp_path / root).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / root)
    for files in (WorkspaceFiles(tmp_path / root), WorkspaceFiles(tmp_path / "link")):
        with pytest.raises(ForbiddenError, match=r"workspace folder is inside a '\.git'"):
            files.write_text("post-commit", "touch /tmp/hooked")
    assert list((tmp_path / root).iterdir()) == []


def test_a_link_into_a_git_folder_is_not_written_through(files: WorkspaceFiles, workspace: Path) -> None:
    (workspace / ".git" / "hooks").mkdir(parents=True)
    (workspace / "notes" / "hooks").symlink_to(workspace / ".git" / "hooks")
    with pytest.raises(ForbiddenError, match="symbolic link"):
        files.write_text("notes/hooks/post-commit", "touch /tmp/hooked")
    assert list((workspace / ".git" / "hooks").iterdir()) == []


@pytest.mark.parametrize("path", [".gitignore", ".github/workflows/check.yml", "git/notes.md", "x.git/readme"])
def test_what_only_sounds_like_git_is_written(files: WorkspaceFiles, path: str) -> None:
    assert files.write_text(path, "text", create_folders=True).created


def test_a_folder_cannot_be_written_to(files: WorkspaceFiles) -> None:
    with pytest.raises(InvalidArgumentError, match="is a folder, not a file"):
        files.write_text("notes", "text")


def test_a_failed_write_leaves_the_old_content_and_no_other_file(
    files: WorkspaceFiles, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EngineError, match="No space left"):
        files.write_text("notes/plan.md", "new")
    assert (workspace / "notes" / "plan.md").read_text() == "one\ntwo\nthree\n"
    assert [entry.name for entry in (workspace / "notes").iterdir()] == ["plan.md"]


def test_a_read_only_file_is_not_overwritten(
    files: WorkspaceFiles, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Asked of the system rather than tried, since a superuser may write whatever the permissions say.
    def may_not(*_: object, **__: object) -> bool:
        return False

    monkeypatch.setattr(os, "access", may_not)
    with pytest.raises(ForbiddenError, match="read-only"):
        files.write_text("notes/plan.md", "new")
    assert (workspace / "notes" / "plan.md").read_text() == "one\ntwo\nthree\n"


def test_no_descriptor_stays_open_whatever_happens(files: WorkspaceFiles, workspace: Path) -> None:
    making = [making(workspace) for making in (fifo, link_on_the_way)]
    before = sorted(os.listdir("/proc/self/fd"))
    for path in ["notes/plan.md", "nowhere/x", "notes", "notes/plan.md/x", *making]:
        for use in (read, overwrite, search, WorkspaceFiles.list, WorkspaceFiles.folder):
            with suppress(EngineError):
                use(files, path)
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_nothing_of_the_private_folder_is_shown_or_written(tmp_path: Path) -> None:
    data = tmp_path / "home" / ".local" / "space"
    data.mkdir(parents=True)
    (data / "keys.json").write_text("a secret")
    (tmp_path / "home" / "notes.txt").write_text("no secret")
    files = WorkspaceFiles(tmp_path / "home", data)
    for path in (".local/space/keys.json", ".LOCAL/Space/keys.json", str(data / "keys.json")):
        for work in (files.read_text, files.read_bytes, files.entry, partial(files.write_text, content="x")):
            with pytest.raises(ForbiddenError, match="its own data"):
                work(path)
    with pytest.raises(ForbiddenError, match="its own data"):
        files.list(".local/space")
    assert [entry.name for entry in files.list(".local").entries] == ["space"]
    assert [match.path for match in files.search("secret").matches] == ["notes.txt"]
    with pytest.raises(ForbiddenError, match="its own data"):
        files.search("secret", ".local/space")


def test_a_workspace_inside_the_private_folder_shows_nothing(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    with pytest.raises(ForbiddenError, match="its own data"):
        WorkspaceFiles(tmp_path / "inside", tmp_path).list()
