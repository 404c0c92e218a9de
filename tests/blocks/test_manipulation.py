"""The six functions for lists of blocks."""

from __future__ import annotations

from typing import Any

from blocks.manipulation import (
    find_block,
    insert_block_after,
    insert_block_before,
    remove_block,
    reorder_block,
    replace_block_content,
)
from tests.blocks.recorded import block, block_json, blocks, blocks_json, cases


@cases("block_helpers")
def test_recorded(case: dict[str, Any]):
    given = blocks(case["input"]["blocks"])
    args = case["input"]["args"]
    match case["input"]["fn"]:
        case "findBlock":
            found = find_block(given, args["id"])
            assert (found and block_json(found)) == case["expected"]["block"]
            return
        case "replaceBlockContent":
            result = replace_block_content(given, args["id"], args["content"])
        case "removeBlock":
            result = remove_block(given, args["id"])
        case "insertBlockBefore":
            result = insert_block_before(given, args["targetId"], block(args["block"]))
        case "insertBlockAfter":
            result = insert_block_after(given, args["targetId"], block(args["block"]))
        case name:
            assert name == "reorderBlock"
            result = reorder_block(given, args["id"], args.get("order", args.get("newOrder")))
    assert blocks_json(result) == case["expected"]["blocks"]
    assert blocks_json(given) == case["input"]["blocks"]
