"""Turns, directions and angles agree with each other."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidArgumentError
from engine.scene.mujoco_frame import from_mujoco, to_mujoco, turn_from_mujoco, turn_to_mujoco
from engine.scene.vector import Degrees, Quaternion, Vector
from tests.engine.scene.samples import EXAMPLES, angles, points

turns = st.builds(Degrees, angles, angles, angles).map(Degrees.quaternion)


def close(one: Vector, other: Vector, within: float = 1e-9) -> bool:
    return one.minus(other).length <= within


@pytest.mark.parametrize(
    ("turn", "to"),
    [
        (Degrees(yaw=90), Vector(-1, 0, 0)),
        (Degrees(pitch=90), Vector(0, 1, 0)),
        (Degrees(yaw=-90), Vector(1, 0, 0)),
        (Degrees(yaw=180), Vector(0, 0, 1)),
        (Degrees(yaw=90, pitch=45), Vector(-math.sqrt(0.5), math.sqrt(0.5), 0)),
    ],
)
def test_yaw_turns_to_the_left_and_pitch_up_for_what_looks_along_minus_z(turn: Degrees, to: Vector):
    assert close(turn.quaternion().turn(Vector(0, 0, -1)), to)


def test_roll_turns_counter_clockwise_seen_from_behind():
    assert close(Degrees(roll=90).quaternion().turn(Vector(1, 0, 0)), Vector(0, 1, 0))


@EXAMPLES
@given(turns, points)
def test_degrees_and_quaternion_say_the_same_turn(turn: Quaternion, point: Vector):
    again = Degrees.of(turn).quaternion()

    assert close(again.turn(point), turn.turn(point), 1e-5 * (1 + point.length))


@EXAMPLES
@given(turns, points)
def test_a_turn_and_its_inverse_cancel_and_keep_lengths(turn: Quaternion, point: Vector):
    turned = turn.turn(point)

    assert math.isclose(turned.length, point.length, abs_tol=1e-9)
    assert close(turn.inverse().turn(turned), point, 1e-9 * (1 + point.length))


@EXAMPLES
@given(turns, points)
def test_the_way_to_mujoco_and_back_changes_no_bit_and_turns_the_same(turn: Quaternion, point: Vector):
    assert from_mujoco(*to_mujoco(point)) == point
    assert turn_from_mujoco(*turn_to_mujoco(turn)) == turn
    there = Quaternion(*turn_to_mujoco(turn)).turn(Vector(*to_mujoco(point)))
    assert close(from_mujoco(*there), turn.turn(point), 1e-9 * (1 + point.length))


def test_up_is_up_in_mujoco_too():
    assert to_mujoco(Vector(0, 1, 0)) == (0, 0, 1)


def test_a_vector_without_length_has_no_direction():
    with pytest.raises(InvalidArgumentError, match="has no direction"):
        Vector(0, 0, 0).unit()
    with pytest.raises(InvalidArgumentError, match="has no direction"):
        Vector(math.nan, 0, 0).unit()
