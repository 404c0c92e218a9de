"""The context: what the user is doing now, as a frozen snapshot. Owns its validation; never decides anything.

Source: agent-presets, "Context Snapshot"; findings on the existing engine, section 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

FactValue = str | bool | int | float
"""What a fact may be: plain values that compare by equality."""

RESERVED_ACTIVITIES = frozenset({"any", "none"})
"""Words with a meaning in context patterns, which therefore name no activity."""


MAX_FACTS = 64
"""Facts of one context. They stand in the prompt of every client: room for what an app knows, not for data."""

MAX_FACT_CHARACTERS = 200
"""Length of a fact's value; of its name too."""


class ContextSnapshot(BaseModel):
    """What the user is doing: the surface, the activity, and whatever facts an app adds. Immutable; equal by value.

    `surface` and `canvas_visible` are required, `activity` is None when no activity is active. `world_id`,
    `selection_kind` and any further keys are optional facts. A fact of None is the same as no fact.
    """

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, allow_inf_nan=False)

    __pydantic_extra__: dict[str, FactValue] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]

    surface: str = Field(min_length=1)
    canvas_visible: bool
    activity: str | None = Field(default=None, min_length=1)
    world_id: str | None = None
    selection_kind: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _drop_absent_facts(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            return {
                key: value
                for key, value in cast("Mapping[Any, Any]", data).items()
                if value is not None or key in cls.model_fields
            }
        return data

    @model_validator(mode="after")
    def _refuse_reserved_words(self) -> ContextSnapshot:
        if self.activity in RESERVED_ACTIVITIES:
            raise ValueError(f"activity {self.activity!r} is a word of context patterns and cannot name an activity")
        if "mode" in (self.model_extra or {}):
            raise ValueError("'mode' is not a fact of the context; the field is called 'activity'")
        return self

    @model_validator(mode="after")
    def _keep_facts_short(self) -> ContextSnapshot:
        facts = self.facts()
        if len(facts) > MAX_FACTS:
            raise ValueError(f"a context has at most {MAX_FACTS} facts, not {len(facts)}")
        for name, value in facts.items():
            for what, text in (("name", name), ("value", value)):
                if isinstance(text, str) and not (text.isprintable() and 0 < len(text) <= MAX_FACT_CHARACTERS):
                    raise ValueError(
                        f"the {what} of fact {name[:MAX_FACT_CHARACTERS]!r} must be one line of 1 to "
                        f"{MAX_FACT_CHARACTERS} characters that can be shown"
                    )
        return self

    def facts(self) -> dict[str, FactValue]:
        """Every fact that is present, required and optional, by name."""
        return {key: value for key, value in self.model_dump().items() if value is not None}

    def patched(self, changes: Mapping[str, FactValue | None]) -> ContextSnapshot:
        """A snapshot with those facts changed; None takes a fact away. Raises `pydantic.ValidationError`."""
        return ContextSnapshot.model_validate({**self.model_dump(), **changes})
