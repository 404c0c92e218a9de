"""Unified diffs: read, checked against the files, and applied in memory, all of it or nothing. Never touches a disk.

Strict unless told otherwise: a hunk stands at the line that it names, and every line that it keeps or removes is there
exactly. A mismatch says which hunk, which line, and what stands there instead: whoever wrote the patch reads that.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.errors import InvalidArgumentError

MAX_PATCH_CHARACTERS = 512 * 1024
"""Of one patch; half of the longest source."""

MAX_PATCHED_FILES = 500
"""Of one patch: as many as a unit has."""

MAX_COMPARED_LINES = 5_000_000
"""Of a file, with those of hunks that do not stand where they say: a second, and some thousands for any real patch.

Where most lines look the same it could take hours otherwise.
"""

MAX_PLACES_SHOWN = 5
"""Of the places where a hunk would fit, in a message; the nearest."""

_SHOWN = 120
"""Characters of a line that a message repeats."""

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: .*)?")
_ENVELOPE = re.compile(r"\*\*\* (Update|Add|Delete) File: (.+)")
_NO_NEWLINE = "\\ No newline"
_SKIPPED = ("diff ", "index ", "new file mode", "deleted file mode", "*** Begin Patch", "*** End Patch")
_REFUSED = ("rename ", "copy ", "similarity ", "old mode", "new mode", "GIT binary", "Binary files")

Action = Literal["change", "create", "delete"]


class PatchError(InvalidArgumentError):
    """Raised for a text that is no unified diff, and for a diff that does not fit the files. Nothing has changed."""


@dataclass(frozen=True, slots=True)
class HunkLine:
    """One line of a hunk: kept (` `), removed (`-`) or added (`+`), with its line break unless it has none."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk. `number` counts from 1 within its file; `start` and `count` are lines of the old file, from 1."""

    number: int
    header: str
    start: int
    count: int
    lines: tuple[HunkLine, ...]

    @property
    def old(self) -> tuple[str, ...]:
        """The lines that must be there."""
        return tuple(line.text for line in self.lines if line.sign != "+")

    @property
    def new(self) -> tuple[str, ...]:
        """The lines that stand there afterwards."""
        return tuple(line.text for line in self.lines if line.sign != "-")


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch does to one file."""

    path: str
    action: Action
    hunks: tuple[Hunk, ...]


def parse_patch(text: str, default_path: str | None = None) -> tuple[FilePatch, ...]:
    """The files that a patch changes. `default_path` is the file of hunks that stand below no header.

    Raises `PatchError`, naming the line of the patch.
    """
    if len(text) > MAX_PATCH_CHARACTERS:
        raise PatchError(f"the patch has {len(text)} characters; at most {MAX_PATCH_CHARACTERS} are taken")
    found = _Reader(text, default_path).read()
    if not found:
        raise PatchError(
            "the patch changes nothing: it has no hunk. A unified diff names the file (--- a/unit.py, +++ b/unit.py), "
            "and then come hunks such as @@ -3,2 +3,3 @@ with lines that begin with a space, - or +"
        )
    return found


def apply_patches(
    files: Mapping[str, str], patches: Sequence[FilePatch], *, anywhere: bool = False
) -> dict[str, str | None]:
    """The files as the patches leave them: only those that they name, None where one is deleted.

    `files` are the contents of those that exist. With `anywhere` a hunk that does not stand at its line may stand where
    its lines occur exactly once. Raises `PatchError`, and nothing counts.
    """
    results: dict[str, str | None] = {}
    for patch in patches:
        before = files.get(patch.path)
        if patch.action == "create":
            if before is not None:
                raise PatchError(f"{patch.path!r} already exists, and the patch would create it; change it instead")
            results[patch.path] = "".join(line for hunk in patch.hunks for line in hunk.new)
            continue
        if before is None:
            raise PatchError(f"{patch.path!r} was not found, and the patch would {patch.action} it")
        after = _patched(patch, before, anywhere=anywhere)
        if patch.action == "delete":
            if after and patch.hunks:
                raise PatchError(
                    f"the patch deletes {patch.path!r}, but not all of its lines; something is left: {_shown(after)}"
                )
            results[patch.path] = None
        else:
            results[patch.path] = after
    return results


def replace_once(path: str, text: str, old: str, new: str) -> str:
    """The text with `old`, which must occur exactly once, replaced. Raises `PatchError` otherwise.

    In a file whose line breaks are all those of Windows they may be plain line feeds here, and stay what they are.
    """
    if not old:
        raise PatchError("old is empty; give the text that is to be replaced")
    if "\r\n" in text and text.count("\n") == text.count("\r\n"):
        # Models read these breaks as line feeds, and write them so.
        old, new = _as_windows(old), _as_windows(new)
    count = text.count(old)
    if count == 1:
        return text.replace(old, new)
    if count:
        raise PatchError(
            f"{path!r}: old text occurs {count} times, and must occur exactly once; give a longer piece, exactly as it "
            f"stands there: {_shown(old)}"
        )
    if _as_unix(old) in _as_unix(text):
        raise PatchError(
            f"{path!r}: old text is there but for its line breaks: some of the file's are \\r\\n and some \\n. Give a "
            f"piece of one line, or a patch: {_shown(old)}"
        )
    raise PatchError(
        f"{path!r}: old text was not found; read the file again, and give a piece exactly as it stands there, with its "
        f"indentation: {_shown(old)}"
    )


def _as_windows(text: str) -> str:
    return _as_unix(text).replace("\n", "\r\n")


def _as_unix(text: str) -> str:
    return text.replace("\r\n", "\n")


def _patched(patch: FilePatch, before: str, *, anywhere: bool) -> str:
    lines = _split(before)
    plain = [_plain(line) for line in lines]
    ending = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
    where = _Lines(patch.path, plain)
    made: list[str] = []
    at = 0
    for hunk in patch.hunks:
        place = where.place(hunk, at, anywhere=anywhere)
        made += lines[at:place]
        at = place
        for line in hunk.lines:
            if line.sign == "+":
                made.append(line.text.replace("\n", ending))
            else:
                if line.sign == " ":
                    made.append(lines[at])
                at += 1
    made += lines[at:]
    for number, line in enumerate(made[:-1], start=1):
        if not line.endswith("\n"):
            raise PatchError(
                f"{patch.path!r}: after the patch, line {number} would have no line break and others would follow it; "
                "remove that last line and add it again"
            )
    return "".join(made)


class _Lines:
    """The lines of one file, and where each of them stands, so that a hunk is found without reading all of it again."""

    def __init__(self, path: str, lines: Sequence[str]) -> None:
        self._path = path
        self._lines = lines
        self._places: dict[str, list[int]] | None = None
        self._compared = 0

    def place(self, hunk: Hunk, at: int, *, anywhere: bool) -> int:
        """The index of the line at which the hunk begins, from `at` on. Raises `PatchError`."""
        # A hunk without old lines names the line after which it inserts.
        wanted = hunk.start if hunk.count == 0 else hunk.start - 1
        old = hunk.old
        problem = _mismatch(old, self._lines, wanted, at)
        if problem is None:
            return wanted
        where = f"hunk {hunk.number} of {self._path!r} ({hunk.header}) does not fit: {problem}"
        found = self._found(old, at, wanted, where)
        if anywhere and len(found) == 1:
            return found[0]
        if not found:
            raise PatchError(
                f"{where}. Its lines stand nowhere else in the file; read it again and write the hunk anew."
            )
        numbers = ", ".join(str(index + 1) for index in sorted(found[:MAX_PLACES_SHOWN]))
        if len(found) == 1:
            raise PatchError(
                f"{where}. Its lines stand at line {numbers}: correct the header, or set anywhere to true to have it "
                "found."
            )
        more = " and at more" if len(found) > MAX_PLACES_SHOWN else ""
        raise PatchError(
            f"{where}. Its lines stand at lines {numbers}{more}; keep more lines around it to say which is meant."
        )

    def _found(self, old: Sequence[str], at: int, wanted: int, where: str) -> list[int]:
        """Where these lines stand from `at` on, the nearest first, and no more than say that there are many."""
        if not old:
            return []
        wanted_lines = list(old)
        rarest, offset = self._rarest(old)
        found: list[int] = []
        for index in _nearest(rarest, wanted + offset, at + offset):
            begin = index - offset
            self._compared += len(old)
            if self._compared > MAX_COMPARED_LINES:
                raise PatchError(
                    f"{where}. Too many lines of the file look like those of the hunks, and after "
                    f"{MAX_COMPARED_LINES} comparisons it was given up: correct the line numbers of the headers, which "
                    "needs no search, or give old and new."
                )
            if self._lines[begin : begin + len(old)] == wanted_lines:
                found.append(begin)
                if len(found) > MAX_PLACES_SHOWN:
                    break
        return found

    def _rarest(self, old: Sequence[str]) -> tuple[Sequence[int], int]:
        """Where that line of these stands that the file has least often, and the how manieth of them it is."""
        if self._places is None:
            self._places = {}
            for index, line in enumerate(self._lines):
                self._places.setdefault(line, []).append(index)
        places = [self._places.get(line, ()) for line in old]
        offset = min(range(len(old)), key=lambda number: len(places[number]))
        return places[offset], offset


def _nearest(places: Sequence[int], wanted: int, first: int) -> Iterator[int]:
    """Those of the places, which rise, that are not before `first`, from the nearest to `wanted` on."""
    bottom = bisect_left(places, first)
    above = bisect_left(places, wanted, bottom)
    below = above - 1
    while below >= bottom or above < len(places):
        if below < bottom or (above < len(places) and places[above] - wanted <= wanted - places[below]):
            yield places[above]
            above += 1
        else:
            yield places[below]
            below -= 1


def _mismatch(olds: Sequence[str], lines: Sequence[str], wanted: int, at: int) -> str | None:
    if wanted < at:
        return f"it begins at line {wanted + 1}, before the end of the hunk before it (line {at})"
    if wanted > len(lines):
        return f"it begins at line {wanted + 1}, and the file has {len(lines)} lines"
    for offset, old in enumerate(olds):
        index = wanted + offset
        if index >= len(lines):
            return f"line {index + 1} should be {_shown(old)}, but the file ends after line {len(lines)}"
        if lines[index] == old:
            continue
        if lines[index].rstrip("\n") == old.rstrip("\n"):
            has = "has no line break" if old.endswith("\n") else "has a line break"
            return (
                f"line {index + 1} is right but for its end: in the file it {has} "
                f"(a line {_NO_NEWLINE + ' at end of file'!r} after it says that there is none)"
            )
        return f"line {index + 1} should be {_shown(old)}, but there stands {_shown(lines[index])}"
    return None


class _Reader:
    """Goes through the lines of a patch. `at` is the index of the line that is next."""

    def __init__(self, text: str, default_path: str | None) -> None:
        self._lines = _split(text)
        self._at = 0
        self._found: list[FilePatch] = []
        self._path = default_path
        self._action: Action = "change"
        self._hunks: list[Hunk] = []
        self._old_path: str | None = None
        self._named = False
        self._seen: set[str] = set()

    def read(self) -> tuple[FilePatch, ...]:
        while self._at < len(self._lines):
            line = _plain(self._lines[self._at]).rstrip("\n")
            if line.startswith("@@"):
                self._hunk(line)
                continue
            if line.startswith(_REFUSED):
                raise self._fault(f"{_shown(line)} is not taken: a patch changes, creates and deletes files of text")
            if envelope := _ENVELOPE.fullmatch(line):
                actions: dict[str, Action] = {"Update": "change", "Add": "create", "Delete": "delete"}
                self._begin(_stripped(envelope[2].strip()), actions[envelope[1]])
            elif line.startswith("--- "):
                self._finish()
                self._old_path = _named_path(line)
            elif line.startswith("+++ "):
                self._new_file(_named_path(line))
            elif line.strip() and not line.startswith(_SKIPPED):
                raise self._fault(
                    f"{_shown(line)} belongs to no hunk. In a hunk, lines begin with a space (kept), - or +, and their "
                    "number is that of the header"
                )
            self._at += 1
        self._finish()
        return tuple(self._found)

    def _new_file(self, new: str | None) -> None:
        old = self._old_path
        if old is None and new is None:
            raise self._fault("both names are /dev/null; one of them is the file")
        if old is not None and new is not None and old != new:
            raise self._fault(f"it would rename {old!r} to {new!r}; delete the one and create the other")
        self._begin(new or old or "", "create" if old is None else "delete" if new is None else "change")

    def _begin(self, path: str, action: Action) -> None:
        self._finish()
        self._path, self._action, self._named = path, action, True

    def _finish(self) -> None:
        if self._path is not None and (self._hunks or (self._named and self._action != "change")):
            if self._path in self._seen:
                raise self._fault(f"{self._path!r} stands in the patch twice; put its hunks together")
            if len(self._found) == MAX_PATCHED_FILES:
                raise self._fault(f"it names more than {MAX_PATCHED_FILES} files; make several patches of it")
            self._seen.add(self._path)
            self._found.append(FilePatch(self._path, self._action, tuple(self._hunks)))
        self._hunks = []
        self._named = False
        self._action = "change"

    def _hunk(self, header: str) -> None:
        match = _HUNK.fullmatch(header)
        if match is None:
            raise self._fault(f"{_shown(header)} is no header of a hunk; one is @@ -3,2 +3,3 @@")
        if self._path is None:
            raise self._fault("the hunk stands below no file; name it first (--- a/unit.py, +++ b/unit.py)")
        old_count, new_count = (1 if text is None else int(text) for text in (match[2], match[4]))
        start = int(match[1])
        if old_count and start == 0:
            raise self._fault(f"{_shown(header)}: lines count from 1")
        number = len(self._hunks) + 1
        self._at += 1
        lines: list[HunkLine] = []
        olds = news = 0
        while olds < old_count or news < new_count:
            if self._at >= len(self._lines):
                raise self._short(number, header, old_count, new_count, olds, news)
            line = _plain(self._lines[self._at])
            line = line if line.endswith("\n") else line + "\n"
            # Editors and models cut the space that alone stands for an empty kept line.
            sign, text = (" ", "\n") if line == "\n" else (line[0], line[1:])
            if sign not in " -+":
                raise self._short(number, header, old_count, new_count, olds, news)
            olds += sign != "+"
            news += sign != "-"
            if olds > old_count or news > new_count:
                raise self._short(number, header, old_count, new_count, olds, news)
            self._at += 1
            if self._at < len(self._lines) and self._lines[self._at].startswith(_NO_NEWLINE):
                text = text.rstrip("\n")
                self._at += 1
            lines.append(HunkLine(sign, text))
        following = self._lines[self._at] if self._at < len(self._lines) else ""
        if following[:1] in (" ", "+", "-") and not following.startswith(("--- ", "+++ ")):
            raise self._short(number, header, old_count, new_count, olds + 1, news + 1)
        self._hunks.append(Hunk(number, header, start, old_count, tuple(lines)))

    def _short(self, number: int, header: str, old: int, new: int, olds: int, news: int) -> PatchError:
        return self._fault(
            f"hunk {number} ({header}) should have {old} old lines (space or -) and {new} new ones (space or +), "
            f"and has {'more' if olds > old or news > new else f'{olds} and {news}'}; count them again"
        )

    def _fault(self, what: str) -> PatchError:
        return PatchError(f"line {min(self._at + 1, len(self._lines))} of the patch: {what}")


def _named_path(line: str) -> str | None:
    # Tools write a tab and a time after the name.
    name = line[4:].split("\t")[0].strip()
    return None if name == "/dev/null" else _stripped(name)


def _stripped(path: str) -> str:
    for prefix in ("a/", "b/", "./"):
        if path.startswith(prefix):
            return path[len(prefix) :]
    return path


def _split(text: str) -> list[str]:
    """The lines with their breaks; only a line feed ends one, as Python's own splitting would see many more."""
    *ended, rest = text.split("\n")
    lines = [line + "\n" for line in ended]
    return [*lines, rest] if rest else lines


def _plain(line: str) -> str:
    return line[:-2] + "\n" if line.endswith("\r\n") else line


def _shown(text: str) -> str:
    line = text.rstrip("\n")
    return repr(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…")
