"""Records as JSON: what is written comes back, and what is not understood is refused whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.codec import Codec, UndecodableError
from engine.domains import RECORD_TYPES
from engine.drawing.geometry import Point
from engine.drawing.records import (
    DrawingFocus,
    DrawingPen,
    Ellipse,
    Layer,
    Line,
    Polygon,
    Rectangle,
    Stroke,
    Text,
)
from engine.drawing.style import Style
from engine.graph.records import GraphEdge, GraphFocus, GraphNode, KeptNode
from engine.records import Change, Counter, Record
from engine.scene.records import Backdrop, Body, Camera, Light, SceneSelection, Terrain
from engine.scene.vector import ORIGIN, Quaternion, Vector
from engine.units.state import UnitValue
from tests.engine.samples import Cursor, Heading, Note, note_codec

CODEC = note_codec()

plain_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
records: st.SearchStrategy[Record] = st.one_of(
    st.builds(Note, id=plain_text, text=plain_text),
    st.builds(Heading, id=plain_text, level=st.floats(allow_nan=False, allow_infinity=False)),
    st.builds(Cursor, at=st.none() | plain_text),
    st.builds(Counter, id=plain_text, next=st.integers(0, 2**62)),
)


@given(records)
def test_a_record_comes_back_as_it_was(record: Record) -> None:
    assert CODEC.decode(record.collection, record.id, CODEC.encode(record)) == record


@given(st.lists(st.tuples(st.sampled_from(["before", "after", "both"]), records), max_size=5))
def test_changes_come_back_as_they_were(sides: list[tuple[str, Record]]) -> None:
    changes = tuple(
        Change(
            record.collection,
            record.id,
            record if side != "after" else None,
            record if side != "before" else None,
        )
        for side, record in sides
    )
    assert CODEC.decode_changes(CODEC.encode_changes(changes)) == changes


@pytest.mark.parametrize(
    ("collection", "text", "words"),
    [
        ("note", "{", "not JSON"),
        ("note", "[" * 100_000, "not JSON"),
        ("note", '{"id":"n","text":"x"}', "discriminator 'kind'"),
        ("note", '{"id":"n","kind":"poem","text":"x"}', "'poem'"),
        ("note", '{"id":"n","kind":"note"}', "note.text"),
        ("note", '{"id":"n","kind":"note","text":"x","color":"red"}', "note.color"),
        ("note", '{"id":"m","kind":"note","text":"x"}', "says of itself that it is 'm'"),
        ("cursor", '{"id":"n","at":7}', "at"),
        ("ghost", "{}", "collection 'ghost' is unknown"),
    ],
)
def test_what_is_not_understood_is_refused_saying_why(collection: str, text: str, words: str) -> None:
    with pytest.raises(UndecodableError, match=words):
        CODEC.decode(collection, "n", text)


@pytest.mark.parametrize("text", ["{}", "[1]", '[["note","n",null,null]]', '[["note","n",null]]', '["note"]'])
def test_changes_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(UndecodableError):
        CODEC.decode_changes(text)


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_number_that_would_not_come_back_is_not_written(number: float) -> None:
    with pytest.raises(ValueError, match="Out of range"):
        CODEC.encode(Heading(id="n", level=number))


def test_a_field_of_the_wrong_type_is_not_written() -> None:
    with pytest.raises(ValueError, match="Expected `str`"):
        CODEC.encode(Note(id="n", text=7))  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranger(Record):
    collection: ClassVar[str] = "note"


def test_a_class_that_it_was_not_made_for_is_not_written() -> None:
    with pytest.raises(TypeError, match="Stranger"):
        CODEC.encode(Stranger(id="n"))


def test_classes_that_share_a_collection_must_be_told_apart_by_kind() -> None:
    with pytest.raises(TypeError, match=r"Stranger.*'kind'"):
        Codec([Note, Stranger])


DRAWING_BOX: dict[str, Any] = {
    "layer_id": "layer-1",
    "order": 3,
    "style": Style(),
    "center": Point(0.1, -2.0),
    "size": Point(3.0, 4.5),
}
DRAWING_PATH: dict[str, Any] = {
    "layer_id": "layer-1",
    "order": 3,
    "style": Style(),
    "points": (Point(0.1, 0.2), Point(1e-7, 1e6)),
}


@pytest.mark.parametrize(
    "record",
    [
        Counter(id="object", next=3),
        Layer(id="layer-1", name="Grün", order=1, visible=False),
        Rectangle(id="object-1", rotation=30.0, **DRAWING_BOX),
        Ellipse(id="object-2", **DRAWING_BOX),
        Text(id="object-3", text="a\n\U0001f600", font_size=12.0, **DRAWING_BOX),
        Polygon(id="object-4", **DRAWING_PATH),
        Line(id="object-5", **DRAWING_PATH),
        Stroke(id="object-6", **DRAWING_PATH),
        DrawingFocus(active_layer_id="layer-1", selection=("object-1", "object-2")),
        DrawingPen(tool="pen", style=Style()),
        GraphNode(
            id="string-entity:node-1",
            kind="string-entity",
            label="Grün",
            content="a\n\U0001f600",
            data='{"a":[1,null]}',
            position=Point(0.1, -2.0),
            order=1,
            identity="identity:identity-1",
        ),
        KeptNode(id="identity:identity-1", kind="identity", label="Keeper", position=Point(1e-7, 1e6)),
        GraphEdge(id="a->b", source="a", target="b", label="knows", order=2),
        GraphFocus(selected=("a", "b"), focused="a"),
        UnitValue(id="dice/last", unit="dice", key="last", value="[1,2]"),
        Body(
            id="body-1",
            shape="capsule",
            position=Vector(0.1, -2.0, 1e-7),
            rotation=Quaternion(0.5, 0.5, -0.5, 0.5),
            size=Vector(1.0, 2.0, 1.0),
            color="#A1B2C3",
            mass=0.3,
            friction=0.6,
            velocity=Vector(0.0, -9.81, 0.1),
            spin=Vector(360.0, 0.0, -0.5),
        ),
        Terrain(
            id="terrain-1",
            kind="heightfield",
            position=ORIGIN,
            size_x=20.0,
            size_z=10.0,
            color="#6B8F5A",
            friction=0.6,
            rows=1,
            columns=2,
            heights="AACAPwAAAEA=",
            lowest=1.0,
            highest=2.0,
        ),
        Light(id="light-1", kind="spot", color="#FFEEDD", position=Vector(0.0, 3.0, 0.0), cone_degrees=30.0),
        Backdrop(sky="dusk", brightness=0.25, color="#102030"),
        Camera(position=Vector(1.0, 2.0, 3.0), yaw=-90.0, pitch=12.5, fov=60.0),
        SceneSelection(ids=("body-1", "terrain-1")),
    ],
    ids=lambda record: type(record).__name__,
)
def test_every_record_of_the_domains_comes_back_as_it_was(record: Record) -> None:
    codec = Codec(RECORD_TYPES)
    assert codec.decode(record.collection, record.id, codec.encode(record)) == record


def test_no_record_class_of_the_domains_is_left_untested() -> None:
    (mark,) = test_every_record_of_the_domains_comes_back_as_it_was.pytestmark  # pyright: ignore[reportFunctionMemberAccess]
    assert {type(record) for record in mark.args[1]} == set(RECORD_TYPES)
