"""A node that stands for an entry of the workspace folder. Owns what a map shows of it: name, kind, size and type.

Never the content: reading files is a preset of its own, with a risk of its own, that people turn on. See docs/graph.md.
"""

from __future__ import annotations

from mimetypes import MimeTypes

from engine.errors import ForbiddenError
from engine.files import FolderEntry
from engine.graph.keys import parse_key
from engine.graph.nodes import Loaded
from engine.graph.words import canonical_data, checked_label

_MEDIA_TYPES = MimeTypes()  # Python's own table, without those of the machine, so that every machine says the same
for _ending, _media_type in (
    (".md", "text/markdown"),
    (".toml", "application/toml"),
    (".yaml", "application/yaml"),
    (".yml", "application/yaml"),
):
    _MEDIA_TYPES.add_type(_media_type, _ending)


def workspace_node(entry: FolderEntry) -> Loaded:
    """The node of an entry. Raises `ForbiddenError` for what is no file or folder, and as a label and a key do."""
    if entry.kind not in ("file", "folder"):
        raise ForbiddenError(f"{entry.path!r:.120} is a {entry.kind}; only files and folders can be shown on the map.")
    data: dict[str, object] = {"path": entry.path}
    if entry.kind == "file":
        data["size_bytes"] = entry.size_bytes
        media_type, _encoding = _MEDIA_TYPES.guess_type(entry.name)
        if media_type is not None:
            data["media_type"] = media_type
    key = parse_key(f"file:{entry.path}")
    return Loaded(
        key=key.text, kind=entry.kind, label=checked_label(entry.name, "file name"), data=canonical_data(data)
    )
