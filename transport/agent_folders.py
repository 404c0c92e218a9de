"""The user's agents as folders: copies one under a new id, removes one, whole or not at all. Owns these two steps.

Blocks: call it off the event loop. Never reads what an agent means, and never touches one that ships with Space.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import cast

import yaml

from engine.errors import ConflictError, InvalidArgumentError
from presets.agents.definition import DEFAULT_LANGUAGE, METADATA_FILE
from presets.agents.plain_file import PlainFileError, leads_out, open_plain_file
from presets.agents.roster import AGENT_ID
from presets.agents.yaml_file import YamlFileError, read_yaml
from presets.suggestions import quoted

MAX_ID_CHARACTERS = 64
"""Of the id of a copy: it stands in addresses and in tables."""

MAX_NAME_CHARACTERS = 100
"""Of the name of a copy, as it is shown to people."""

MAX_COPIED_FILES = 200
"""Files and folders of one agent. Two are what it needs; a folder that links to a whole disk is none."""

MAX_COPIED_BYTES = 4 * 1024**2
"""Of all files of one agent. A composition has at most 64 KiB."""

PRIVATE_FOLDER, PRIVATE_FILE, PRIVATE_PROGRAM = 0o700, 0o600, 0o700
"""Nobody else reads what a user keeps here; a file that its owner could run stays one."""


def check_new_id(agent_id: str) -> None:
    """Raises `InvalidArgumentError` for an id that no agent can have."""
    if len(agent_id) > MAX_ID_CHARACTERS or AGENT_ID.fullmatch(agent_id) is None:
        raise InvalidArgumentError(
            f"{quoted(agent_id)} is no id of an agent: it has small letters and digits, and '-' between them, and "
            f"at most {MAX_ID_CHARACTERS} characters, such as 'my-agent'"
        )


def copy_agent(
    source: Path, root: Path, agent_id: str, name: str | None = None, *, links_lead_out: bool = False
) -> Path:
    """Copy the folder of an agent to `root`/`agent_id`, links resolved, and return the copy's path.

    Its description stays, its name and order are dropped; `name` is its new name. A link that leads out of the source
    is followed with `links_lead_out` only: what such a link shows belongs to somebody else. Raises `ConflictError` when
    there is such a folder already or the source is no folder that could be copied, `InvalidArgumentError` for a bad id
    or name, and `OSError`; then nothing of the copy is left.
    """
    check_new_id(agent_id)
    if name is not None and not 0 < len(name.strip()) <= MAX_NAME_CHARACTERS:
        raise InvalidArgumentError(f"a name has between 1 and {MAX_NAME_CHARACTERS} characters")
    target = root / agent_id
    root.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
    # A name that begins with a dot is no agent's, so nobody finds half a copy.
    made = root / f".{agent_id}.{secrets.token_hex(4)}.copy"
    try:
        _copy_tree(source, made, links_lead_out=links_lead_out)
        _rewrite_metadata(made / METADATA_FILE, name)
        _move_where_nothing_is(made, target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    _sync(root)
    return target


def remove_agent(folder: Path) -> None:
    """Remove the folder of a user's agent; of one that is a link, the link alone. Raises `OSError`."""
    if folder.is_symlink():
        folder.unlink()
        return
    gone = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.gone")
    folder.rename(gone)
    _sync(folder.parent)
    shutil.rmtree(gone)


def _move_where_nothing_is(made: Path, target: Path) -> None:
    taken = ConflictError(f"{target} already exists; choose another id")
    if os.path.lexists(target):
        raise taken
    try:
        made.rename(target)
    except OSError:
        # Somebody else may have been quicker; a folder with something in it is never replaced.
        if os.path.lexists(target):
            raise taken from None
        raise


def _copy_tree(source: Path, made: Path, *, links_lead_out: bool) -> None:
    made.mkdir(mode=PRIVATE_FOLDER)
    left_bytes = MAX_COPIED_BYTES
    folders = [made]
    for count, (path, relative) in enumerate(_entries(source), 1):
        if count > MAX_COPIED_FILES:
            raise ConflictError(f"{source} holds more than {MAX_COPIED_FILES} files and folders; that is no agent")
        target = made / relative
        if not links_lead_out and leads_out(path, source):
            raise ConflictError(f"{path} is a link that leads out of the agent's folder, so the agent cannot be copied")
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            target.mkdir(mode=PRIVATE_FOLDER)
            folders.append(target)
        elif stat.S_ISREG(mode):
            left_bytes -= _copy_file(path, target, left_bytes, None if links_lead_out else source)
        else:
            raise ConflictError(f"{path} is neither a file nor a folder, so the agent cannot be copied")
    for folder in folders:
        _sync(folder)


def _entries(folder: Path, relative: Path = Path()) -> Iterator[tuple[Path, Path]]:
    """Everything below a folder, each folder before what is in it. Links are followed; whoever counts ends a loop."""
    for path in sorted(folder.iterdir()):
        yield path, relative / path.name
        if path.is_dir():
            yield from _entries(path, relative / path.name)


def _copy_file(path: Path, target: Path, most_bytes: int, inside: Path | None) -> int:
    try:
        descriptor = open_plain_file(path, inside=inside)
    except PlainFileError as error:
        # Something else has taken the file's place since it was looked at.
        raise ConflictError(f"{path} {error}, so the agent cannot be copied") from error
    with open(descriptor, "rb") as file:
        content = file.read(most_bytes + 1)
        runs = os.fstat(file.fileno()).st_mode & stat.S_IXUSR
    if len(content) > most_bytes:
        raise ConflictError(f"the files of the agent have more than {MAX_COPIED_BYTES} bytes; that is no agent")
    _write(target, content, PRIVATE_PROGRAM if runs else PRIVATE_FILE)
    return len(content)


def _rewrite_metadata(file: Path, name: str | None) -> None:
    """Drop what belongs to the original alone. A file in which nothing is left, or that cannot be read, goes."""
    try:
        raw = read_yaml(file)
    except YamlFileError:
        raw = None
    kept = dict(cast("Mapping[object, object]", raw)) if isinstance(raw, dict) else {}
    for member in ("name", "order"):
        kept.pop(member, None)
    if name is not None:
        kept = {"name": {DEFAULT_LANGUAGE: name.strip()}, **kept}
    with suppress(FileNotFoundError):
        file.unlink()
    if kept:
        text = yaml.safe_dump(kept, allow_unicode=True, sort_keys=False, width=120)
        _write(file, text.encode(), PRIVATE_FILE)
        _sync(file.parent)


def _write(path: Path, content: bytes, mode: int) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Let the names in a folder outlive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
