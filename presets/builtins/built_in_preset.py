"""How a preset that comes with Space is made. Owns what follows from its risk; the groups own everything else."""

from __future__ import annotations

from presets.context import FactValue
from presets.definition import DefaultState, PresetDefinition, Risk


def built_in_preset(
    name: str,
    tools: tuple[str, ...],
    *,
    group: str,
    contexts: tuple[dict[str, FactValue], ...],
    tool_prefix: str | None = None,
    risk: Risk = Risk.NORMAL,
    default_state: DefaultState | None = None,
    prompt: str | None = None,
) -> PresetDefinition:
    """A preset of a group, its tools by the second part of their ids; the first is `tool_prefix`, or else the group.

    Unless told otherwise, what is not of normal risk is off until somebody turns it on, and the rest is automatic.
    """
    if default_state is None:
        default_state = DefaultState.AUTO if risk is Risk.NORMAL else DefaultState.OFF
    return PresetDefinition(
        name=name,
        group=group,
        default_state=default_state,
        risk=risk,
        contexts=contexts,
        tool_ids=tuple(f"{tool_prefix or group}.{tool}" for tool in tools),
        system_prompt=prompt,
    )
