"""The adapter registry: ids, names and their index."""

from __future__ import annotations

import pytest

from engine.errors import InvalidArgumentError, NotFoundError
from presets.adapters import ToolAdapterRegistry
from tests.presets.samples import adapter, adapters


def test_a_fresh_adapter_registry_is_empty():
    registry = ToolAdapterRegistry()
    assert len(registry) == 0
    assert registry.get("drawing.undo") is None


def test_a_name_without_the_prefix_is_refused():
    with pytest.raises(InvalidArgumentError, match="must begin with 'space_'"):
        adapters(adapter("drawing.undo", "drawing_undo"))


def test_an_id_that_is_taken_is_refused():
    with pytest.raises(InvalidArgumentError, match=r"'drawing\.undo' is already registered"):
        adapters(adapter("drawing.undo"), adapter("drawing.undo"))


def test_an_adapter_needs_an_id():
    with pytest.raises(InvalidArgumentError, match="needs an id"):
        adapters(adapter("", "space_x"))


def test_adapters_are_listed_in_order_of_registration():
    assert [one.id for one in adapters(adapter("b"), adapter("a"))] == ["b", "a"]


def test_adapters_are_found_by_name_as_long_as_they_are_there():
    registry = adapters(adapter("old", "space_x"), adapter("new", "space_x"), adapter("other"))
    assert [one.id for one in registry.named("space_x")] == ["old", "new"]
    registry.unregister("old")
    assert [one.id for one in registry.named("space_x")] == ["new"]
    registry.unregister("new")
    assert registry.named("space_x") == ()


def test_unregistering_an_unknown_id_is_refused():
    with pytest.raises(NotFoundError, match="'ghost' is not registered"):
        adapters().unregister("ghost")
