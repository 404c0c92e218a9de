"""The SDK of a set of tools: declarations for the checker, and the text that tells a model how to write programs.

Owns the text, and how much of it a set of tools gets. The same set gives the same bytes, whatever order it came in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

from presets.presentation import RUN_CODE_NAME
from presets.program_report import REPORT_CHARACTERS
from presets.schema import BASE_REVISION
from presets.sdk.listing import Listing, declared
from presets.sdk.tool import FieldDocs, RenderedTool, SdkTool, render_tools

CHARACTERS_PER_TOKEN = 3.2
"""Characters of such a text that make one token where it stands in the JSON of a request, its line ends and quotes
escaped: 3.2 to 3.4 were measured with all comments, 3.5 to 3.7 without, 4.4 with much prose. With the least of them no
text has more tokens than its budget.
"""

FULL_TOKENS = 8_000
"""Up to here everything is shown. About thirty tools with well written schemas."""

NO_RESULT_DOCS_TOKENS = 12_000
"""Up to here only the comments of results are left out: what a tool gave can be printed, what it takes cannot."""

BARE_TOKENS = 20_000
"""Up to here the tools are shown without the comments of their fields; beyond it only names and first sentences."""

CATALOGUE_TOKENS = 12_000
"""Of a list of names. What does not go into it is found with `sdk.search` alone."""


class SdkLevel(StrEnum):
    """How much of the SDK a model is shown."""

    FULL = "full"
    NO_RESULT_DOCS = "no_result_docs"
    NO_FIELD_DOCS = "no_field_docs"
    CATALOGUE = "catalogue"


@dataclass(frozen=True, slots=True)
class SdkBudget:
    """Tokens up to which each level is taken, as `token_estimate` counts them. With none a level is left out."""

    full: int = FULL_TOKENS
    no_result_docs: int = 0
    no_field_docs: int = BARE_TOKENS
    catalogue: int = CATALOGUE_TOKENS


DEFAULT_BUDGET = SdkBudget(no_result_docs=NO_RESULT_DOCS_TOKENS)


@dataclass(frozen=True, slots=True)
class Sdk:
    """A set of tools, ready for programs.

    `declarations` are statements of TypeScript, complete at every level. `prompt` is what the model reads.
    """

    tools: tuple[RenderedTool, ...]
    declarations: str
    prompt: str
    level: SdkLevel

    @classmethod
    def of(
        cls,
        tools: Iterable[SdkTool],
        *,
        output_characters: int = REPORT_CHARACTERS,
        budget: SdkBudget = DEFAULT_BUDGET,
    ) -> Sdk:
        """The SDK of these tools. The text says that a run may print and return `output_characters` at most."""
        rendered = render_tools(tools)
        listing = Listing(rendered)
        level, shown = _shown(rendered, listing, budget)
        # What is checked says every type in place, so that the checker's words tell its members; the names are there
        # for programs that use them.
        types = [listing.names(), *(tool.declarations for tool in rendered)]
        return cls(
            tools=rendered,
            declarations=f"{_PRELUDE}{declared(types, [tool.member for tool in rendered])}",
            prompt=f"{_how_to(level, output_characters, listing)}\n{shown}",
            level=level,
        )


def token_estimate(text: str) -> int:
    """About how many tokens a model reads for the text."""
    return ceil(len(text) / CHARACTERS_PER_TOKEN)


def _shown(tools: tuple[RenderedTool, ...], listing: Listing, budget: SdkBudget) -> tuple[SdkLevel, str]:
    for level, docs, tokens in (
        (SdkLevel.FULL, FieldDocs.ALL, budget.full),
        (SdkLevel.NO_RESULT_DOCS, FieldDocs.ARGUMENTS, budget.no_result_docs),
        (SdkLevel.NO_FIELD_DOCS, FieldDocs.NONE, budget.no_field_docs),
    ):
        # What nothing fits into is not worth the printing.
        text = _fenced(listing.text(docs)) if tokens > 0 else ""
        if text and token_estimate(text) <= tokens:
            return level, text
    return SdkLevel.CATALOGUE, _catalogue(tools, int(budget.catalogue * CHARACTERS_PER_TOKEN))


def _fenced(declarations: str) -> str:
    return f"```ts\n{_SHOWN_PRELUDE}{declarations}```\n"


def _catalogue(tools: tuple[RenderedTool, ...], characters: int) -> str:
    lines: list[str] = []
    left = characters
    for tool in tools:
        line = f"- {tool.tool.name}: {tool.summary}" if tool.summary else f"- {tool.tool.name}"
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    if len(lines) < len(tools):
        lines.append(f"- … and {len(tools) - len(lines)} more; find them with `sdk.search`")
    return "\n".join([f"The {len(tools)} tools:", "", *lines, ""])


_SHOWN_PRELUDE = """\
type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue | undefined };
"""

_PRELUDE = f"""\
{_SHOWN_PRELUDE}\
declare class ToolCallError extends Error {{
  /** The tool whose call failed. */
  readonly toolName: string;
}}
interface SdkHit {{ name: string; summary: string; signature: string }}
interface SdkSearch {{
  /** The tools that fit the words, best first. */
  search(query: string): Promise<SdkHit[]>;
  /** The declarations of the tools of these names, with all comments, as text. */
  describe(names: string | string[]): Promise<string>;
}}
declare const sdk: SdkSearch;
"""

_SEARCH = {
    SdkLevel.FULL: """\
- `await sdk.search("words")` finds tools, `await sdk.describe(["name"])` gives their declarations as text; all of them
  are below already.
""",
    SdkLevel.NO_RESULT_DOCS: """\
- The declarations below have no comments on results. `console.log(await sdk.describe(["name"]))` prints those of a
  tool; `await sdk.search("words")` finds tools as `{ name, summary, signature }[]`.
""",
    SdkLevel.NO_FIELD_DOCS: """\
- The declarations below have no comments on fields. `console.log(await sdk.describe(["name"]))` prints those of a tool;
  `await sdk.search("words")` finds tools as `{ name, summary, signature }[]`.
""",
    SdkLevel.CATALOGUE: """\
- The list below has names only. Before you call a tool, look at its types:
  `console.log(await sdk.search("words"))` finds tools as `{ name, summary, signature }[]`, and
  `console.log(await sdk.describe(["name", …]))` prints their full declarations. Both work in the middle of a program.
""",
}


_BASE_REVISION = f"""\
- `{BASE_REVISION}` is the `revision` that a change is based on: when the world has changed since, the call is refused.
"""


def _how_to(level: SdkLevel, output_characters: int, listing: Listing) -> str:
    return f"""\
## Writing code for {RUN_CODE_NAME}

The code is the body of an async function in TypeScript. Only what it returns or prints with `console.log` comes back.

- Call a tool with `await tools.name(args)`, or `await tools["name"](args)` where the name is no identifier.
- A call that fails throws `ToolCallError`, with `message` and `toolName`. Calls made before it stay done.
- Tools marked [read-only] may overlap: `await Promise.all([…])`. Await all others one after the other.
- Filter and summarise in the code: at most {output_characters:,} characters of returned and printed text come back.
- Values are JSON: no functions, dates, maps or bytes. Images that tools give are attached after the run.
- No imports, no network, no files. Only types that can be erased: no `enum`, `namespace` or parameter properties.
- The code is type-checked before it runs; a first line `// @ts-nocheck` skips that.
{_BASE_REVISION if listing.has_base_revision else ""}{_SEARCH[level]}"""
