"""The recorded cases, and the values of the blocks in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from blocks.block import ContextBlock, ContextMessage

DECISIONS = {
    1: "decision 1: adding a block leaves an empty block order empty",
    2: "decision 2: a block that the order does not list keeps its place beside its neighbours",
    3: "decision 3: a config that is not valid is refused as a whole",
    7: "decision 7: of an old and a present key the present one wins, wherever it stands",
    10: "decision 10: every valid id of a fragment can be referenced",
}
"""Where Space does better than what was recorded: the cases that show the old way are left out, each by its name."""

CASES = Path(__file__).parents[1] / "data" / "blocks"


def cases(name: str, left_out: Mapping[str, str] | None = None) -> Any:
    """A parameter `case` for each recorded case of a file, but those that are left out, each with its reason."""
    recorded = json.loads((CASES / f"{name}.json").read_text())["cases"]
    left_out = left_out or {}
    unknown = left_out.keys() - {case["name"] for case in recorded}
    assert not unknown, f"no such cases in {name}.json: {unknown}"
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=case["name"]) for case in recorded if case["name"] not in left_out]
    )


def block(raw: Mapping[str, Any]) -> ContextBlock:
    return ContextBlock(**raw)


def blocks(raw: Sequence[Mapping[str, Any]]) -> tuple[ContextBlock, ...]:
    return tuple(map(block, raw))


def block_json(one: ContextBlock) -> dict[str, Any]:
    raw: dict[str, Any] = {"id": one.id, "role": one.role, "content": one.content, "order": one.order}
    return {**raw, "source": one.source, **({} if one.name is None else {"name": one.name})}


def blocks_json(of: Sequence[ContextBlock]) -> list[dict[str, Any]]:
    return list(map(block_json, of))


def messages_json(of: Sequence[ContextMessage]) -> list[dict[str, str]]:
    return [{"role": one.role, "content": one.content} for one in of]
