"""What a script block sees as `ctx`. Owns the one way in which that is made, for runs, previews and live evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, cast

from pydantic.alias_generators import to_camel

from blocks.context import AgentBlockContext, ChapterSummary, NewProse, ToolOffer
from blocks.json_value import Json, JsonValue

LOOKUPS = ("getFragment", "getFragments", "getFragmentByTag", "getFragmentsByTag")
"""The functions of `ctx`; no data has such a name. Whoever evaluates scripts provides them."""


def script_context(context: AgentBlockContext) -> Mapping[str, Json]:
    """The data of `ctx` as JSON, named in camelCase; texts and objects that are not given are left out.

    Lists are always there, and so is `authorInput`. Tools are there as their names.
    """
    named = {to_camel(one.name): _json(getattr(context, one.name)) for one in fields(context)}
    named["enabledTools"] = [one.name for one in context.enabled_tools]
    return {name: value for name, value in named.items() if value is not None}


def _json(value: object) -> Any:
    if isinstance(value, JsonValue):
        return value.to_json()
    if isinstance(value, NewProse | ChapterSummary | ToolOffer):
        return {to_camel(one.name): getattr(value, one.name) for one in fields(value)}
    if isinstance(value, tuple):
        return [_json(part) for part in cast("Sequence[object]", value)]
    return value
