"""`space world`: lists, makes, switches, deletes and recovers worlds, and moves them as files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli.answers import DeletedWorlds, WorldRow, WorldRows
from cli.atomic_file import write_atomically
from cli.client import CALL_SECONDS, Answer, EngineClient, segment
from cli.console import note, print_json, print_table, say
from cli.failure import CommandFailedError
from cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, engine_at

PATH = "/api/worlds"

WORLD_FILE_TYPE = "application/octet-stream"

COLUMNS = ("id", "name", "active", "revision", "created at")
DELETED_COLUMNS = ("id", "name", "deleted at", "recoverable until")

WorldId = Annotated[str, typer.Argument(metavar="ID", help="The world's id; `space world list` shows it.")]
NameOption = Annotated[
    str | None,
    typer.Option("--name", show_default="its own, with a number where that is taken", help="What it is called."),
]


def list_worlds(
    deleted: Annotated[bool, typer.Option("--deleted", help="Those that can be recovered instead.")] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the worlds."""
    with engine_at(url, token, as_json=as_json) as engine:
        if deleted:
            gone = engine.ask(DeletedWorlds, "GET", f"{PATH}/deleted")
            raw, columns = gone.raw, DELETED_COLUMNS
            rows = [(row.id, row.name, row.deleted_at, row.recoverable_until) for row in gone.value.worlds]
        else:
            there = _worlds(engine)
            raw, columns, rows = there.raw, COLUMNS, [_row(row) for row in there.value.worlds]
    if as_json:
        print_json(raw)
    else:
        print_table(None, columns, rows)


def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name that no other world has.")],
    activate: Annotated[bool, typer.Option("--activate", help="Go into it.")] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a new, empty world."""
    with engine_at(url, token, as_json=as_json) as engine:
        _print(engine.ask(WorldRow, "POST", PATH, body={"name": name, "activate": activate}), as_json)


def switch(
    world_id: WorldId, url: UrlOption = DEFAULT_URL, token: TokenOption = None, as_json: JsonOption = False
) -> None:
    """Go into another world; the context and the tools follow before this returns."""
    with engine_at(url, token, as_json=as_json) as engine:
        _print(engine.ask(WorldRow, "POST", f"{PATH}/{segment(world_id)}/activate"), as_json)


def delete(
    world_id: WorldId,
    confirm: Annotated[
        str | None,
        typer.Option("--confirm", metavar="NAME", show_default=False, help="Its exact name, not asked then."),
    ] = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete a world. It can be recovered for 30 days."""
    with engine_at(url, token, as_json=as_json) as engine:
        name = _asked_name(engine, world_id) if confirm is None else confirm
        answer = engine.ask(WorldRow, "DELETE", f"{PATH}/{segment(world_id)}", body={"confirm_name": name})
    if as_json:
        print_json(answer.raw)
    else:
        world = answer.value
        say(f"Deleted {world.name} ({world.id}). Within 30 days it comes back with: space world recover {world.id}")


def export(
    world_id: WorldId,
    file: Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False, help="Where to.")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a world with its whole history into one file."""
    with engine_at(url, token, as_json=as_json) as engine:
        data = engine.fetch(f"{PATH}/{segment(world_id)}/export", WORLD_FILE_TYPE, {}, seconds=CALL_SECONDS)
        write_atomically(file, data)
    if as_json:
        print_json({"file": str(file.absolute()), "media_type": WORLD_FILE_TYPE, "bytes": len(data)})
    else:
        say(f"Wrote {file} ({len(data):,} bytes).")


def import_world(
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="A world file.")],
    name: NameOption = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a new world of a file that `space world export` wrote."""
    query = {} if name is None else {"name": name}
    if not file.is_file():
        raise typer.BadParameter(f"{str(file)!r} is no regular file")
    with engine_at(url, token, as_json=as_json) as engine:
        try:
            with file.open("rb") as data:
                answer = engine.upload(WorldRow, f"{PATH}/import", data, WORLD_FILE_TYPE, query, seconds=CALL_SECONDS)
        except OSError as error:
            raise CommandFailedError(f"Cannot read {file}: {error.strerror or error}.") from None
        _print(answer, as_json)


def recover(
    world_id: WorldId,
    name: NameOption = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a deleted world back, with everything in it."""
    body = {} if name is None else {"name": name}
    with engine_at(url, token, as_json=as_json) as engine:
        path = f"{PATH}/{segment(world_id)}/recover"
        _print(engine.ask(WorldRow, "POST", path, body=body, seconds=CALL_SECONDS), as_json)


def _asked_name(engine: EngineClient, world_id: str) -> str:
    """Ask the person for the exact name. What they type is sent as it is: the engine compares it."""
    world = next((world for world in _worlds(engine).value.worlds if world.id == world_id), None)
    if world is None:
        raise CommandFailedError(f"No world has the id {world_id!r}.", "List them with: space world list")
    note(f"This deletes the world {world.name} ({world.id}). To go on, type its name:")
    typed = sys.stdin.readline().rstrip("\r\n")
    if typed != world.name:
        raise CommandFailedError("That is not its name; nothing was deleted.", "Or give it with --confirm NAME")
    return typed


def _worlds(engine: EngineClient) -> Answer[WorldRows]:
    return engine.ask(WorldRows, "GET", PATH)


def _row(world: WorldRow) -> tuple[str, str, bool, int, str]:
    return (world.id, world.name, world.active, world.revision, world.created_at)


def _print(answer: Answer[WorldRow], as_json: bool) -> None:
    if as_json:
        print_json(answer.raw)
    else:
        print_table(None, COLUMNS, [_row(answer.value)])
