"""The Node that runs what comes from npm. Owns what happens to a test where something of that is missing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.conformance.suite import SuiteMissingError, node


def node_for(what: str, needed: Iterable[Path]) -> str:
    """The path of Node. Without it or what is needed the test is skipped, or fails where live tests are required."""
    found, missing = "", ""
    try:
        found = node()
    except SuiteMissingError as error:
        missing = str(error)
    if not missing and not all(path.exists() for path in needed):
        missing = f"{what} are not installed; `make test` installs them where npm is there"
    if missing and os.environ.get("SPACE_REQUIRE_LIVE") == "1":
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)
    return found
