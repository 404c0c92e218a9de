"""The tools with which story agents reach fragments. Owns their names and what a prompt says of each."""

from __future__ import annotations

from blocks.context import ToolOffer

READING_TOOLS = (
    ToolOffer("readFragments", "the whole text of fragments, by their ids"),
    ToolOffer("listFragments", "ids, names and descriptions of all fragments, or of those of one type"),
    ToolOffer("searchFragments", "the fragments in which a word or phrase occurs"),
    ToolOffer("listFragmentTypes", "the types of fragments that this story has"),
)

EDITING_TOOLS = (
    ToolOffer("createFragment", "a new fragment of a given type"),
    ToolOffer("updateFragment", "new name, description or content for a fragment"),
    ToolOffer("editFragment", "one passage of a fragment replaced by another"),
    ToolOffer("deleteFragment", "a fragment put into the archive"),
)

ANALYSIS_TOOLS = (
    ToolOffer("updateSummary", "what happens in the new prose, in a few sentences"),
    ToolOffer("reportMentions", "which characters appear, and under which names"),
    ToolOffer("reportContradictions", "where the new prose says something else than what is established"),
    ToolOffer("suggestFragment", "a fragment that should exist, or one that should be changed"),
    ToolOffer("reportTimeline", "when the events of the new prose happen"),
    ToolOffer("suggestDirections", "where the story could go from here"),
)


def tool_lines(tools: tuple[ToolOffer, ...]) -> str:
    """A line for each tool; those of plugins under a marker that names the plugin."""
    lines: list[str] = []
    for tool in tools:
        if tool.plugin is not None:
            lines.append(f"[@plugin={tool.plugin}]")
        lines.append(f"- `{tool.name}`: {tool.description}")
    return "\n".join(lines)
