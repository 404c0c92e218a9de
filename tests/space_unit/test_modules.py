"""The modules of units: loaded from memory, from several files, and gone without a trace."""

from __future__ import annotations

import sys

import pytest

from tests.space_unit.units import installed, source_of


def test_a_unit_of_several_files_imports_itself_relatively() -> None:
    with installed() as modules:
        source = source_of(
            unit_py="from .words import WORD\nfrom .deep.more import MORE\nfrom . import words\nALL = WORD + MORE",
            words_py="from __future__ import annotations\nWORD = 'a'",
            deep__more_py="from ..words import WORD\nMORE = WORD + 'b'",
        )
        package = modules.add(source)
        assert modules.load(package).ALL == "aab"
        assert len(modules.loaded()) == 5
        modules.purge(package)
        assert modules.loaded() == ()


def test_two_loads_of_one_unit_are_apart_and_foreign_modules_stay() -> None:  # 280, 281
    with installed() as modules:
        first = modules.add(source_of(unit_py="import json\nX = []"))
        second = modules.add(source_of(unit_py="X = []"))
        assert modules.load(first).X is not modules.load(second).X
        modules.purge(first)
        assert all(name.startswith(second) for name in modules.loaded())
        assert "json" in sys.modules


def test_a_unit_named_as_another_module_is_not_mistaken_for_it() -> None:
    with installed() as modules:
        package = modules.add(source_of("json", unit_py="import json\nfrom .json import MINE", json_py="MINE = 1"))
        assert modules.load(package).MINE == 1
        assert sys.modules["json"].__name__ == "json"


def test_what_fails_to_import_leaves_nothing() -> None:
    with installed() as modules:
        package = modules.add(source_of(unit_py="from .helper import X\nraise ValueError('late')", helper_py="X = 1"))
        with pytest.raises(ValueError, match="late"):
            modules.load(package)
        modules.purge(package)
        assert modules.loaded() == ()
        with pytest.raises(ModuleNotFoundError):
            modules.load(package)


def test_a_module_that_is_not_there_is_none() -> None:
    with installed() as modules, pytest.raises(ImportError, match="nothing"):
        modules.load(modules.add(source_of(unit_py="from . import nothing\nfrom .nothing import x")))


def test_the_finder_leaves_python_as_it_was() -> None:
    before = list(sys.meta_path)
    with installed() as modules:
        modules.load(modules.add(source_of(unit_py="")))
    assert sys.meta_path == before
    assert modules.loaded() == ()


def test_a_module_knows_where_it_lies() -> None:
    with installed() as modules:
        assert modules.load(modules.add(source_of(unit_py="PATH = __file__"))).PATH == "/nowhere/dice/unit.py"
