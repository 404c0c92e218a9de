"""The files of the panel: the page that the engine serves at its root. Owns reading them, their headers, and ETags.

They are the program of the page and hold no state, so they are served without a token; all that the page shows comes
through the routes that everybody uses. They are read once, at the start: a request names one of them or none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType

from quart import Blueprint, Response, request

PANEL_PATH = "/"
"""Where the page is."""

FILES_PATH = "/panel/"
"""Where the files are that it loads."""

_CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""What is served, by the end of its name. What else lies in the folder is for whoever works on the page."""

_HEADERS = {
    # Only files of the engine run, and nothing makes markup of text. Pictures come as blobs: requests need a token.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # An engine of another version may come back at the same address: the browser asks, and mostly hears "as it was".
    "Cache-Control": "no-cache",
}


@dataclass(frozen=True, slots=True)
class PanelFile:
    """One file as it is served."""

    body: bytes
    content_type: str
    etag: str


_MODULES = b"<!-- modules -->"
"""Where in the page the names of all its modules go."""

NO_PANEL: Mapping[str, PanelFile] = MappingProxyType({})
"""For an app that has none."""


def read_panel_files() -> Mapping[str, PanelFile]:
    """Every file of the panel by the path of its request."""
    found: dict[str, PanelFile] = {}
    _collect(files("transport").joinpath("panel"), FILES_PATH, found)
    page = found.pop(f"{FILES_PATH}index.html")
    # Otherwise a browser learns of a module only when it has read the one that imports it, five times in a row.
    links = "".join(f'<link rel="modulepreload" href="{path}">\n' for path in found if path.endswith(".js"))
    found[PANEL_PATH] = _file(page.body.replace(_MODULES, links.encode()), page.content_type)
    return MappingProxyType(found)


def panel_routes(panel: Mapping[str, PanelFile]) -> Blueprint:
    """The routes of these files."""
    routes = Blueprint("panel", __name__)

    async def serve() -> Response:
        file = panel[request.path]
        headers = {**_HEADERS, "ETag": f'"{file.etag}"'}
        if request.if_none_match.contains_weak(file.etag):
            return Response(b"", 304, headers=headers)
        return Response(file.body, content_type=file.content_type, headers=headers)

    for number, path in enumerate(panel):
        routes.add_url_rule(path, endpoint=f"file{number}", view_func=serve, methods=["GET"])
    return routes


def _collect(folder: Traversable, path: str, found: dict[str, PanelFile]) -> None:
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.is_dir():
            _collect(entry, f"{path}{entry.name}/", found)
            continue
        content_type = _CONTENT_TYPES.get(f".{entry.name.rpartition('.')[2]}")
        if content_type is not None:
            found[f"{path}{entry.name}"] = _file(entry.read_bytes(), content_type)


def _file(body: bytes, content_type: str) -> PanelFile:
    return PanelFile(body, content_type, hashlib.sha256(body).hexdigest()[:32])
