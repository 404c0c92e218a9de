"""One YAML file of an agent's folder, read whole and as plain data. Owns what YAML is allowed to do here: very little.

No tags, no anchors, no key twice: a composition is read by people, and every line says what it says. Never writes.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any, cast

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from presets.agents.plain_file import PlainFileError, read_plain_file

MAX_FILE_BYTES = 64 * 1024
"""Longest file. The shipped compositions have 2 KiB; a longer one is not what it says it is."""


class YamlFileError(ValueError):
    """Raised for a file that is not there, cannot be read, or is not YAML as allowed here. The text says what is wrong.

    The text begins with what follows the name of the file, such as "is missing".
    """


def read_yaml(path: Path, *, inside: Path | None = None) -> object:
    """What the file says, as lists, dictionaries and plain values. Raises `YamlFileError` and nothing else.

    With `inside`, links are followed only to what lies in that folder.
    """
    return parse_yaml(_text(path, inside))


def parse_yaml(text: str) -> object:
    """What this YAML says, as lists, dictionaries and plain values. Raises `YamlFileError` and nothing else."""
    try:
        return cast("object", yaml.load(text, _PlainLoader))  # noqa: S506 - a safe loader, with less
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"
        said = " ".join(filter(None, (error.context, error.problem)))
        raise YamlFileError(f"is not valid YAML{where}: {said}") from error
    except yaml.YAMLError as error:
        raise YamlFileError(f"is not valid YAML: {str(error).splitlines()[0]}") from error
    except RecursionError as error:
        raise YamlFileError("is nested too deep") from error
    except ValueError as error:
        # Such as a date that does not exist: PyYAML lets the error of the constructor through.
        raise YamlFileError(f"has a value that cannot be: {error}") from error


def _text(path: Path, inside: Path | None) -> str:
    try:
        return read_plain_file(path, MAX_FILE_BYTES, inside=inside).decode("utf-8-sig")
    except PlainFileError as error:
        raise YamlFileError(str(error)) from error
    except FileNotFoundError as error:
        raise YamlFileError("is missing") from error
    except UnicodeDecodeError as error:
        raise YamlFileError(f"is not UTF-8: byte {error.start} cannot be read") from error
    except OSError as error:
        raise YamlFileError(f"cannot be read: {error.strerror or error}") from error


class _PlainLoader(yaml.SafeLoader):
    """Refuses aliases, with which a short file can stand for an endless one, and keys that stand twice."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = cast("yaml.Event", self.peek_event())  # pyright: ignore[reportUnknownMemberType] - untyped in its stubs
        if getattr(event, "anchor", None) is not None:
            raise ComposerError(
                None, None, "anchors and aliases (& and *) are not allowed; write the value out", event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[object] = set()
        for key, _ in node.value:
            name = key.value
            if isinstance(name, str) and (key.tag, name) in seen:
                raise ConstructorError(None, None, f"key {name!r} stands twice", key.start_mark)
            seen.add((key.tag, name) if isinstance(name, str) else id(key))
        return super().construct_mapping(node, deep)
