"""A process that works in a data folder as fast as it can until it is killed, and says what is acknowledged.

Each line on its standard output is written after the store has returned: a number, which from then on must be found.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from engine.engine import Engine
from engine.records import Transaction
from engine.store import Store
from engine.world import Command
from tests.engine.samples import NOW, Note, note_codec

NOTES_PER_STEP = 5


@dataclass(frozen=True)
class WriteBatch(Command[None]):
    """Several notes of one number at once: a half of them must never be found."""

    label = "batch"
    number: int

    def run(self, world: Transaction) -> None:
        for place in range(NOTES_PER_STEP):
            world.put(Note(id=world.new_id("note"), text=f"{self.number} {place}"))


def main() -> None:
    """Work on behind the highest number that is there."""
    with Store.open(Path(sys.argv[1]), now=NOW, codec=note_codec()) as store:
        engine = Engine(store.load(), clock=lambda: NOW, selection_kind=lambda *_: None)
        print("ready", flush=True)
        number = max([int(note.text.split()[0]) for note in engine.active_world.read().all(Note)] or [0])
        while True:
            number += 1
            store.write(engine.execute(WriteBatch(number)).commit)
            print(number, flush=True)
            if number % 10 == 0:
                store.write(engine.undo().commit)
                store.write(engine.redo().commit)


if __name__ == "__main__":
    main()
