"""The gate before a call that is made inside another one: by a program, or by name through `space_call_tool`.

Owns the order of what is asked (the list of this moment, its reasons, the guards, the schema), which is that of a call
that a client makes. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from actors.agent_tools import AgentToolLists
from actors.guards import denial
from engine.errors import EngineError
from presets.projection import Hidden, MayCall, RouteThroughProgram
from protocol.prepared_call import InvalidArguments, PreparedCall, prepare_call
from protocol.session import Audience

WhyNot = Callable[[str], Awaitable[str]]
"""Says why a tool that was there is not offered any more, in words for the model. Never raises."""


class CallRefusedError(Exception):
    """Raised for a call that may not run. The text is for the model."""


async def pass_gate(
    lists: AgentToolLists,
    why_not: WhyNot,
    audience: Audience,
    name: str,
    arguments: Mapping[str, Any],
    *,
    from_program: bool,
) -> PreparedCall:
    """The call, ready to run on the tools of this moment. Raises `CallRefusedError`."""
    try:
        tools = lists.of(audience)
    except EngineError as error:
        raise CallRefusedError(str(error)) from None
    match tools.decide_call(name, from_program=from_program):
        case MayCall():
            pass
        case Hidden(reason=reason):
            raise CallRefusedError(reason)
        case RouteThroughProgram(text=text) if not from_program:
            raise CallRefusedError(text)
        case _:
            said = await why_not(name)
            raise CallRefusedError(
                f"what is offered has changed while the program ran. {said}" if from_program else said
            )
    denied = denial(tools.view, name, arguments)
    if denied is not None:
        raise CallRefusedError(denied)
    prepared = prepare_call(tools.capabilities if from_program else tools.offered, name, arguments)
    if isinstance(prepared, InvalidArguments):
        raise CallRefusedError(str(prepared))
    assert isinstance(prepared, PreparedCall)  # noqa: S101 - `decide_call` has found the tool
    return prepared
