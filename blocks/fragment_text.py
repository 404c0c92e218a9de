"""How one fragment reads on its own, by its type. Owns these forms; `sheet` has those for lists of fragments."""

from __future__ import annotations

from blocks.fragment import Fragment


def fragment_text(fragment: Fragment) -> str:
    """The fragment in full, as a tag in a text stands for it."""
    match fragment.type:
        case "prose" | "summary":
            return fragment.content
        case "character":
            return f"## {fragment.name}\n{fragment.content}"
        case "knowledge":
            return f"### {fragment.name}\n{fragment.content}"
        case "guideline":
            return f"**{fragment.name}**: {fragment.content}"
        case "image" | "icon":
            return f"[{fragment.type}: {fragment.name}] {fragment.description}"
        case "marker":
            return ""
        case _:
            return f"[{fragment.type}:{fragment.id}] {fragment.content}"


def fragment_line(fragment: Fragment) -> str:
    """The fragment in short: its name and its description."""
    return f"{fragment.name}: {fragment.description}"
