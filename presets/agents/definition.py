"""An agent as its folder describes it, and one that cannot be used. Owns these values; reading them is elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from engine.errors import ConflictError
from presets.agents.rows import PROMPT_BLOCKS, AnyRow, PromptBlocksRow, ToolPresentationRow
from presets.presentation import Presentation

COMPOSITION_FILE = "composition.yml"
"""What makes a folder an agent: its rows."""

METADATA_FILE = "preset.yml"
"""How the agent is shown to people. It may be missing."""

DEFAULT_LANGUAGE = "en"
"""The language of a name or description that is given without one, and what others fall back to."""


class Trust(StrEnum):
    """Where an agent comes from."""

    SHIPPED = "shipped"
    USER = "user"


@dataclass(frozen=True, slots=True)
class NumberedRow:
    """A row and where it stands in its file; the first is number 1."""

    number: int
    row: AnyRow

    @property
    def title(self) -> str:
        """The row as messages name it: `row 5 "tool-presentation"`."""
        named = "" if self.row.id is None else f", id {self.row.id!r}"
        return f'row {self.number} "{self.row.KIND}"{named}'

    @property
    def origin(self) -> str:
        """The row together with its file."""
        return f"{COMPOSITION_FILE}, {self.title}"


def _no_texts() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition:
    """An agent. `rows` are all rows of its composition, disabled ones included; `path` is its folder.

    `names` and `descriptions` are by language (`en`, `zh`), and may be empty; `order` is None where none was given.
    """

    id: str
    path: Path
    trust: Trust
    rows: tuple[AnyRow, ...]
    names: Mapping[str, str] = field(default_factory=_no_texts)
    descriptions: Mapping[str, str] = field(default_factory=_no_texts)
    order: float | None = None

    @property
    def enabled_rows(self) -> Iterator[NumberedRow]:
        """The rows that hold, each with its number in the file."""
        return (NumberedRow(number, row) for number, row in enumerate(self.rows, 1) if not row.disabled)

    @property
    def presentation_row(self) -> NumberedRow | None:
        """The row that chooses the presentation, or None where the agent leaves that to the deployment."""
        return next((one for one in self.enabled_rows if isinstance(one.row, ToolPresentationRow)), None)

    @property
    def presentation(self) -> Presentation | None:
        """The presentation that the agent chooses, or None."""
        found = self.presentation_row
        return found.row.mode if found is not None and isinstance(found.row, ToolPresentationRow) else None

    @property
    def prompt_blocks(self) -> tuple[str, ...]:
        """The blocks of the agent's prompt in their order; all of them where no row names any."""
        rows = (one.row for one in self.enabled_rows)
        return next((row.blocks for row in rows if isinstance(row, PromptBlocksRow)), PROMPT_BLOCKS)

    def name(self, language: str = DEFAULT_LANGUAGE) -> str:
        """The name in that language, else in English, else in any, else the id."""
        return _text_in(self.names, language) or self.id

    def description(self, language: str = DEFAULT_LANGUAGE) -> str | None:
        """The description in that language, else in English, else in any; None where there is none."""
        return _text_in(self.descriptions, language)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusableAgent:
    """An agent that is listed and cannot be used: the file (or folder) at fault, the row of it, and the reason."""

    id: str
    path: Path
    trust: Trust
    reason: str
    row: int | None = None

    def __str__(self) -> str:
        # Most reasons name the row themselves, with its kind.
        row = "" if self.row is None or f"row {self.row} " in self.reason else f", row {self.row}"
        return f"agent {self.id!r} is unusable: {self.path}{row}: {self.reason}"


class UnusableAgentError(ConflictError):
    """Raised when an unusable agent is to be used. The text says why it is; `unusable` is that as a value."""

    def __init__(self, unusable: UnusableAgent) -> None:
        super().__init__(str(unusable))
        self.unusable = unusable


def _text_in(texts: Mapping[str, str], language: str) -> str | None:
    return texts.get(language) or texts.get(DEFAULT_LANGUAGE) or next(iter(texts.values()), None)
