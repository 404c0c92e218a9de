"""Configs and blocks for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from blocks.block import ContextBlock

CUSTOM_IDS = st.sampled_from(["cb-aaaa", "cb-bbbb", "cb-cccc1", "cb-dddd22"])
BLOCK_IDS = st.sampled_from(["instructions", "tools", "prose", "author-input", "ghost", ""]) | CUSTOM_IDS
TEXTS = st.text(max_size=20)
ORDERS = st.integers(-5, 700) | st.floats(allow_nan=False, allow_infinity=False)

OVERRIDES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "enabled": st.booleans(),
        "order": ORDERS,
        "contentMode": st.sampled_from(["override", "prepend", "append", None]),
        "customContent": TEXTS,
    },
)
DEFINITIONS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "id": CUSTOM_IDS,
        "name": st.text(min_size=1, max_size=100),
        "role": st.sampled_from(["system", "user"]),
        "type": st.sampled_from(["simple", "script"]),
        "content": TEXTS,
    },
    optional={"order": ORDERS, "enabled": st.booleans()},
)
CONFIGS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "customBlocks": st.lists(DEFINITIONS, max_size=4),
        "overrides": st.dictionaries(BLOCK_IDS, OVERRIDES, max_size=4),
        "blockOrder": st.lists(BLOCK_IDS, max_size=8),
        "disabledTools": st.lists(TEXTS, max_size=3),
        "disableAutoAnalysis": st.booleans(),
    },
)
BLOCKS = st.lists(
    st.builds(
        ContextBlock,
        id=BLOCK_IDS,
        role=st.sampled_from(["system", "user"]),
        content=TEXTS,
        order=ORDERS,
        source=st.just("builtin"),
    ),
    max_size=8,
)
