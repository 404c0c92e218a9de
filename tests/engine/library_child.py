"""A process that imports, deletes and recovers worlds as fast as it can until it is killed, and says what is done.

Each line on its standard output is written after the store has returned: `there world-7` or `gone world-7`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from engine.commands import DeleteWorld
from engine.engine import Engine
from engine.keeping import ImportWorld, RecoverWorld
from engine.store import Store
from engine.store_loading import decoded
from tests.engine.samples import NOW, Write, note_codec
from tests.engine.world_files import file_of, read_notes, world_of

NOTES = 200


def the_file() -> bytes:
    """The world that is imported again and again."""
    return file_of(world_of([Write(str(number)) for number in range(NOTES)], undo=20), note_codec())


def deeds(first: int) -> Iterator[tuple[str, str]]:
    """What is done one after the other, from the world of that number on."""
    number = first
    while True:
        for deed in ("there", "gone", "there"):
            yield deed, f"world-{number}"
        number += 1


def main() -> None:
    """Work on behind the highest number that is there."""
    codec = note_codec()
    with Store.open(Path(sys.argv[1]), now=NOW, codec=codec) as store:
        state = store.load()
        engine = Engine(state, clock=lambda: NOW, selection_kind=lambda *_: None)
        file = read_notes(the_file())
        print("ready", flush=True)
        for deed, world_id in deeds(state.next_world_number):
            if deed == "gone":
                commit = engine.execute(DeleteWorld(world_id, world_id)).commit
            elif any(world.id == world_id for world in store.deleted_worlds(NOW)):
                commit = engine.execute(RecoverWorld(decoded(store.read_deleted(world_id, NOW), codec))).commit
            else:
                commit = engine.execute(ImportWorld(file, world_id)).commit
            store.write(commit)
            print(deed, world_id, flush=True)


if __name__ == "__main__":
    main()
