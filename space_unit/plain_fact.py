"""Values of facts as the engine keeps and compares them: plain ones, whatever a unit derives from them."""

from __future__ import annotations

from presets.context import FactValue


def plain_fact(value: FactValue) -> FactValue:
    """The value as a plain text or number, where it is of a class that derives from one, such as an enumeration.

    Comparing it, which the engine does where nobody expects a unit, then runs no code of the unit. What is no fact at
    all is given back as it is, for whoever checks it.
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__int__(value)
    return float.__float__(value) if isinstance(value, float) else value  # pyright: ignore[reportUnnecessaryIsInstance]
