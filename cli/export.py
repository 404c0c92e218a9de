"""`space export`: writes the engine's view into a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.atomic_file import write_atomically
from cli.console import print_json, say
from cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, engine_at

MEDIA_TYPES = {".svg": "image/svg+xml", ".png": "image/png", ".glb": "model/gltf-binary"}


def _picture_file(file: Path) -> Path:
    if file.suffix.lower() not in MEDIA_TYPES:
        raise typer.BadParameter(f"{str(file)!r} ends in none of .svg, .png and .glb, which say what to write")
    return file


def export(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.svg|.png|.glb", callback=_picture_file, dir_okay=False, help="Where to; its ending says what."
        ),
    ],
    width: Annotated[int | None, typer.Option(min=1, help="Width in pixels.")] = None,
    height: Annotated[int | None, typer.Option(min=1, help="Height in pixels.")] = None,
    surface: Annotated[str | None, typer.Option(help="Another surface than the user's.")] = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write what the user sees as SVG or PNG, or a scene as glTF (.glb)."""
    suffix = file.suffix.lower()
    if suffix != ".png" and (width is not None or height is not None):
        raise typer.BadParameter(f"a {suffix} file has no pixels; --width and --height are for .png")
    asked = {"width": width, "height": height, "surface": surface}
    query = {name: value for name, value in asked.items() if value is not None}
    with engine_at(url, token, as_json=as_json) as engine:
        picture = engine.fetch(f"/api/view{suffix}", MEDIA_TYPES[suffix], query)
        write_atomically(file, picture)
    if as_json:
        print_json({"file": str(file.absolute()), "media_type": MEDIA_TYPES[suffix], "bytes": len(picture)})
    else:
        say(f"Wrote {file} ({len(picture):,} bytes).")
