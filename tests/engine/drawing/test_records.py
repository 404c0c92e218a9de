"""What a drawing keeps comes back from its stored form as it was."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from engine.codec import Codec
from engine.drawing.records import RECORD_TYPES
from engine.errors import EngineError
from engine.records import Counter
from engine.world import Command
from tests.engine.drawing.samples import EXAMPLES, Drawing, asides, steps

CODEC = Codec((Counter, *RECORD_TYPES))


@EXAMPLES
@given(st.lists(steps | asides, max_size=10))
def test_every_record_of_a_drawing_survives_storing(commands: list[Command[object]]):
    drawing = Drawing()
    for command in commands:
        with suppress(EngineError):
            drawing.do(command)

    for (collection, record_id), record in drawing.records().items():
        assert CODEC.decode(collection, record_id, CODEC.encode(record)) == record
