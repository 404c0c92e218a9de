"""How many tokens a text has, about. Owns the estimate: without a model's own tokenizer no count is exact."""

from __future__ import annotations

BYTES_PER_TOKEN = 4
"""Of UTF-8. English prose has 4.2 to 4.7 in common tokenizers, code 3 to 3.5, Chinese and Japanese 2.5 to 3.5."""


def estimated_tokens(text: str) -> int:
    """The bytes of the text in UTF-8, divided by `BYTES_PER_TOKEN` and rounded up. Right to about a quarter."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)
